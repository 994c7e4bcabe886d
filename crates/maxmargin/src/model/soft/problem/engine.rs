//! The implementation of [`Problem`] for soft problems.

use super::{SoftGraph, SoftWorkspace};
use crate::inference::pattern_search::PatternScratch;
use crate::inference::topology::argmax;
use crate::model::soft::layout::Block;
use crate::problem::bounds::Bounds;
use crate::problem::parts::scatter_into;
use crate::problem::quality::PointCheck;
use crate::problem::sparse::{Sink, SparseVec};
use crate::problem::{
    Abilities, AtLambda, Blocks, CheckPoints, Parts, Problem, SecondObjective, Target, Truths,
};

impl Problem for SoftGraph {
    /// The state of a variable, the joint state of a factor, or the states of the variables of a factor that is given by
    /// patterns.
    type Output = Vec<u32>;
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

    fn oracle(&self, i: usize, _: &[f64], workspace: &mut SoftWorkspace, y: &mut Vec<u32>) {
        let block = &self.layout.blocks[i];
        let SoftWorkspace { scores, augmented, patterns, .. } = workspace;
        augmented.clear();
        let losses = (0..scores.len()).map(|state| self.loss_of(block, state));
        augmented.extend(scores.iter().zip(losses).map(|(score, loss)| score + loss));
        self.best(block, augmented, patterns, y);
    }

    fn decode(&self, i: usize, _: &[f64], workspace: &mut SoftWorkspace, y: &mut Vec<u32>) {
        self.best(&self.layout.blocks[i], &workspace.scores, &mut workspace.patterns, y);
    }

    fn loss(&self, i: usize, y: &Vec<u32>) -> f64 {
        let block = &self.layout.blocks[i];
        match self.layout.joint(block) {
            None => self.loss_of(block, y[0] as usize),
            Some(joint) => joint.parts(y).map(|at| self.loss_of(block, at)).sum(),
        }
    }

    fn psi(&self, i: usize, y: &Vec<u32>, psi: &mut SparseVec) {
        let (mut truth, mut own, mut difference) =
            (SparseVec::new(), SparseVec::new(), SparseVec::new());
        self.truth_parts(i, &mut truth);
        self.parts(i, y, &mut own);
        difference.assign_difference(&truth, &own);
        self.scatter_into(i, 1.0, &difference, psi);
    }

    fn weight(&self, i: usize) -> f64 {
        self.layout.weights[self.layout.blocks[i].example as usize]
    }

    fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }

    #[inline]
    fn abilities(&self) -> Abilities<'_, SoftWorkspace, Vec<u32>> {
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
    /// Writes the best state of a block to `y`, by the values of all states or parts, and returns its value.
    pub(super) fn best(
        &self,
        block: &Block,
        values: &[f64],
        scratch: &mut PatternScratch,
        y: &mut Vec<u32>,
    ) -> f64 {
        y.clear();
        if let Some(joint) = self.layout.joint(block) {
            return joint.maximise(values, scratch, y);
        }
        let (state, value) = argmax(values);
        y.push(state as u32);
        value
    }

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
        if let Some(joint) = self.layout.joint(block) {
            for &(part, mass) in entries {
                if let Some(m) = self.layout.message_of_part(block, joint, part as usize) {
                    sink.add(self.layout.dim + m, -scale * feature * mass);
                }
            }
            return;
        }
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
        if let Some(joint) = self.layout.joint(block) {
            for (part, score) in scores.iter_mut().enumerate() {
                if let Some(m) = self.layout.message_of_part(block, joint, part) {
                    *score -= feature * messages[m];
                }
            }
            return;
        }
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

    fn parts(&self, i: usize, y: &Vec<u32>, parts: &mut SparseVec) {
        match self.layout.joint(&self.layout.blocks[i]) {
            None => parts.push(u64::from(y[0]), 1.0),
            Some(joint) => joint.parts(y).for_each(|part| parts.push(part as u64, 1.0)),
        }
    }

    fn truth_parts(&self, i: usize, parts: &mut SparseVec) {
        let block = &self.layout.blocks[i];
        match self.layout.joint(block) {
            None => parts.push(u64::from(block.truth), 1.0),
            Some(joint) => joint.truth_parts().for_each(|part| parts.push(part as u64, 1.0)),
        }
    }

    fn score(&self, _: usize, _: &[f64], workspace: &SoftWorkspace, parts: &SparseVec) -> f64 {
        parts.dot_dense(&workspace.scores)
    }

    fn norm_sq(&self, i: usize, workspace: &mut SoftWorkspace, parts: &SparseVec) -> f64 {
        let (block, entries) = (&self.layout.blocks[i], parts.entries());
        let inside = entries.iter().take_while(|(at, _)| *at < u64::from(block.scored));
        let (scored, own) = entries.split_at(inside.count());
        let mut sum = 0.0;
        for term in &self.layout.terms[block.terms.clone()] {
            sum += self.term_norm_sq(term, scored);
        }
        if block.joint.is_some() {
            // Each state of a variable has a message of its own.
            return sum + self.scale(block).powi(2) * own.iter().map(|(_, m)| m * m).sum::<f64>();
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
    fn truth(&self, i: usize) -> Vec<u32> {
        let block = &self.layout.blocks[i];
        self.layout.joint(block).map_or_else(|| vec![block.truth], |joint| joint.truth().to_vec())
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
    /// Checks that masses lie in the simplex and that the loss belongs to them. A block of the soft problem is a
    /// simplex, so this check is complete, except for blocks of patterns: their points are proven only by outputs
    /// that make them up.
    fn check_point(
        &self,
        i: usize,
        parts: &SparseVec,
        loss: f64,
        slack: f64,
    ) -> Result<PointCheck, String> {
        let block = &self.layout.blocks[i];
        let (mut sum, mut own) = (0.0, 0.0);
        if let Some(joint) = self.layout.joint(block) {
            joint.check(parts, slack)?;
            let entries = parts.entries().iter();
            own = entries.map(|&(part, mass)| mass * self.loss_of(block, part as usize)).sum();
            check_loss(own, loss, slack)?;
            return Ok(PointCheck::Unproven);
        }
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
        check_loss(own, loss, slack)?;
        Ok(PointCheck::Feasible)
    }
}

fn check_loss(own: f64, stated: f64, slack: f64) -> Result<(), String> {
    if (own - stated).abs() > slack * (1.0 + own.abs()) || stated.is_nan() {
        return Err(format!("its loss is stated as {stated}, but is {own}"));
    }
    Ok(())
}
