//! Regularization paths, held against the truth at breakpoints and between them.

use crate::data::Data;
use crate::instance::Instance;
use crate::judge::{Judge, Verdict};
use crate::recipe::{Lp, log_uniform, pick_name};
use crate::scenario::{Scene, is_refusal, sort_of};
use maxmargin::observe::Control;
use maxmargin::{
    GridSettings, GridStart, Interrupt, Path, PathSettings, Quality, Rng, Settings, Status,
    lambda_grid, regularization_path_with,
};

/// Breakpoints after which a path is left.
const ENOUGH: usize = 25;

/// Places at which a path is looked at.
const PLACES: usize = 4;

/// Follows the path of a problem for a while, and holds it against the truth.
pub(crate) fn follow_path(scene: &mut Scene<'_>) -> Verdict {
    let rng = &mut scene.rng;
    let settings = PathSettings {
        epsilon: log_uniform(rng, -2.0, 0.0),
        kappa: None,
        lambda_min: log_uniform(rng, -3.0, 0.0),
        heuristic: rng.below(4) == 0,
        training: Settings { max_oracle_calls: None, ..scene.settings.clone() },
    };
    scene.notes.say(|| format!("{settings:?}"));
    let mut duals = Vec::new();
    let problem = &*scene.instance.problem;
    let path = regularization_path_with(problem, &settings, &Interrupt::new(), |_, _, dual| {
        duals.push(dual.clone());
        if duals.len() < ENOUGH { Control::Continue } else { Control::Stop }
    });
    let path = match path {
        Ok(path) => path,
        Err(error) if is_refusal(&error) => {
            scene.tally.count("refused by paths", sort_of(&error));
            return Ok(());
        }
        Err(error) => return Err(error.to_string()),
    };
    scene.tally.count("trained", "paths");
    let qualities = path.breakpoints.iter().map(|b| b.certificate.quality);
    let worst = qualities.max().unwrap_or_default();
    let promise = if path.is_guaranteed() { "guaranteed" } else { "not guaranteed" };
    scene.tally.count("paths", format!("{worst}, {promise}"));
    if worst == Quality::Unproven && scene.recipe.lp == Lp::Simplex {
        return Err("a path is unproven, but no solver has failed".to_owned());
    }
    if worst > Quality::UpperBound && path.is_guaranteed() {
        return Err(format!("a path of quality {worst} is guaranteed"));
    }
    let weights = weights_of(&path, problem.dim());
    for (at, dual) in duals.iter().enumerate().rev().take(2) {
        let b = &path.breakpoints[at];
        let judge = Judge::new(&scene.instance.truth, b.certificate.lambda);
        judge.certificate(&b.certificate, &weights[at])?;
        let found = judge.audit(problem, &weights[at], dual)?;
        let claimed = b.certificate.quality;
        let may_miss = claimed == Quality::Heuristic
            || scene.recipe.kernel.is_some()
            || scene.recipe.lp != Lp::Simplex;
        if found.certificate.quality > claimed && !may_miss {
            return Err(format!("the audit cannot prove {b:?}: {found:?}"));
        }
    }
    for lambda in places(&path, &mut scene.rng) {
        hold_between(scene, &path, lambda).map_err(|why| format!("at λ = {lambda}: {why}"))?;
    }
    Ok(())
}

/// Trains on a grid of λ, and holds each result against the truth.
pub(crate) fn follow_grid(scene: &mut Scene<'_>) -> Verdict {
    let rng = &mut scene.rng;
    let lambda_max = log_uniform(rng, -1.0, 2.0);
    let settings = GridSettings {
        epsilon: log_uniform(rng, -3.0, 0.0),
        lambda_max,
        lambda_min: lambda_max / 30.0,
        start: pick_name(rng, GridStart::NAMES),
        training: scene.settings.clone(),
    };
    scene.notes.say(|| format!("{settings:?}"));
    let path = match lambda_grid(&*scene.instance.problem, &settings) {
        Ok(path) => path,
        Err(error) if is_refusal(&error) => {
            scene.tally.count("refused by paths", sort_of(&error));
            return Ok(());
        }
        Err(error) => return Err(error.to_string()),
    };
    scene.tally.count("trained", "grids");
    let weights = weights_of(&path, scene.instance.problem.dim());
    for (b, w) in path.breakpoints.iter().zip(&weights) {
        let remade = remade_at(scene, b.certificate.lambda)?;
        let truth = remade.as_ref().unwrap_or(&scene.instance);
        let judge = Judge::new(&truth.truth, b.certificate.lambda);
        judge.certificate(&b.certificate, w)?;
        let has_converged = b.status == Status::Converged;
        if has_converged && b.certificate.gap > settings.epsilon * (1.0 + 1e-9) {
            return Err(format!("{b:?} has not converged to {}", settings.epsilon));
        }
    }
    Ok(())
}

/// The instance as a grid makes it anew at `lambda`, if its problem is made for one λ.
fn remade_at(scene: &Scene<'_>, lambda: f64) -> Result<Option<Instance>, String> {
    if scene.instance.problem.at_lambda(lambda).is_none() {
        return Ok(None);
    }
    let mut recipe = scene.recipe.clone();
    let Data::Soft(case) = &mut recipe.data else {
        return Err("only soft problems are made for one λ".to_owned());
    };
    case.lambda = lambda;
    recipe.build().map(Some)
}

fn weights_of(path: &Path, dim: usize) -> Vec<Vec<f64>> {
    let mut all = Vec::new();
    path.walk(|_, w| all.push(w.to_vec()));
    assert!(all.iter().all(|w| w.len() == dim));
    all
}

/// Breakpoints, values between them, and some above the first.
fn places(path: &Path, rng: &mut Rng) -> Vec<f64> {
    let lambdas: Vec<f64> = path.breakpoints.iter().map(|b| b.certificate.lambda).collect();
    let low = path.lowest.max(1e-3 * lambdas[lambdas.len() - 1]);
    let mut places: Vec<f64> =
        (0..PLACES).map(|_| low * (2.0 * lambdas[0] / low).powf(rng.unit_f64())).collect();
    places.push(lambdas[rng.below(lambdas.len())]);
    places.push(lambdas[0] * log_uniform(rng, 0.0, 2.0));
    places
}

/// Holds what a path claims at one λ against the truth.
fn hold_between(scene: &Scene<'_>, path: &Path, lambda: f64) -> Verdict {
    let truth = &scene.instance.truth;
    let (Some(c), Some(weights)) = (path.certificate_at(lambda), path.weights_at(lambda)) else {
        return Err("the path has no weights".to_owned());
    };
    let judge = Judge::new(truth, lambda);
    let w = truth.explicit(&weights);
    let (primal, scale) = (truth.primal(lambda, &w), truth.scale(lambda, &w));
    judge.dual(c.dual, c.quality, scale)?;
    let is_above = match c.quality {
        Quality::Exact | Quality::UpperBound => c.primal >= primal - 1e-8 * scale,
        _ => true,
    };
    if !is_above || c.gap < 0.0 {
        return Err(format!("{c:?}, but P(w) is {primal}"));
    }
    if path.is_guaranteed() {
        let optimum = match c.quality {
            Quality::Exact => Some((primal, judge.optimum())),
            _ => truth.relaxed_primal(lambda, &w).zip(truth.relaxed_optimum(lambda)),
        };
        if let Some((primal, optimum)) = optimum
            && primal - optimum > path.epsilon * (1.0 + 1e-9) + 1e-6 * scale
        {
            return Err(format!("P(w) is {primal}, the optimum at most {optimum}: {c:?}"));
        }
    }
    Ok(())
}
