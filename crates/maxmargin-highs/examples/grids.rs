//! Milliseconds that the LP relaxation of a grid takes, by the simplex method in Rust and by HiGHS:
//!
//! ```text
//! cargo run --release -p maxmargin-highs --features highs --example grids
//! ```

use maxmargin::Rng;
use maxmargin::inference::Labelling;
use maxmargin::inference::Topology;
use maxmargin::inference::algorithms::LocalPolytope;
use maxmargin::inference::{SimplexMethod, SolveLp};
use maxmargin_highs::Highs;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for (side, states) in [(2, 2), (3, 3), (4, 3), (6, 3), (8, 3), (12, 3)] {
        let edges = (0..side * side).flat_map(|v| {
            let right = ((v + 1) % side != 0).then_some([v, v + 1]);
            let below = (v + side < side * side).then_some([v, v + side]);
            right.into_iter().chain(below)
        });
        let graph = Topology::new(vec![states; (side * side) as usize], edges)?;
        let mut rng = Rng::new(1);
        let scores: Vec<f64> = (0..graph.size()).map(|_| rng.unit_f64()).collect();
        let (mut polytope, mut corner) = (LocalPolytope::default(), Labelling::default());
        let mut milliseconds = |solver: &dyn SolveLp| {
            let begin = Instant::now();
            polytope.maximise(solver, &graph, &scores, &mut corner)?;
            Ok::<f64, maxmargin::inference::LpError>(1e3 * begin.elapsed().as_secs_f64())
        };
        let (ours, theirs) = (milliseconds(&SimplexMethod)?, milliseconds(&Highs)?);
        println!("{side} by {side}, {states} states: simplex {ours:.2}, HiGHS {theirs:.2}");
    }
    Ok(())
}
