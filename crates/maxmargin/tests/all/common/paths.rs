//! Paths with all their dual points, so that their gaps can be recomputed at any λ.

use maxmargin::observe::Control;
use maxmargin::{
    Breakpoint, DualPoint, Interrupt, Path, PathSettings, Problem, Rng, Settings, audit,
    regularization_path_with,
};

/// A path, with the weights and the dual point of every breakpoint.
#[derive(Debug)]
pub struct Followed {
    pub path: Path,
    pub solutions: Vec<(Vec<f64>, DualPoint)>,
}

/// Follows the path, and keeps all weights and dual points.
#[track_caller]
pub fn follow<P: Problem>(problem: &P, settings: &PathSettings) -> Followed {
    let mut told: Vec<Breakpoint> = Vec::new();
    let mut solutions = Vec::new();
    let path = regularization_path_with(problem, settings, &Interrupt::new(), |b, w, point| {
        assert_eq!(w.len(), problem.dim());
        told.push(b.clone());
        solutions.push((w.to_vec(), point.clone()));
        Control::Continue
    })
    .unwrap();
    assert_eq!(path.breakpoints, told);
    Followed { path, solutions }
}

impl Followed {
    pub fn lambdas(&self) -> Vec<f64> {
        self.path.breakpoints.iter().map(|b| b.certificate.lambda).collect()
    }

    /// Values of λ: breakpoints (at most a hundred), values just above them and above the first, the
    /// lower end, and random values between.
    pub fn places(&self, seed: u64, random: usize) -> Vec<f64> {
        let (mut rng, mut lambdas) = (Rng::new(seed), self.lambdas());
        let every = lambdas.len() / 100 + 1;
        lambdas = lambdas.into_iter().step_by(every).collect();
        let low = self.path.lowest.max(1e-6 * lambdas[0]);
        let mut places = lambdas.clone();
        places.extend([lambdas[0] * 1.5, lambdas[0] * 1e3, self.path.lowest.max(1e-9)]);
        // Just above each breakpoint the breakpoint before it serves, at the end of its piece.
        places.extend(lambdas.iter().map(|lambda| lambda * (1.0 + 1e-12)));
        for _ in 0..random {
            places.push(low * (2.0 * lambdas[0] / low).powf(rng.unit_f64()));
        }
        places.retain(|&lambda| lambda >= self.path.lowest);
        places
    }

    /// The gap at `lambda` by a separate exact pass, of the weights that the path returns and the dual
    /// point that belongs to them.
    #[track_caller]
    pub fn audited_gap<P: Problem>(&self, problem: &P, lambda: f64) -> f64 {
        let (w, piece) = (self.path.weights_at(lambda).unwrap(), self.path.piece(lambda).unwrap());
        let ratio = (lambda / self.lambdas()[piece]).min(1.0);
        let point = self.solutions[piece].1.rescaled(problem, ratio);
        let audit = audit(problem, lambda, &w, &point, 1e-9, 1).unwrap();
        assert_eq!(audit.infeasible, None);
        // The masses are rounded, and divided by λ.
        let allowed = 1e-14 / lambda + 1e-9 * w.iter().fold(1.0f64, |most, w| most.max(w.abs()));
        assert!(audit.weight_residual <= allowed, "{}", audit.weight_residual);
        audit.certificate.gap
    }
}

/// A path of a small problem.
pub fn settings(epsilon: f64) -> PathSettings {
    let training = Settings { max_passes: 100_000, threads: 1, ..Settings::default() };
    PathSettings { epsilon, lambda_min: 1e-3, training, ..PathSettings::default() }
}
