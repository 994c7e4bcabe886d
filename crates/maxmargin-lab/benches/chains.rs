//! Bare decoding, passes and gap passes on chains: `cargo bench -p maxmargin-lab -F benchmarks`.

#![allow(missing_docs, reason = "criterion's macros make public items")]

use criterion::{Criterion, criterion_group, criterion_main};
use maxmargin::inference::viterbi;
use maxmargin::model::chain::Chain;
use maxmargin::{BlockAverage, BlockCoordinate, BlockStep, Order, Rng, Settings, Solver, train};
use maxmargin_lab::{chain, conll, decode_all};

/// Settings for `passes` passes and nothing else but the final certificate.
fn settings(passes: u64) -> Settings {
    Settings {
        lambda: Some(0.01),
        method: Solver::BlockCoordinate.into(),
        tolerance: 0.0,
        max_passes: passes,
        gap_every: 1000,
        threads: 1,
        ..Settings::default()
    }
}

fn problem(c: &mut Criterion, name: &str, chain: &Chain) {
    let trained = train(chain, &settings(5)).expect("a valid problem");
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    group.bench_function("decode", |b| b.iter(|| decode_all(chain, &trained.weights)));
    group.bench_function("5 passes + gap", |b| b.iter(|| train(chain, &settings(5))));
    let with = |method: BlockCoordinate| Settings { method: method.into(), ..settings(5) };
    let plain = BlockCoordinate::default();
    let averaged = with(BlockCoordinate { average: BlockAverage::Weighted, ..plain.clone() });
    group.bench_function("5 passes + gap, averaged", |b| b.iter(|| train(chain, &averaged)));
    let (order, step) = (Order::Gap, BlockStep::Corrective);
    let corrective = with(BlockCoordinate { order, step, ..plain });
    group.bench_function("5 passes + gap, corrective", |b| b.iter(|| train(chain, &corrective)));
    group.finish();
}

fn chains(c: &mut Criterion) {
    problem(c, "ocr-small", &chain("ocr-small", None).expect("built-in data"));
    problem(c, "ocr-large", &chain("ocr-large", None).expect("built-in data"));
    if let Some(conll) = conll().expect("readable data") {
        problem(c, "conll2000", &conll);
    }
}

fn decoding(c: &mut Criterion) {
    let mut group = c.benchmark_group("viterbi, 20 positions");
    let mut rng = Rng::new(1);
    for labels in [10, 26, 100, 1000] {
        let mut table = |n: usize| (0..n).map(|_| rng.unit_f64()).collect::<Vec<f64>>();
        let (scores, transitions) = (table(20 * labels), table(labels * labels));
        let (mut forward, mut path) = (Vec::new(), Vec::new());
        group.bench_function(format!("{labels} labels"), |b| {
            b.iter(|| viterbi(&scores, &transitions, labels, &mut forward, &mut path));
        });
    }
    group.finish();
}

criterion_group!(benches, decoding, chains);
criterion_main!(benches);
