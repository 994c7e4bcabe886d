//! Horses and background: superpixel graphs cut by maximum flow, an oracle that takes its time.
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin horses -- quality [TOLERANCE] [SECONDS]
//! cargo run --release -p maxmargin-lab -F benchmarks --bin horses -- variants [SEEDS] [SECONDS] [LAMBDA]
//! cargo run --release -p maxmargin-lab -F benchmarks --bin horses -- flows [REPEATS] > flows.txt
//! ```
//!
//! `quality` trains with and without pairwise weights for a few λ, each to the TOLERANCE (0.005) for
//! at most SECONDS (60); the λ in **bold** has the best balanced accuracy on a fifth of the training
//! images, trained on the others. `variants` lets orders, directions and caches race. `flows` writes
//! the networks of a training run and the time that ours takes; `benchmarks/max_flow.py` reads it.

use anyhow::{Context as _, Result, bail};
use maxmargin::evaluate::Segmentation;
use maxmargin::inference::MaxFlow;
use maxmargin::model::potts::{NodeLoss, Potts, PottsGraphs, PottsInference, PottsShape};
use maxmargin::{Problem as _, Settings, Solution, train};
use maxmargin_io::{Lines, SuperpixelFeatures, Superpixels, read_superpixels};
use maxmargin_lab::race::Race;
use maxmargin_lab::{processor_seconds, shared_data};
use maxmargin_report::Report;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let what = args.next().unwrap_or_else(|| "quality".to_owned());
    let mut number = |name: &'static str, default: f64| {
        args.next().map_or(Ok(default), |text| text.parse::<f64>().context(name))
    };
    let Some(horses) = horses()? else { return Ok(()) };
    match what.as_str() {
        "quality" => quality(&horses, number("TOLERANCE", 0.005)?, number("SECONDS", 60.0)?),
        "variants" => {
            let (seeds, limit) = (number("SEEDS", 1.0)? as u64, number("SECONDS", 30.0)?);
            let mut race = Race { seeds, limit, page: Report::new("Horses") };
            let problem = problem(&horses.train.graphs, 5)?;
            race.run("horses", &problem, number("LAMBDA", 1e-4)?, [0.1, 0.03, 0.01])
        }
        "flows" => flows(&horses, number("REPEATS", 200.0)? as usize),
        other => bail!("{other}: there are quality, variants and flows"),
    }
}

/// Training and test images.
struct Horses {
    train: Superpixels,
    test: Superpixels,
}

fn horses() -> Result<Option<Horses>> {
    let path = shared_data().join("weizmann_horses_superpixels.txt.gz");
    if !path.is_file() {
        eprintln!("skipped: the horses are not at hand ({} is missing)", path.display());
        return Ok(None);
    }
    let read =
        |split| read_superpixels(Lines::open(&path)?, Some(split), &SuperpixelFeatures::default());
    Ok(Some(Horses { train: read("train")?, test: read("test")? }))
}

fn problem(graphs: &PottsGraphs, edge_attributes: usize) -> Result<Potts> {
    let shape = PottsShape::new(2, graphs.node_attribute_bound(), edge_attributes);
    Ok(Potts::new(shape, graphs.clone(), NodeLoss::default(), PottsInference::Auto)?)
}

fn measure(
    problem: &Potts,
    data: &Superpixels,
    keep: impl Fn(usize) -> bool,
    w: &[f64],
) -> Segmentation {
    let mut found = Segmentation::new(2);
    let images = data.images.iter().enumerate().filter(|(i, _)| keep(*i));
    for (predicted, (_, image)) in problem.predict(w).iter().zip(images) {
        for (&label, &(pixels, foreground)) in predicted.iter().zip(&image.pixels) {
            found.add(1, label, foreground);
            found.add(0, label, pixels - foreground);
        }
    }
    found
}

