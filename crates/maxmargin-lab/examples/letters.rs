//! The run that `docs/how-to/classify-rows.md` shows: handwritten letters, one by one.
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --example letters
//! ```

use anyhow::{Context as _, Result};
use maxmargin::model::binary::{Binary, BinaryShape};
use maxmargin::model::multiclass::{ClassLoss, CostMatrix, Multiclass, MulticlassShape};
use maxmargin::{Problem, Settings, SlackRescaled, Solution, train};
use maxmargin_io::{RowData, Source, read_rows};

/// Mistaking one vowel for another is cheap, a vowel for a consonant is dear.
const VOWELS: &str = "aeiou";

fn main() -> Result<()> {
    let RowData { rows, labels, attributes, .. } =
        read_rows(Source::resolve("ocr-small")?.open_rows(None)?)?;
    // Every tenth letter is kept for testing.
    let (training, test) = (rows.select(|i| i % 10 != 9), rows.select(|i| i % 10 == 9));
    println!("{} letters to train with, {} to test\n", training.len(), test.len());
    println!("| model | objective | gap | seconds | wrong in test | cost per letter |");
    println!("|---|---|---|---|---|---|");

    let is_vowel = |label: usize| VOWELS.contains(labels.name(label as u32));
    let cost = |truth: usize, other: usize| match truth == other {
        true => 0.0,
        false if is_vowel(truth) == is_vowel(other) => 1.0,
        false => 3.0,
    };
    let classes = 0..labels.len();
    let costs = classes.clone().map(|truth| classes.clone().map(|y| cost(truth, y)).collect());
    let costs = ClassLoss::Costs(CostMatrix::new(costs.collect())?);

    let shape = MulticlassShape::new(labels.len(), attributes.len());
    let report = |name: &str, solution: &Solution| {
        let (mut scores, mut wrong, mut paid) = (Vec::new(), 0, 0.0);
        for (row, truth) in test.iter() {
            let predicted = shape.predict(&solution.weights, row, &mut scores);
            wrong += usize::from(predicted != truth[0]);
            paid += costs.cost(truth[0], predicted);
        }
        let (wrong, paid) = (share(wrong, test.len()), format!("{:.3}", paid / test.len() as f64));
        print_row(name, solution, &wrong, &paid);
    };
    let plain = Multiclass::new(shape, training.clone(), ClassLoss::ZeroOne)?;
    report("0/1 loss", &fit(&plain)?);
    let costly = Multiclass::new(shape, training.clone(), costs.clone())?;
    report("costs, margin rescaling", &fit(&costly)?);
    report("costs, slack rescaling", &fit(&SlackRescaled::new(costly))?);

    let shape = BinaryShape { bias: Some(1.0), ..BinaryShape::new(attributes.len()) };
    let a = labels.get("a").context("there is no letter a")?;
    let solution = fit(&Binary::new(shape, training, a)?)?;
    let is_right = |row, truth: &[u32]| shape.predict(&solution.weights, row) == truth.contains(&a);
    let wrong = test.iter().filter(|(row, truth)| !is_right(*row, truth)).count();
    print_row("is it an a?", &solution, &share(wrong, test.len()), "");
    Ok(())
}

fn fit<P: Problem>(problem: &P) -> Result<Solution> {
    let settings = Settings { lambda: Some(0.001), tolerance: 1e-3, ..Settings::default() };
    Ok(train(problem, &settings)?)
}

fn share(wrong: usize, all: usize) -> String {
    format!("{:.1} %", 100.0 * wrong as f64 / all as f64)
}

fn print_row(name: &str, solution: &Solution, wrong: &str, paid: &str) {
    let (proof, seconds) = (&solution.certificate, solution.totals.seconds);
    println!(
        "| {name} | {:.5} | {:.1e} | {seconds:.2} | {wrong} | {paid} |",
        proof.primal, proof.gap
    );
}
