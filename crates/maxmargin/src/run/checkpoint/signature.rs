//! A number that tells problems apart.

use crate::problem::Blocks;
use crate::problem::SparseVec;
use crate::problem::bounds::bounds_in_force;
use crate::run::bytes;
use crate::util::rng::Rng;
use crate::util::rounding::ROUNDING;

/// How many examples contribute outputs to the signature of a problem, and how many outputs at least.
const SIGNED_EXAMPLES: usize = 16;
const SIGNED_OUTPUTS: usize = 64;

/// If one output takes at least this much work, fewer outputs are signed.
const MUCH_WORK: u64 = 1 << 32;
const LEAST_OUTPUTS: usize = 4;

/// How many outputs go into the signature of a problem with `dim` weights whose largest true output has `parts`
/// parts. Their product says how slow the oracle is, roughly; nobody should wait a minute for a signature.
fn signed_outputs(dim: usize, parts: usize) -> usize {
    let work = (dim as u64).saturating_mul(parts as u64).max(1);
    usize::try_from(MUCH_WORK / work)
        .map_or(SIGNED_OUTPUTS, |outputs| outputs.clamp(LEAST_OUTPUTS, SIGNED_OUTPUTS))
}

/// With a kernel, the length of this many weights goes into the signature: those of a few inputs.
const SIGNED_WEIGHTS: usize = 256;

/// A number that tells problems apart: by the weights of their examples, the parts and features of their
/// true outputs, their bounds, the parts and losses of a few outputs of a few examples, and the lengths
/// of weights. So it notices other losses, another rescaling and another kernel, too.
///
/// If a problem cannot check points of its dual, a resumed run has to take their losses on trust. The signature of such
/// a problem includes the largest loss of every example, at the cost of one oracle call each.
pub(crate) fn signature(problem: &dyn Blocks) -> u64 {
    struct Hash(bytes::Hash);
    impl Hash {
        fn add(&mut self, feature: usize, value: f64) {
            self.0.update(&(feature as u64).to_le_bytes());
            self.0.update(&value.to_le_bytes());
        }
    }
    let (mut hash, mut truth, mut features) =
        (Hash(bytes::Hash::new()), SparseVec::new(), SparseVec::new());
    // The weights, parts and features of the true outputs.
    let mut longest = 0;
    for i in 0..problem.examples() {
        truth.clear();
        problem.truth_parts(i, &mut truth);
        longest = longest.max(truth.len());
        hash.add(truth.len(), problem.weight(i));
        truth.entries().iter().for_each(|&(part, mass)| hash.add(part as usize, mass));
        features.clear();
        problem.scatter(i, 1.0, &truth, (&mut features).into());
        features.entries().iter().for_each(|&(feature, value)| hash.add(feature as usize, value));
    }
    let (mut some, mut worker) = (vec![0.0; problem.dim()], problem.worker());
    let mut parts = SparseVec::new();
    // The outputs with the largest losses, and some others.
    let n = problem.examples();
    let sampled = n.div_ceil(SIGNED_EXAMPLES);
    let outputs = signed_outputs(problem.dim(), longest);
    for round in 0..outputs.div_ceil(n.min(SIGNED_EXAMPLES)) as u64 {
        let every = if round == 0 && !checks_points(problem) { 1 } else { sampled };
        for i in (0..n).step_by(every) {
            match round {
                0 => worker.find_corner(i, &some),
                _ => worker.predict(i, &some),
            }
            let loss = worker.describe(i, &mut parts);
            hash.add(parts.len(), loss);
            parts.entries().iter().for_each(|&(part, mass)| hash.add(part as usize, mass));
        }
        let mut rng = Rng::new(round);
        some.iter_mut().for_each(|w| *w = rng.unit_f64() - 0.5);
        if let Some(bounds) = bounds_in_force(problem) {
            bounds.clip_all(&mut some);
        }
    }
    // Features of different kernels look alike, but their lengths differ.
    some.fill(0.0);
    some.iter_mut().take(SIGNED_WEIGHTS).zip(1u32..).for_each(|(w, at)| *w = f64::from(at).sqrt());
    if let Some(length) = problem.weights_norm_sq(&some) {
        hash.add(some.len(), length);
    }
    // The bounds.
    for bounds in bounds_in_force(problem).into_iter().flat_map(|b| [b.lower(), b.upper()]) {
        bounds.iter().enumerate().for_each(|(feature, &bound)| hash.add(feature, bound));
    }
    hash.0.digest()
}

/// Whether the checks of a problem show as much of a point as its certificate needs.
fn checks_points(problem: &dyn Blocks) -> bool {
    let mut truth = SparseVec::new();
    problem.truth_parts(0, &mut truth);
    let shown = problem.check_point(0, &truth, 0.0, ROUNDING);
    shown.is_ok_and(|shown| shown <= problem.quality().needed_of_point())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_with_slow_oracles_sign_fewer_outputs() {
        assert_eq!(signed_outputs(0, 0), 64);
        assert_eq!(signed_outputs(4_082, 30), 64);
        assert_eq!(signed_outputs(7_000_000, 50), 12);
        // A thousand labels, and a sequence of a thousand tokens.
        assert_eq!(signed_outputs(1_053_000, 2_000), 4);
        assert_eq!(signed_outputs(usize::MAX, usize::MAX), 4);
    }
}