fn quality(horses: &Horses, tolerance: f64, seconds: f64) -> Result<()> {
    println!(
        "| model | λ | status | objective | gap | calls/n | seconds | in oracles | µs/call | pixels | \
         balanced | IoU horse | mean IoU |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let is_dev = |i: usize| i.is_multiple_of(5);
    for (name, edge_attributes) in [("unary", 0), ("graph", 5)] {
        let all = problem(&horses.train.graphs, edge_attributes)?;
        let rest = problem(&horses.train.graphs.select(|i| !is_dev(i)), edge_attributes)?;
        let dev = problem(&horses.train.graphs.select(is_dev), edge_attributes)?;
        let test = problem(&horses.test.graphs, edge_attributes)?;
        let mut rows = Vec::new();
        for lambda in [1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5] {
            let settings = Settings {
                lambda: Some(lambda),
                tolerance,
                max_seconds: Some(seconds),
                max_passes: u64::MAX,
                threads: 1,
                ..Settings::default()
            };
            let w = train(&rest, &settings)?.weights;
            let judged = measure(&dev, &horses.train, is_dev, &w).balanced_accuracy();
            let solution = train(&all, &settings)?;
            let found = measure(&test, &horses.test, |_| true, &solution.weights);
            rows.push((judged, lambda, cells(&all, &solution, &found)));
        }
        let best = rows.iter().map(|row| row.0).fold(0.0, f64::max);
        for (judged, lambda, cells) in rows {
            let mark = if judged == best { "**" } else { "" };
            println!("| {name} | {mark}{lambda:e}{mark} | {cells} |");
        }
    }
    Ok(())
}

fn cells(problem: &Potts, solution: &Solution, found: &Segmentation) -> String {
    let (c, t) = (&solution.certificate, &solution.totals);
    format!(
        "{} | {:.4} | {:.1e} | {:.0} | {:.1} | {:.0} % | {:.1} | {:.2} % | {:.2} % | {:.2} % | {:.2} %",
        solution.status,
        c.primal,
        c.gap,
        t.oracle_calls as f64 / problem.examples() as f64,
        t.seconds,
        100.0 * t.oracle_seconds / t.seconds,
        1e6 * t.oracle_seconds / t.oracle_calls as f64,
        100.0 * found.accuracy(),
        100.0 * found.balanced_accuracy(),
        100.0 * found.iou(1),
        100.0 * found.mean_iou(),
    )
}

/// Writes the networks of the loss-augmented problems at three w of a run that is getting better, and
/// what ours takes: to find a flow from nothing with the network there, and going on from the flow at
/// the w before.
fn flows(horses: &Horses, repeats: usize) -> Result<()> {
    let problem = problem(&horses.train.graphs, 5)?;
    let mut before: Option<Vec<Network>> = None;
    for passes in [1, 5, 20, 21, 50, 51] {
        let settings = Settings {
            lambda: Some(1e-4),
            max_passes: passes,
            tolerance: 0.0,
            threads: 1,
            ..Settings::default()
        };
        let w = train(&problem, &settings)?.weights;
        let now: Vec<Network> =
            (0..problem.examples()).map(|i| Network::new(&problem, i, &w)).collect();
        let mut cold: Vec<MaxFlow> = now.iter().map(Network::build).collect();
        let values: Vec<f64> = cold.iter_mut().map(MaxFlow::solve).collect();
        let solve = mean_of(
            repeats,
            &mut cold,
            |flows| flows.iter_mut().for_each(MaxFlow::forget_flow),
            |flows| flows.iter_mut().for_each(|flow| _ = flow.solve()),
        );
        let build = mean_of(
            repeats,
            &mut (),
            |()| (),
            |()| now.iter().for_each(|network| _ = network.build().solve()),
        );
        println!("P {passes} {} {solve:e} {build:e}", now.len());
        if let Some(before) = &before {
            let mut flows: Vec<MaxFlow> = before.iter().map(Network::build).collect();
            let go_back = |flows: &mut Vec<MaxFlow>| {
                flows.iter_mut().zip(before).for_each(|(flow, network)| {
                    network.update(flow);
                    flow.forget_flow();
                    flow.solve();
                });
            };
            let go_on = |is_warm: bool| {
                let now = &now;
                move |flows: &mut Vec<MaxFlow>| {
                    flows.iter_mut().zip(now).for_each(|(flow, network)| {
                        network.update(flow);
                        if !is_warm {
                            flow.forget_flow();
                        }
                        flow.solve();
                    });
                }
            };
            let warm = mean_of(repeats, &mut flows, go_back, go_on(true));
            let cold = mean_of(repeats, &mut flows, go_back, go_on(false));
            println!("W {warm:e} {cold:e}");
            // The edges of this w, and only ties change.
            let tied: Vec<Network> =
                before.iter().zip(&now).map(|(a, b)| a.with_edges(b)).collect();
            let mut flows: Vec<MaxFlow> = tied.iter().map(Network::build).collect();
            let go_back = |flows: &mut Vec<MaxFlow>| {
                flows.iter_mut().zip(&tied).for_each(|(flow, network)| {
                    network.update_ties(flow);
                    flow.forget_flow();
                    flow.solve();
                });
            };
            let go_on = |flows: &mut Vec<MaxFlow>| {
                flows.iter_mut().zip(&now).for_each(|(flow, network)| {
                    network.update_ties(flow);
                    flow.solve();
                });
            };
            println!("U {:e}", mean_of(repeats, &mut flows, go_back, go_on));
        }
        for (network, value) in now.iter().zip(&values) {
            println!("G {} {} {value:e}", network.ties.len(), network.edges.len());
            network.ties.iter().for_each(|tie| println!("T {tie:e}"));
            network.edges.iter().for_each(|(a, b, c)| println!("E {a} {b} {c:e}"));
        }
        before = Some(now);
    }
    Ok(())
}

/// Processor seconds in the mean over some repetitions, with preparations that do not count. (The
/// system tells the time in steps of milliseconds, so that the fastest says nothing.)
fn mean_of<T>(repeats: usize, on: &mut T, prepare: impl Fn(&mut T), work: impl Fn(&mut T)) -> f64 {
    let once = |_| {
        prepare(on);
        let begin = processor_seconds();
        work(on);
        processor_seconds() - begin
    };
    (0..repeats).map(once).sum::<f64>() / repeats as f64
}

/// A network in the plainest form: ties to the source if positive, and edges with one capacity.
struct Network {
    ties: Vec<f64>,
    edges: Vec<(u32, u32, f64)>,
}

impl Network {
    fn new(problem: &Potts, i: usize, w: &[f64]) -> Self {
        let (graph, shape) = (problem.data().graph(i), problem.shape());
        let (share, costs) = (1.0 / graph.nodes() as f64, NodeLoss::default().costs(graph));
        let tie = |v: usize| {
            let terms = graph.node(v).pairs();
            let score: f64 =
                terms.map(|(a, x)| x * (w[2 * a as usize + 1] - w[2 * a as usize])).sum();
            let loss = if graph.labels()[v] == 1 { -costs[v] } else { costs[v] };
            share * score + loss
        };
        let pairwise = &w[shape.pairwise()];
        let cost =
            |e: usize| graph.edge(e).pairs().map(|(a, z)| z * pairwise[a as usize]).sum::<f64>();
        let edges = graph.edges().iter().enumerate().map(|(e, &(a, b))| (a, b, share * cost(e)));
        Self { ties: (0..graph.nodes()).map(tie).collect(), edges: edges.collect() }
    }

    fn build(&self) -> MaxFlow {
        let mut flow = MaxFlow::new(self.ties.len());
        self.ties.iter().enumerate().for_each(|(v, t)| flow.tie(v, t.max(0.0), (-t).max(0.0)));
        for &(a, b, cost) in &self.edges {
            flow.connect(a as usize, b as usize, cost, cost);
        }
        flow
    }

    /// The same ties, with the edges of another.
    fn with_edges(&self, other: &Self) -> Self {
        Self { ties: self.ties.clone(), edges: other.edges.clone() }
    }

    fn update_ties(&self, flow: &mut MaxFlow) {
        self.ties.iter().enumerate().for_each(|(v, t)| flow.set_tie(v, t.max(0.0), (-t).max(0.0)));
    }

    fn update(&self, flow: &mut MaxFlow) {
        self.update_ties(flow);
        self.edges.iter().enumerate().for_each(|(e, &(_, _, cost))| flow.set_edge(e, cost, cost));
    }
}
