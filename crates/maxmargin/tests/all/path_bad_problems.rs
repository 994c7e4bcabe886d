//! Problems that break the assumptions of a path are refused, or the path promises nothing.

use crate::common::paths::settings;
use crate::common::problems::Multiclass;
use maxmargin::problem::{Abilities, Truths};
use maxmargin::{
    GridSettings, Problem, Settings, Status, forward_problem, lambda_grid, regularization_path,
    train,
};

/// A problem that breaks a promise.
struct Crooked {
    inner: Multiclass,
    /// The loss of the truth of example 1.
    charge: f64,
    /// Whether decoding finds only the truth.
    blind: bool,
}

impl Problem for Crooked {
    type Output = usize;
    type Workspace = Vec<f64>;

    forward_problem!(self.inner, workspace, except [decode, loss, abilities]);

    fn decode(&self, i: usize, w: &[f64], scores: &mut Vec<f64>, y: &mut usize) {
        if self.blind {
            *y = self.inner.ys[i];
        } else {
            self.inner.decode(i, w, scores, y);
        }
    }
    fn loss(&self, i: usize, y: &usize) -> f64 {
        if (i, *y) == (1, self.inner.ys[1]) { self.charge } else { self.inner.loss(i, y) }
    }
    fn abilities(&self) -> Abilities<'_, Vec<f64>, usize> {
        Abilities { truths: Some(self), ..self.inner.abilities() }
    }
}

impl Truths for Crooked {
    fn truth(&self, i: usize) -> usize {
        self.inner.ys[i]
    }
}

#[test]
fn truths_with_a_loss_are_rejected() {
    let charged = |charge| {
        let inner = Multiclass { classes: 2, xs: vec![vec![1.0], vec![-1.0]], ys: vec![0, 1] };
        Crooked { inner, charge, blind: false }
    };
    assert!(regularization_path(&charged(0.0), &settings(0.1)).is_ok());
    for loss in [0.5, -0.5, f64::INFINITY, f64::NAN] {
        for error in [
            regularization_path(&charged(loss), &settings(0.1)).unwrap_err(),
            lambda_grid(&charged(loss), &GridSettings::default()).unwrap_err(),
            train(&charged(loss), &Settings::default()).unwrap_err(),
        ] {
            let text = format!("the true output of example 1 has the loss {loss}; it must be 0");
            assert_eq!(error.to_string(), text);
        }
    }
}

/// Decoding that finds only the truth makes the start look better than it is.
#[test]
fn a_start_with_inexact_decoding_promises_nothing() {
    // The mean of the features is nearly 0 and far from each of them. One wrong class starts with all
    // mass, and another class is equally wrong.
    let xs = vec![vec![1.0], vec![-1.0], vec![1.0], vec![-0.9]];
    let inner = Multiclass { classes: 3, xs, ys: vec![0; 4] };
    let path = |blind| {
        let problem = Crooked { inner: inner.clone(), charge: 0.0, blind };
        regularization_path(&problem, &settings(0.01)).unwrap()
    };
    assert!(path(false).is_guaranteed());
    let spoilt = path(true);
    assert!(!spoilt.is_guaranteed() && spoilt.largest_gap() > 0.01);
    assert_eq!((spoilt.breakpoints.len(), spoilt.breakpoints[0].status), (1, Status::Estimated));
}
