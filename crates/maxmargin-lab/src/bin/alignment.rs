//! Word alignment on real data: does a trained matching find better links than a heuristic that is
//! tuned on the same data?
//!
//! ```text
//! cargo run --release -p maxmargin-lab -F benchmarks --bin alignment -- [DATA] [METHOD]
//! ```
//!
//! DATA is `hansards` (five folds, each tested on by what the other four have taught), `czenali`
//! (trained on its part `train`, tested on `valid`) or `all`, the default; METHOD is `heuristic`, `one`
//! (link per word), `several` or `all`, the default. The words of all pairs are
//! counted for both methods, those to test on too, for that takes no links.
//!
//! The heuristic gives a link the score dice − α·δ − θ, with δ the distance of the relative positions,
//! and takes the best matching with at most F links per word; α, θ and F are those of the lowest AER on
//! the training data. The trained model has all features of `AlignmentFeatures`; λ, the cost of a
//! missing link, F, what becomes of possible links and how often two words must be linked to get a
//! weight of their own are those of the lowest AER on a fifth of the training data that training on
//! the rest has not seen; then it is trained on all of it.

use anyhow::{Result, bail};
use maxmargin::evaluate::AlignmentScores;
use maxmargin::model::matching::{Gold, LinkLoss, Matcher, Matching, MatchingShape, Pairs};
use maxmargin::{Settings, train};
use maxmargin_io::{AlignmentFeatures, Lines, RawAlignment, WordCounts, read_alignments};
use maxmargin_lab::shared_data;
use std::time::Instant;

/// Shares of training and test data of one run.
type Split<'a> = (Vec<&'a RawAlignment>, Vec<&'a RawAlignment>);

fn main() -> Result<()> {
    let data = std::env::args().nth(1).unwrap_or_else(|| "all".to_owned());
    let method = std::env::args().nth(2).unwrap_or_else(|| "all".to_owned());
    if !["heuristic", "one", "several", "all"].contains(&method.as_str()) {
        bail!("{method}: no such method; there are heuristic, one, several and all");
    }
    let hansards = || run("hansards", "align_enfr_hansards", &method);
    let czenali = || run("czenali", "align_encs_czenali", &method);
    match data.as_str() {
        "hansards" => hansards(),
        "czenali" => czenali(),
        "all" => hansards().and_then(|()| czenali()),
        other => bail!("{other}: no such data; there are hansards, czenali and all"),
    }
}

fn run(name: &str, file: &str, method: &str) -> Result<()> {
    let path = shared_data().join(format!("{file}.tsv.gz"));
    if !path.is_file() {
        eprintln!("skipped: {name} is not at hand ({} is missing)", path.display());
        return Ok(());
    }
    let all = read_alignments(Lines::open(path)?)?;
    let counts = WordCounts::of(&all);
    let splits = splits(&all);
    println!("\n## {name}\n");
    println!("{} pairs, {} run(s).\n", all.len(), splits.len());
    println!("| method | chosen | precision | recall | AER | gap | seconds |");
    println!("|---|---|---|---|---|---|---|");
    let is_asked_for = |name: &str| method == name || method == "all";
    if is_asked_for("heuristic") {
        heuristic(&counts, &splits)?;
    }
    if is_asked_for("one") {
        trained("one link per word", &[1], &counts, &splits)?;
    }
    if is_asked_for("several") {
        trained("several links per word", &[2, 3], &counts, &splits)?;
    }
    Ok(())
}

/// The parts that the file names, or five folds.
fn splits(all: &[RawAlignment]) -> Vec<Split<'_>> {
    let divide = |test: &dyn Fn(usize) -> bool| {
        let (test, train): (Vec<_>, Vec<_>) = all.iter().enumerate().partition(|(i, _)| test(*i));
        let pairs = |part: Vec<(usize, _)>| part.into_iter().map(|(_, pair)| pair).collect();
        (pairs(train), pairs(test))
    };
    if all.iter().any(|pair| pair.part.is_some()) {
        return vec![divide(&|i| all[i].part.as_deref() == Some("valid"))];
    }
    (0..5).map(|fold| divide(&|i| i % 5 == fold)).collect()
}

fn add(scores: &mut AlignmentScores, pair: &RawAlignment, predicted: &[(u32, u32)]) {
    scores.add(&pair.of_kind(Gold::Sure), &pair.of_kind(Gold::Possible), predicted);
}

