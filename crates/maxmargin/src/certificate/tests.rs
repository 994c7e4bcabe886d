//! How far rounding excuses a dual value above the primal one, and what a block is read as.

use super::exact_pass::read_block;
use super::readings::BlockReading;
use super::*;
use crate::doc::toy;
use crate::dual::{Block, Shares, Workers};
use crate::problem::{Problem, ProblemExt, SparseVec};

fn certificate(primal: f64, quality: Quality) -> Certificate {
    Certificate { lambda: 1.0, primal, dual: 0.0, gap: primal, quality, missed: None }
}

#[test]
fn a_better_bound_takes_the_place_of_the_dual_value() {
    let better = certificate(3.0, Quality::Exact).with_bound(2.0).unwrap();
    assert_eq!((better.primal, better.dual, better.gap), (3.0, 2.0, 1.0));
    let worse = certificate(3.0, Quality::Exact).with_bound(-1.0).unwrap();
    assert_eq!((worse.primal, worse.dual, worse.gap), (3.0, 0.0, 3.0));
}

/// Primal values and bounds of a thousand millions are sums of such numbers, whose rounding errors are
/// below one; those of one are not.
#[test]
fn a_bound_above_the_primal_value_is_rounding_or_a_contradiction() {
    for quality in [Quality::Exact, Quality::UpperBound] {
        for (primal, excused, too_much) in [(1e9, 1.9, 2.1), (1.0, 1.9e-9, 2.1e-9)] {
            let c = certificate(primal, quality).with_bound(primal + excused).unwrap();
            assert_eq!((c.primal, c.dual, c.gap), (primal + excused, primal + excused, 0.0));
            let dual = primal + too_much;
            let error = certificate(primal, quality).with_bound(dual).unwrap_err();
            assert_eq!(error, TrainError::Contradiction { primal, dual });
        }
        let error = certificate(1.0, quality).with_bound(1.5).unwrap_err();
        assert_eq!(error, TrainError::Contradiction { primal: 1.0, dual: 1.5 });
    }
    for quality in [Quality::Heuristic, Quality::Unproven] {
        let c = certificate(1.0, quality).with_bound(1.5).unwrap();
        assert_eq!((c.primal, c.dual, c.gap), (1.5, 1.5, 0.0));
    }
}

/// The readings of the four examples of the toy problem.
fn readings(of: &[BlockReading; 4]) -> Readings {
    let (mut all, shares) = (Readings::default(), Shares::new(&toy()));
    shares.iter().zip(of).for_each(|(share, reading)| all.add(share, reading));
    all
}

/// The certificate of four examples with hinges of 1 that are made of numbers of some size, where the
/// dual value lies above the primal one by so much.
fn stated(size: f64, lambda: f64, norm_sq: f64, above: f64) -> Result<Certificate, TrainError> {
    let reading = BlockReading { hinge: 1.0, size, ..BlockReading::default() };
    let dual = 0.5 * lambda * norm_sq + 1.0 + above;
    from_readings(Quality::Exact, lambda, norm_sq, dual, &readings(&[reading; 4]))
}

/// Rounding errors are 1e-9 of the numbers that the objectives are made of: the mean over the examples,
/// λ‖w‖² and the dual value.
#[test]
fn rounding_is_relative_to_all_terms() {
    for (size, lambda, norm_sq, rounding) in [
        (1e6, 1.0, 0.0, 1e-9 * (1e6 + 1.0)),
        (0.0, 10.0, 1e5, 1e-9 * (1e6 + 5e5)),
        (1e6, 10.0, 1e5, 1e-9 * (1e6 + 1e6 + 5e5)),
        (1e6, 1e5, 10.0, 1e-9 * (1e6 + 1e6 + 5e5)),
        (1.0, 1.0, 0.0, 1e-9 * (1.0 + 1.0)),
    ] {
        let c = stated(size, lambda, norm_sq, 0.98 * rounding).unwrap();
        assert_eq!((c.primal, c.gap), (c.dual, 0.0));
        let error = stated(size, lambda, norm_sq, 1.02 * rounding).unwrap_err();
        assert!(matches!(error, TrainError::Contradiction { primal, dual } if dual > primal));
        assert!(stated(size, lambda, norm_sq, 0.1).is_err());
    }
}

