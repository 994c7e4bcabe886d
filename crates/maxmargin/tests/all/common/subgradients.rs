//! Subgradient methods and the perceptron in dense vectors, which keep every iterate.

use super::problems::Enumerated;
use super::reference::{best_corner, touch};
use super::{add_scaled, dot};
use maxmargin::{Average, Bounds};

/// All iterates after the start, until the visits are over or an oracle has a choice.
pub fn pegasos(problem: &Enumerated, lambda: f64, visits: &[usize]) -> Vec<Vec<f64>> {
    let n = problem.blocks.len() as f64;
    let (mut w, mut touched, mut all) = (vec![0.0; problem.dim], vec![false; problem.dim], vec![]);
    for (t, &i) in (1..).map(f64::from).zip(visits) {
        let Some(y) = best_corner(problem, i, &w, &touched) else { break };
        let psi = &problem.blocks[i].corners[y].0;
        touch(&mut touched, psi);
        w.iter_mut().for_each(|w| *w *= 1.0 - 1.0 / t);
        add_scaled(&mut w, n * problem.share(i) / (lambda * t), psi);
        all.push(w.clone());
    }
    all
}

/// The means v of all subgradient steps so far within bounds. The weights are clip(v).
pub fn dual_averaging(
    problem: &Enumerated,
    lambda: f64,
    bounds: &Bounds,
    visits: &[usize],
) -> Vec<Vec<f64>> {
    let (d, n) = (problem.dim, problem.blocks.len() as f64);
    let clip =
        |v: &[f64]| -> Vec<f64> { v.iter().enumerate().map(|(j, &v)| bounds.clip(j, v)).collect() };
    let (mut sum, mut w, mut all) = (vec![0.0; d], clip(&vec![0.0; d]), vec![]);
    let mut touched: Vec<bool> = w.iter().map(|w| *w != 0.0).collect();
    for (t, &i) in (1..).map(f64::from).zip(visits) {
        let Some(y) = best_corner(problem, i, &w, &touched) else { break };
        let psi = &problem.blocks[i].corners[y].0;
        touch(&mut touched, psi);
        add_scaled(&mut sum, n * problem.share(i) / lambda, psi);
        let mean: Vec<f64> = sum.iter().map(|v| v / t).collect();
        w = clip(&mean);
        all.push(mean);
    }
    all
}

/// Like [`pegasos`], but by AdaGrad. All weights are updated as soon as any of them has been touched.
/// With at most eight weights this is equivalent to the rule.
pub fn adagrad(problem: &Enumerated, lambda: f64, rate: f64, visits: &[usize]) -> Vec<Vec<f64>> {
    let (d, n) = (problem.dim, problem.blocks.len() as f64);
    let (mut w, mut touched, mut all) = (vec![0.0; d], vec![false; d], vec![]);
    let (mut squares, mut eta, mut waiting) = (vec![0.0f64; d], None, 0);
    for (at, &i) in visits.iter().enumerate() {
        let Some(y) = best_corner(problem, i, &w, &touched) else { break };
        let (psi, loss) = &problem.blocks[i].corners[y];
        touch(&mut touched, psi);
        let hinge = loss - dot(&w, psi);
        if eta.is_none() && hinge > 0.0 {
            eta = Some(rate * (2.0 * hinge / (lambda * d as f64)).sqrt());
        }
        let eta = eta.unwrap_or(0.0);
        for j in 0..d {
            let g = -n * problem.share(i) * psi[j];
            if g != 0.0 {
                squares[j] += g * g;
                w[j] -= eta * g / squares[j].sqrt();
            }
        }
        waiting += 1;
        if psi.iter().any(|x| *x != 0.0) || (at + 1) % problem.blocks.len() == 0 {
            for j in (0..d).filter(|&j| squares[j] > 0.0) {
                let root = squares[j].sqrt();
                w[j] *= root / (root + eta * lambda * f64::from(waiting));
            }
            waiting = 0;
        }
        all.push(w.clone());
    }
    all
}

/// Like [`pegasos`], but by the perceptron.
pub fn perceptron(problem: &Enumerated, visits: &[usize]) -> Vec<Vec<f64>> {
    let n = problem.blocks.len() as f64;
    let (mut w, mut all) = (vec![0.0; problem.dim], vec![]);
    for &i in visits {
        let corners = &problem.blocks[i].corners;
        let scores: Vec<f64> = corners.iter().map(|(psi, _)| -dot(&w, psi)).collect();
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let near = |score: &f64| *score >= best - 1e-9 * (1.0 + best.abs());
        let tied: Vec<usize> = (0..scores.len()).filter(|&y| near(&scores[y])).collect();
        // At w = 0 all outputs tie exactly, and the first is taken.
        if tied.len() > 1 && w.iter().any(|w| *w != 0.0) {
            break;
        }
        add_scaled(&mut w, n * problem.share(i), &corners[tied[0]].0);
        all.push(w.clone());
    }
    all
}

/// The average of iterates, straight from its definition.
pub fn average(iterates: &[Vec<f64>], average: Average) -> Vec<f64> {
    let k = iterates.len();
    let power = (0..).map(|e| 1usize << e).take_while(|p| *p <= k).last().unwrap_or(0);
    let weight = |t: usize| match average {
        Average::None => f64::from(u8::from(t == k)),
        Average::Uniform => 1.0,
        Average::Weighted => t as f64,
        _ => f64::from(u8::from(t > power / 2)),
    };
    let (mut sum, mut total) = (vec![0.0; iterates[0].len()], 0.0);
    for (t, w) in (1..).zip(iterates) {
        add_scaled(&mut sum, weight(t), w);
        total += weight(t);
    }
    sum.iter().map(|x| x / total).collect()
}