fn row(method: &str, chosen: &str, scores: &AlignmentScores, gap: &str, seconds: f64) {
    println!(
        "| {method} | {chosen} | {:.3} | {:.3} | **{:.3}** | {gap} | {seconds:.1} |",
        scores.precision(),
        scores.recall(),
        scores.aer()
    );
}

/// Dice's coefficient less a share of the distance, tuned on the training data.
fn heuristic(counts: &WordCounts, splits: &[Split<'_>]) -> Result<()> {
    let (begin, mut total, mut chosen) = (Instant::now(), AlignmentScores::default(), Vec::new());
    // Attributes: dice, δ, 1.
    let fill = |pairs: &[&RawAlignment]| -> Result<Pairs> {
        let mut data = Pairs::new();
        for pair in pairs {
            let (rows, columns) = (pair.source.len(), pair.target.len());
            let place = |at: usize, length: usize| (at as f64 + 0.5) / length as f64;
            for (r, s) in pair.source.iter().enumerate() {
                for (c, t) in pair.target.iter().enumerate() {
                    let distance = (place(r, rows) - place(c, columns)).abs();
                    let values = [(0, counts.dice(s, t)), (1, distance), (2, 1.0)];
                    data.push_link(r as u32, c as u32, values, Gold::Wrong)?;
                }
            }
            data.end_pair(rows as u32, columns as u32, 1.0)?;
        }
        Ok(data)
    };
    let measure = |pairs: &[&RawAlignment], data: &Pairs, w: &[f64], most: usize| {
        let shape =
            MatchingShape { most_per_row: most, most_per_column: most, ..MatchingShape::new(3) };
        let (mut matcher, mut scores) = (Matcher::new(shape, w), AlignmentScores::default());
        for (i, pair) in pairs.iter().enumerate() {
            matcher.best(&data.pair(i));
            add(&mut scores, pair, &matcher.links(&data.pair(i)));
        }
        scores
    };
    for (train, test) in splits {
        let (known, unknown) = (fill(train)?, fill(test)?);
        let mut best = (f64::INFINITY, [0.0; 3], 1);
        for most in [1, 2, 3] {
            for alpha in [0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0] {
                for theta in 0..10 {
                    let w = [1.0, -alpha, -0.05 * f64::from(theta)];
                    let aer = measure(train, &known, &w, most).aer();
                    if aer < best.0 {
                        best = (aer, w, most);
                    }
                }
            }
        }
        let (_, w, most) = best;
        chosen.push(format!("α {} θ {:.2} F {most}", -w[1], -w[2]));
        let found = measure(test, &unknown, &w, most);
        total = sum(&total, &found);
    }
    row("Dice and position", &summary(chosen), &total, "", begin.elapsed().as_secs_f64());
    Ok(())
}

fn sum(a: &AlignmentScores, b: &AlignmentScores) -> AlignmentScores {
    let mut both = *a;
    both.pairs += b.pairs;
    both.predicted += b.predicted;
    both.sure += b.sure;
    both.sure_hits += b.sure_hits;
    both.possible_hits += b.possible_hits;
    both
}

/// What was chosen, each once.
fn summary(mut chosen: Vec<String>) -> String {
    chosen.sort();
    chosen.dedup();
    chosen.join("; ")
}

/// What a model is chosen among.
#[derive(Debug, Clone, Copy)]
struct Choice {
    lambda: f64,
    missing: f64,
    most: usize,
    /// Whether possible links are left out of the training.
    left_out: bool,
    /// How often two words must be linked to have a weight; none for no lexicon.
    lexicon: Option<u32>,
}

/// Costs of a missing link to choose among.
const MISSING: [f64; 4] = [1.0, 2.0, 4.0, 8.0];

/// What another value makes of a choice.
type Step = fn(Choice, usize) -> Choice;

impl Choice {
    fn fit(&self, counts: &WordCounts, pairs: &[&RawAlignment]) -> Result<Model> {
        let mut features = AlignmentFeatures::new(counts.clone());
        if let Some(least) = self.lexicon {
            features = features.with_lexicon(pairs.iter().copied(), least);
        }
        let mut data = Pairs::new();
        pairs.iter().try_for_each(|pair| features.fill(pair, &mut data))?;
        if self.left_out {
            data = data.select(|_| true, |pair, link| pair.gold(link) != Gold::Possible);
        }
        let shape = MatchingShape {
            most_per_row: self.most,
            most_per_column: self.most,
            ..MatchingShape::new(features.attributes())
        };
        let loss = LinkLoss { missing: self.missing, normalise: false, ..LinkLoss::default() };
        let problem = Matching::new(shape, data, loss)?;
        let settings =
            Settings { lambda: Some(self.lambda), tolerance: 0.02, ..Settings::default() };
        let solution = train(&problem, &settings)?;
        let gap = solution.certificate.gap / solution.certificate.primal;
        Ok(Model { features, shape, weights: solution.weights, gap })
    }
}

struct Model {
    features: AlignmentFeatures,
    shape: MatchingShape,
    weights: Vec<f64>,
    /// Relative to the objective.
    gap: f64,
}

impl Model {
    fn measure(&self, pairs: &[&RawAlignment]) -> Result<AlignmentScores> {
        let mut scores = AlignmentScores::default();
        let mut matcher = Matcher::new(self.shape, &self.weights);
        for pair in pairs {
            let mut data = Pairs::new();
            self.features.fill(pair, &mut data)?;
            matcher.best(&data.pair(0));
            add(&mut scores, pair, &matcher.links(&data.pair(0)));
        }
        Ok(scores)
    }
}

fn trained(words: &str, most: &[usize], counts: &WordCounts, splits: &[Split<'_>]) -> Result<()> {
    let (begin, mut total, mut chosen) = (Instant::now(), AlignmentScores::default(), Vec::new());
    let mut largest_gap = 0.0f64;
    for (train, test) in splits {
        let (held, rest): (Vec<_>, Vec<_>) =
            train.iter().enumerate().partition(|(i, _)| i % 5 == 0);
        let pairs = |part: Vec<(usize, &&'_ RawAlignment)>| -> Vec<RawAlignment> {
            part.into_iter().map(|(_, pair)| (*pair).clone()).collect()
        };
        let (held, rest) = (pairs(held), pairs(rest));
        let (held, rest): (Vec<_>, Vec<_>) = (held.iter().collect(), rest.iter().collect());
        let judge = |choice: Choice| -> Result<(f64, Choice)> {
            let aer = choice.fit(counts, &rest)?.measure(&held)?.aer();
            eprintln!("{} s: AER {aer:.3} held out with {choice:?}", begin.elapsed().as_secs());
            Ok((aer, choice))
        };
        // One thing after the other: all at once would take hours.
        let first =
            Choice { lambda: 0.01, missing: 1.0, most: most[0], left_out: false, lexicon: None };
        let mut best = judge(first)?;
        let has_possible = train.iter().any(|pair| !pair.of_kind(Gold::Possible).is_empty());
        let possible = if has_possible { vec![1] } else { vec![] };
        let steps: [(Step, Vec<usize>); 6] = [
            (|c, at| Choice { most: at, ..c }, most[1..].to_vec()),
            (|c, at| Choice { left_out: at == 1, ..c }, possible),
            (|c, at| Choice { missing: MISSING[at], ..c }, vec![1, 2, 3]),
            (|c, at| Choice { lexicon: [Some(2), Some(5)][at], ..c }, vec![0, 1]),
            (|c, at| Choice { lambda: [0.1, 0.03, 0.003, 0.001][at], ..c }, vec![0, 1, 2, 3]),
            (|c, at| Choice { missing: MISSING[at], ..c }, vec![0, 1, 2, 3]),
        ];
        for (step, values) in steps {
            let from = best.1;
            for at in values {
                let found = judge(step(from, at))?;
                if found.0 < best.0 {
                    best = found;
                }
            }
        }
        let choice = best.1;
        chosen.push(format!(
            "λ {} missing {} F {}{}{}",
            choice.lambda,
            choice.missing,
            choice.most,
            if choice.left_out { " without possible" } else { "" },
            choice.lexicon.map_or(String::new(), |least| format!(" lexicon ≥ {least}")),
        ));
        let model = choice.fit(counts, train)?;
        largest_gap = largest_gap.max(model.gap);
        total = sum(&total, &model.measure(test)?);
    }
    let gap = format!("{:.1} %", 100.0 * largest_gap);
    let method = format!("matching, {words}");
    row(&method, &summary(chosen), &total, &gap, begin.elapsed().as_secs_f64());
    Ok(())
}
