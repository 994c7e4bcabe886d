//! The implementation of [`Problem`] for soft problems.

use super::{SoftGraph, SoftWorkspace};
use crate::inference::topology::argmax;
use crate::problem::bounds::Bounds;
use crate::problem::parts::scatter_into;
use crate::problem::quality::PointCheck;
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::{
    Abilities, AtLambda, Blocks, CheckPoints, Parts, Problem, SecondObjective, Target, Truths,
};

impl Problem for SoftGraph {
    type Output = u32;
    type Workspace = SoftWorkspace;

    /// Number of blocks, which are the variables and factors of all examples.
    fn examples(&self) -> usize {
        self.layout.blocks.len()
    }

    fn dim(&self) -> usize {
        let smooth = if self.smoothing > 0.0 { self.layout.losses.len() } else { 0 };
        self.smooth_start() + smooth
    }

    fn workspace(&self) -> SoftWorkspace {
        SoftWorkspace::default()
    }

    fn oracle(&self, i: usize, _: &[f64], workspace: &mut SoftWorkspace, y: &mut u32) {
        let block = &self.layout.blocks[i];
        let SoftWorkspace { scores, augmented, .. } = workspace;
        augmented.clear();
        let losses = (0..scores.len()).map(|state| self.loss_of(block, state));
        augmented.extend(scores.iter().zip(losses).map(|(score, loss)| score + loss));
        *y = argmax(augmented).0 as u32;
    }

    fn decode(&self, _: usize, _: &[f64], workspace: &mut SoftWorkspace, y: &mut u32) {
        *y = argmax(&workspace.scores).0 as u32;
    }

    fn loss(&self, i: usize, y: &u32) -> f64 {
        self.loss_of(&self.layout.blocks[i], *y as usize)
    }

    fn psi(&self, i: usize, y: &u32, psi: &mut SparseVec) {
        let mut parts = SparseVec::new();
        parts.push(u64::from(self.layout.blocks[i].truth), 1.0);
        parts.push(u64::from(*y), -1.0);
        parts.normalise();
        self.scatter_into(i, 1.0, &parts, psi);
    }

    fn weight(&self, i: usize) -> f64 {
        self.layout.weights[self.layout.blocks[i].example as usize]
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, SoftWorkspace, u32> {
        Abilities {
            parts: Some(self),
            truths: Some(self),
            points: Some(self),
            second_objective: Some(self),
            at_lambda: Some(self),
            total_weight: Some(self.total_weight),
            has_signed_losses: true,
            is_trusted: true,
            ..Abilities::none()
        }
    }
}

impl SoftGraph {
    fn scatter_into<S: Sink + ?Sized>(
        &self,
        i: usize,
        scale: f64,
        parts: &SparseVec,
        sink: &mut S,
    ) {
        let (block, entries) = (&self.layout.blocks[i], parts.entries());
        self.scatter_terms(i, scale, parts, sink);
        let feature = self.scale(block);
        for side in &self.layout.sides[block.sides.clone()] {
            for &(state, mass) in entries {
                let at = self.layout.dim + side.message_of(state as usize);
                sink.add(at, scale * side.sign * feature * mass);
            }
        }
        if self.smoothing > 0.0 {
            let (start, own) = (self.smooth_start() + block.first, self.smooth_scale(block));
            entries.iter().for_each(|&(y, mass)| sink.add(start + y as usize, scale * own * mass));
        }
    }
}

impl Parts for SoftGraph {
    fn prepare(&self, i: usize, w: &[f64], workspace: &mut SoftWorkspace) {
        let (block, scores) = (&self.layout.blocks[i], &mut workspace.scores);
        self.features(block, w, scores);
        let (messages, feature) = (&w[self.layout.dim..], self.scale(block));
        for side in &self.layout.sides[block.sides.clone()] {
            let factor = side.sign * feature;
            for (state, score) in scores.iter_mut().enumerate() {
                *score += factor * messages[side.message_of(state)];
            }
        }
        if self.smoothing > 0.0 {
            let (own, scale) = (&w[self.smooth_start() + block.first..], self.smooth_scale(block));
            scores.iter_mut().zip(own).for_each(|(score, w)| *score += scale * w);
        }
    }

    fn parts(&self, _: usize, y: &u32, parts: &mut SparseVec) {
        parts.push(u64::from(*y), 1.0);
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        parts.push(u64::from(self.layout.blocks[i].truth), 1.0);
    }

    fn score(&self, _: usize, _: &[f64], workspace: &SoftWorkspace, parts: &SparseVec) -> f64 {
        parts.dot_dense(&workspace.scores)
    }

    fn norm_sq(&self, i: usize, workspace: &mut SoftWorkspace, parts: &SparseVec) -> f64 {
        let (block, entries) = (&self.layout.blocks[i], parts.entries());
        let mut sum = 0.0;
        for term in &self.layout.terms[block.terms.clone()] {
            sum += self.term_norm_sq(term, entries);
        }
        let marginals = &mut workspace.marginals;
        for side in &self.layout.sides[block.sides.clone()] {
            marginals.clear();
            marginals.resize(side.states as usize, 0.0);
            for &(state, mass) in entries {
                marginals[side.message_of(state as usize) - side.message] += mass;
            }
            sum += self.scale(block).powi(2) * marginals.iter().map(|m| m * m).sum::<f64>();
        }
        if self.smoothing > 0.0 {
            sum += self.smooth_scale(block).powi(2) * parts.norm_sq();
        }
        sum
    }

    fn scatter(&self, i: usize, scale: f64, parts: &SparseVec, target: Target<'_>) {
        scatter_into!(target, sink => self.scatter_into(i, scale, parts, sink));
    }
}

impl Truths for SoftGraph {
    fn truth(&self, i: usize) -> u32 {
        self.layout.blocks[i].truth
    }
}

impl SecondObjective for SoftGraph {
    /// The hard objective g(w, δ).
    fn second_objective(&self, w: &[f64]) -> f64 {
        self.hard_objective(w)
    }
}

impl AtLambda for SoftGraph {
    /// The same problem at another λ. The messages of an example stay equally expensive.
    fn at_lambda(&self, lambda: f64) -> Box<dyn Blocks> {
        Box::new(self.clone().with_lambda(lambda))
    }
}

impl CheckPoints for SoftGraph {
    /// Checks that masses lie in the simplex and that the loss belongs to them. A block of the soft
    /// problem is a simplex, so this check is complete.
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        let block = &self.layout.blocks[i];
        let (mut sum, mut own) = (0.0, 0.0);
        for &(state, mass) in parts.entries() {
            if state >= u64::from(block.states) {
                return Err(format!("it has the state {state} of {}", block.states));
            }
            if mass < -slack || mass.is_nan() {
                return Err(format!("the state {state} has the mass {mass}"));
            }
            sum += mass;
            own += mass * self.loss_of(block, state as usize);
        }
        if (sum - 1.0).abs() > slack {
            return Err(format!("its masses sum to {sum}"));
        }
        if (own - loss).abs() > slack * (1.0 + own.abs()) || loss.is_nan() {
            return Err(format!("its loss is stated as {loss}, but is {own}"));
        }
        Ok(PointCheck::Feasible)
    }
}
