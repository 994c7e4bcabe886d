//! Poses: do trees of joints find more of them than their score maps alone?
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin pose -- [PEOPLE] [TOLERANCE] [SECONDS] [KINDS]
//! ```
//!
//! The first PEOPLE (200) of Leeds Sports Pose are trained on, the last 500 tested; there are no images,
//! so score maps are [simulated](maxmargin_io::PoseSimulation), KINDS (3) kinds of each joint. PDJ is
//! the share of joints that are found within 0.2 torsos of their true place. *Maps alone* takes the
//! highest place of all of a joint's maps. The model is trained for a few λ to the TOLERANCE (0.02) for
//! at most SECONDS (60); the λ in **bold** has the best PDJ on a fifth of the training data, trained on
//! the rest.

use anyhow::{Context as _, Result};
use maxmargin::evaluate::DetectedJoints;
use maxmargin::model::tree::{State, Tree, TreeLoss};
use maxmargin::{Problem as _, Settings, train};
use maxmargin_io::{
    Lines, Pose, PoseKinds, PoseSimulation, SimulatedPoses, lsp_parents, lsp_torso, read_poses,
};
use maxmargin_lab::shared_data;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let mut number = |name: &'static str, default: f64| {
        args.next().map_or(Ok(default), |text| text.parse::<f64>().context(name))
    };
    let people = number("PEOPLE", 200.0)? as usize;
    let (tolerance, seconds) = (number("TOLERANCE", 0.02)?, number("SECONDS", 60.0)?);
    let kinds = number("KINDS", 3.0)? as usize;
    let path = shared_data().join("lsp_joints.tsv.gz");
    if !path.is_file() {
        eprintln!("skipped: Leeds Sports Pose is not at hand ({} is missing)", path.display());
        return Ok(());
    }
    let poses = read_poses(Lines::open(&path)?)?;
    let simulation = PoseSimulation::default();
    let (known, unknown) = (&poses[..people], &poses[poses.len() - 500..]);
    let kinds = PoseKinds::fit(known, &lsp_parents(), kinds, &simulation);
    let make = |people: &[Pose], seed| {
        PoseSimulation { seed, ..simulation.clone() }.simulate(people, &kinds, lsp_torso(), 8.0)
    };
    let (data, test_data) = (make(known, 1)?, make(unknown, 2)?);
    let is_dev = |i: usize| i.is_multiple_of(5);
    let problem = |data: &SimulatedPoses, keep: &dyn Fn(usize) -> bool| {
        Tree::new(data.examples.select(keep), TreeLoss::default())
    };
    let all = problem(&data, &|_| true)?;
    let (rest, dev) = (problem(&data, &|i| !is_dev(i))?, problem(&data, &is_dev)?);
    let test = problem(&test_data, &|_| true)?;

    println!("{people} people to train on, 500 to test; {} weights.\n", all.dim());
    let alone = measure(&test, &test_data.torsos, &highest(&test));
    println!(
        "| model | λ | status | objective | gap | calls/n | seconds | in oracles | PDJ | wrists | ankles |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    println!("| maps alone | | | | | | | | {} |", shares(&alone));
    let mut rows = Vec::new();
    for lambda in [1.0, 3e-1, 1e-1, 3e-2, 1e-2] {
        let settings = Settings {
            lambda: Some(lambda),
            tolerance,
            max_seconds: Some(seconds),
            max_passes: u64::MAX,
            threads: 1,
            ..Settings::default()
        };
        let w = train(&rest, &settings)?.weights;
        let torsos: Vec<f64> =
            data.torsos.iter().enumerate().filter(|(i, _)| is_dev(*i)).map(|(_, t)| *t).collect();
        let judged = measure(&dev, &torsos, &dev.predict(&w)).share();
        let solution = train(&all, &settings)?;
        let found = measure(&test, &test_data.torsos, &test.predict(&solution.weights));
        let (c, t) = (&solution.certificate, &solution.totals);
        let cells = format!(
            "{} | {:.4} | {:.1e} | {:.0} | {:.1} | {:.0} % | {}",
            solution.status,
            c.primal,
            c.gap,
            t.oracle_calls as f64 / all.examples() as f64,
            t.seconds,
            100.0 * t.oracle_seconds / t.seconds,
            shares(&found),
        );
        rows.push((judged, lambda, cells));
    }
    let best = rows.iter().map(|row| row.0).fold(0.0, f64::max);
    for (judged, lambda, cells) in rows {
        let mark = if judged == best { "**" } else { "" };
        println!("| tree | {mark}{lambda:e}{mark} | {cells} |");
    }
    Ok(())
}

/// Every joint where one of its maps is highest.
fn highest(problem: &Tree) -> Vec<Vec<State>> {
    let data = problem.data();
    let person = |i: usize| {
        let (width, _) = data.grid(i);
        let joint = |node: usize| {
            let mut best = (f32::NEG_INFINITY, State::default());
            for map in 0..data.shape().nodes()[node].maps {
                for (place, &value) in data.map(i, node, map).iter().enumerate() {
                    if value > best.0 {
                        let (x, y) = ((place % width) as u32, (place / width) as u32);
                        best = (value, State { kind: map as u32, x, y });
                    }
                }
            }
            best.1
        };
        (0..data.shape().nodes().len()).map(joint).collect()
    };
    (0..data.len()).map(person).collect()
}

fn measure(problem: &Tree, torsos: &[f64], predicted: &[Vec<State>]) -> DetectedJoints {
    let mut found = DetectedJoints::new(problem.shape().nodes().len(), 0.2);
    for (i, states) in predicted.iter().enumerate() {
        for (joint, (state, truth)) in states.iter().zip(problem.data().truth(i)).enumerate() {
            let away = |a: u32, b: u32| f64::from(a) - f64::from(b);
            let distance = away(state.x, truth.x).hypot(away(state.y, truth.y));
            found.add(joint, distance, torsos[i]);
        }
    }
    found
}

fn shares(found: &DetectedJoints) -> String {
    let pair = |a: usize, b: usize| 50.0 * (found.share_of(a) + found.share_of(b));
    format!("{:.1} % | {:.1} % | {:.1} %", 100.0 * found.share(), pair(6, 11), pair(0, 5))
}