/// Averages of points at the truth leave weights of 1e-16, and hinges of the square of that.
#[test]
fn dust_is_no_contradiction() {
    let c = certificate(-1e-31, Quality::Exact).with_bound(0.0).unwrap();
    assert_eq!((c.primal, c.dual, c.gap), (0.0, 0.0, 0.0));
    let reading = BlockReading { hinge: -1e-31, size: 1e-31, ..BlockReading::default() };
    let c = from_readings(Quality::Exact, 1.0, 1e-32, 0.0, &readings(&[reading; 4])).unwrap();
    assert_eq!((c.primal, c.dual, c.gap), (0.0, 0.0, 0.0));
}

/// Objectives of 1e200 are numbers like all others, though their product is none.
#[test]
fn large_numbers_are_finite() {
    let reading = BlockReading { hinge: 1e200, gap: 1e200, size: 1e200, ..Default::default() };
    let c = from_readings(Quality::Exact, 1.0, 0.0, 1e200, &readings(&[reading; 4])).unwrap();
    assert_eq!((c.primal, c.dual, c.gap), (1e200, 1e200, 0.0));
    for (hinge, gap) in [(f64::INFINITY, 1.0), (1.0, f64::INFINITY), (f64::NAN, 1.0)] {
        let bad = BlockReading { hinge, gap, ..BlockReading::default() };
        let all = readings(&[reading, reading, bad, reading]);
        let error = from_readings(Quality::Exact, 1.0, 0.0, 0.0, &all).unwrap_err();
        assert_eq!(error, TrainError::NotFinite { example: 2 });
    }
    let error = from_readings(Quality::Exact, 1.0, f64::INFINITY, 0.0, &readings(&[reading; 4]));
    assert_eq!(error.unwrap_err(), TrainError::Overflow);
}

/// One example whose oracle answers with the first output, whose ψ is 2 and whose loss is 3; the truth
/// has nothing of either.
struct Single;

impl Problem for Single {
    type Output = usize;
    type Workspace = ();
    fn examples(&self) -> usize {
        1
    }
    fn dim(&self) -> usize {
        1
    }
    fn workspace(&self) {}
    fn oracle(&self, _: usize, _: &[f64], (): &mut (), y: &mut usize) {
        *y = 1;
    }
    fn decode(&self, _: usize, _: &[f64], (): &mut (), y: &mut usize) {
        *y = 1;
    }
    fn loss(&self, _: usize, &y: &usize) -> f64 {
        3.0 * y as f64
    }
    fn psi(&self, _: usize, &y: &usize, psi: &mut SparseVec) {
        psi.push(0, 2.0 * y as f64);
    }
}

/// Hinges are 3 − 2w at the output and the same share of that at a point on the way there.
#[test]
fn a_block_is_read_with_the_size_of_its_numbers() {
    let (shares, mut workers) = (Shares::new(&Single), Workers::new(&Single, 1));
    let mut parts = SparseVec::new();
    Single.parts(0, &1, &mut parts);
    for (w, share) in [(0.5, 0.25), (-4.0, 0.5), (1.0, 0.75)] {
        let mut block = Block { parts: (&parts).into(), loss: 3.0 * share };
        block.parts.scale(share);
        let read = read_block(&Single, &shares, &[block], &[w], 0, workers.scratch());
        let hinge = 3.0 - 2.0 * w;
        assert_eq!((read.hinge, read.gap), (hinge, (1.0 - share) * hinge));
        let own = share * hinge;
        assert_eq!(read.size, 3.0 + 3.0 * share + (2.0 * w).abs() + own.abs());
        assert!(!read.failed && read.wrong_loss().is_none());
    }
}
