//! Dual points under slack rescaling, where every mass is a share of an output times its loss.

use maxmargin::ProblemExt as _;
use maxmargin::model::LabelledRows;
use maxmargin::model::multiclass::{ClassLoss, CostMatrix, Multiclass, MulticlassShape};
use maxmargin::{PointCheck, SlackRescaled, SparseVec};

/// One example of class 0, for which the classes 1 and 2 cost 2 and 4, and class 3 costs nothing.
fn problem() -> SlackRescaled<Multiclass> {
    let mut data = LabelledRows::new();
    data.push([(0, 1.0)], &[0], 1.0).unwrap();
    let mut costs = vec![vec![0.0; 4]; 4];
    (costs[0][1], costs[0][2]) = (2.0, 4.0);
    let loss = ClassLoss::Costs(CostMatrix::new(costs).unwrap());
    SlackRescaled::new(Multiclass::new(MulticlassShape::new(4, 1), data, loss).unwrap())
}

/// The message about masses by class, and a loss.
fn said(masses: [f64; 4], loss: f64, slack: f64) -> String {
    let mut parts = SparseVec::new();
    (0..).zip(masses).for_each(|(class, mass)| parts.push(class, mass));
    match problem().check_point(0, &parts, loss, slack) {
        Ok(shown) => {
            assert_eq!(shown, PointCheck::Feasible);
            String::new()
        }
        Err(why) => why,
    }
}

/// Half of class 1 and half of class 2 have the masses ½·2 and ½·4. They use up the whole example, and
/// need no slack, because all of these numbers are exact.
#[test]
fn exact_masses_need_no_slack() {
    assert_eq!(said([0.0, 0.0, 0.0, 0.0], 0.0, 0.0), "");
    assert_eq!(said([-3.0, 1.0, 2.0, 0.0], 3.0, 0.0), "");
    assert_eq!(said([-2.0, 2.0, 0.0, 0.0], 2.0, 0.0), "");
}

#[test]
fn masses_below_zero_are_noticed() {
    assert_eq!(said([0.0, -0.5, 0.5, 0.0], 0.0, 1e-9), "part 1 has the mass -5e-1");
    assert_eq!(said([0.0, -1e-6, 1e-6, 0.0], 0.0, 1e-9), "part 1 has the mass -1e-6");
    // Rounding errors are accepted, on either side of zero.
    assert_eq!(said([0.0, -1e-10, 1e-10, 0.0], 0.0, 1e-9), "");
}

/// An output without loss has no mass, however large its share is.
#[test]
fn masses_of_outputs_without_loss_are_noticed() {
    assert_eq!(said([-0.5, 0.0, 0.0, 0.5], 0.5, 1e-9), "part 3 has the mass 5e-1");
    assert_eq!(said([-1e-10, 0.0, 0.0, 1e-10], 0.0, 1e-9), "");
}

/// Shares of three quarters of class 1 and half of class 2 sum to more than one.
#[test]
fn shares_beyond_one_are_noticed() {
    let beyond = "the masses of its outputs sum to 1.25, which is more than 1";
    assert_eq!(said([-3.5, 1.5, 2.0, 0.0], 3.5, 1e-9), beyond);
    // 3/4 + 1/4 + 1/1000: beyond one by the slack, and by twice the slack.
    assert_eq!(said([-2.504, 1.5, 1.004, 0.0], 2.504, 2e-3), "");
    assert!(said([-2.504, 1.5, 1.004, 0.0], 2.504, 5e-4).contains("more than 1"));
}

/// The mass of the truth balances all other masses, and the loss is their sum. The precision of both sums
/// is relative to their size.
#[test]
fn sums_of_masses_are_noticed() {
    assert_eq!(said([-1.0, 1.0, 1.0, 0.0], 2.0, 1e-9), "its masses sum to 1, not to 0");
    assert_eq!(said([-2.0, 1.0, 1.0, 0.0], 2.5, 1e-9), "its loss is stated as 2.5, but is 2");
    assert_eq!(said([-2.0, 1.0, 1.0, 0.0], 1.5, 1e-9), "its loss is stated as 1.5, but is 2");
    let slack = 1e-3;
    for off in [0.0025, -0.0025] {
        assert_eq!(said([-2.0, 1.0, 1.0, 0.0], 2.0 + off, slack), "");
        assert_eq!(said([-2.0 + off, 1.0, 1.0, 0.0], 2.0, slack), "");
        assert!(said([-2.0, 1.0, 1.0, 0.0], 2.0 + 2.0 * off, slack).contains("is stated as"));
        assert!(said([-2.0 + 2.0 * off, 1.0, 1.0, 0.0], 2.0, slack).contains("not to 0"));
    }
    assert_eq!(said([5e-4, 0.0, 0.0, 0.0], 5e-4, slack), "");
}
