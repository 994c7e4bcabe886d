//! Who wins: oracle calls and seconds to each gap, for people and for machines.

use super::curves::{AtLambda, Group, Spread, by_lambda};
use super::runner::Results;
use maxmargin_report::{format_number, format_significant};
use serde::Serialize;
use std::fmt::Write as _;

/// How a comparison was made.
#[derive(Debug, Clone, Serialize)]
pub struct Conditions {
    /// What the data are called.
    pub data: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) test: Option<String>,
    /// What the data are, in words.
    pub(super) model: String,
    pub(super) seeds: u64,
    pub(super) budget: String,
    pub(super) tolerance: f64,
    pub(super) gap_every: u64,
    pub(super) threads: usize,
    /// How many runs were made side by side, so that they share the machine.
    pub(super) side_by_side: usize,
    pub(super) version: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    #[serde(flatten)]
    pub conditions: Conditions,
    pub(super) n: usize,
    pub(super) d: usize,
    pub(super) lambdas: Vec<LambdaSummary>,
    /// Methods that do not apply, and why.
    pub(super) skipped: Vec<(String, String)>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct LambdaSummary {
    pub(super) lambda: f64,
    pub(super) best_dual: f64,
    pub(super) methods: Vec<MethodSummary>,
    pub(super) winners: Vec<Winner>,
    /// Who is ahead when the budget is spent.
    pub(super) at_end: Option<AtEnd>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct MethodSummary {
    pub(super) method: String,
    /// What it took to each gap level.
    pub(super) levels: Vec<Level>,
    /// At the end of the runs.
    pub(super) gap: Option<Spread>,
    pub(super) primal: Option<Spread>,
    pub(super) dual: Option<Spread>,
    pub(super) train_error: Option<Spread>,
    pub(super) test_error: Option<Spread>,
    pub(super) effective_passes: Option<Spread>,
    pub(super) seconds: Option<Spread>,
    pub(super) runs: Vec<RunSummary>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct Level {
    pub(super) gap: f64,
    /// How many runs have reached it.
    pub(super) reached: usize,
    /// If all have.
    pub(super) effective_passes: Option<Spread>,
    pub(super) seconds: Option<Spread>,
}

#[derive(Debug, Clone, Serialize)]
pub(super) struct RunSummary {
    pub(super) seed: u64,
    pub(super) status: maxmargin::Status,
    pub(super) gap: f64,
    pub(super) oracle_calls: u64,
    pub(super) seconds: f64,
    pub(super) trace: String,
}

/// Who comes first to a gap, by medians over the seeds.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Winner {
    pub(super) gap: f64,
    pub(super) fewest_calls: String,
    pub(super) effective_passes: f64,
    pub(super) least_time: String,
    pub(super) seconds: f64,
}

/// Who is ahead at the end of the runs, by medians over the seeds; of equals the first.
#[derive(Debug, Clone, Serialize)]
pub(super) struct AtEnd {
    pub(super) least_gap: Leader,
    pub(super) lowest_primal: Leader,
    pub(super) fewest_train_errors: Option<Leader>,
    pub(super) fewest_test_errors: Option<Leader>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Leader {
    pub(super) method: String,
    pub(super) value: f64,
}

impl AtEnd {
    fn of(methods: &[MethodSummary]) -> Option<Self> {
        let leader = |measure: Measure| {
            let known = methods.iter().filter_map(|method| Some((method, measure(method)?.median)));
            let known = known.filter(|(_, value)| value.is_finite());
            let (method, value) = known.min_by(|a, b| a.1.total_cmp(&b.1))?;
            Some(Leader { method: method.method.clone(), value })
        };
        Some(Self {
            least_gap: leader(|method| method.gap)?,
            lowest_primal: leader(|method| method.primal)?,
            fewest_train_errors: leader(|method| method.train_error),
            fewest_test_errors: leader(|method| method.test_error),
        })
    }

    fn in_words(&self) -> String {
        let mut text = format!(
            "At the end of the budget the winner is `{}`, with the smallest gap ({}); lowest objective `{}` ({})",
            self.least_gap.method,
            format_number(self.least_gap.value),
            self.lowest_primal.method,
            format_number(self.lowest_primal.value)
        );
        for (errors, what) in
            [(&self.fewest_train_errors, "training"), (&self.fewest_test_errors, "test")]
        {
            if let Some(Leader { method, value }) = errors {
                let _ = write!(text, ", fewest {what} errors `{method}` ({:.2} %)", 100.0 * value);
            }
        }
        text + "."
    }
}

/// The most gap levels in a table.
const LEVELS: usize = 4;

/// Powers of ten that some run reaches, the smallest ones, largest first.
fn levels(at: &AtLambda<'_>, tolerance: f64) -> Vec<f64> {
    let ends = at.groups.iter().filter_map(|group| group.last("gap"));
    let least = ends.map(|gap| gap.min).fold(f64::INFINITY, f64::min).max(tolerance);
    let decades = (-12..=6).rev().map(|power| 10f64.powi(power));
    // Gaps that half of the methods have at their first check tell nothing; and some have huge ones.
    let first = at.groups.iter().filter_map(|group| group.column("gap").first().copied().flatten());
    let largest = Spread::of(first.map(|gap| gap.median)).map_or(0.0, |gap| gap.median);
    // A little room for rounding: a tolerance of 1e-3 is the level 0.001.
    let mut found: Vec<f64> =
        decades.filter(|level| *level >= least * (1.0 - 1e-9) && *level < largest).collect();
    found.drain(..found.len().saturating_sub(LEVELS));
    found
}

impl Summary {
    pub(super) fn new(conditions: Conditions, results: &Results) -> Self {
        let tolerance = conditions.tolerance;
        let lambdas = by_lambda(results).into_iter().map(|at| LambdaSummary::new(&at, tolerance));
        Self {
            n: results.n,
            d: results.d,
            lambdas: lambdas.collect(),
            skipped: results.skipped.clone(),
            conditions,
        }
    }

    /// As a Markdown document.
    pub fn to_markdown(&self) -> String {
        let mut text =
            format!("# Methods compared on {}\n\n{}\n", self.conditions.data, self.how());
        for at in &self.lambdas {
            let _ = writeln!(text, "\n## λ = {}\n", format_number(at.lambda));
            text.push_str(&at.to_markdown());
        }
        for (method, why) in &self.skipped {
            let _ = writeln!(text, "\n{method} was left out: {why}.");
        }
        text
    }

    /// What is to be said of the times.
    fn times(&self) -> String {
        match self.conditions.side_by_side {
            1 => String::new(),
            jobs => format!(
                " Up to {jobs} runs were made side by side and shared the machine: compare oracle calls, and not \
                 seconds."
            ),
        }
    }

    /// How it was done, in words.
    pub(super) fn how(&self) -> String {
        let c = &self.conditions;
        let threads = match c.threads {
            0 => "all threads".to_owned(),
            1 => "one thread".to_owned(),
            more => format!("{more} threads"),
        };
        format!(
            "{}: n = {}, d = {}. Medians over {} seed{}; each run with {threads} and at most {}, \
             or until its gap is {}. An effective pass is n oracle calls, those of gap checks (every \
             {} passes unless the method says otherwise) included; time is that of training, gap \
             checks included, without the measuring of errors.{}",
            c.model,
            format_number(self.n as f64),
            format_number(self.d as f64),
            c.seeds,
            if c.seeds == 1 { "" } else { "s" },
            c.budget,
            format_number(c.tolerance),
            c.gap_every,
            self.times()
        )
    }
}

/// Something that is known of a method.
type Measure = fn(&MethodSummary) -> Option<Spread>;

impl LambdaSummary {
    fn new(at: &AtLambda<'_>, tolerance: f64) -> Self {
        let levels = levels(at, tolerance);
        let methods: Vec<MethodSummary> =
            at.groups.iter().map(|group| MethodSummary::new(group, &levels)).collect();
        let winners = (0..levels.len()).filter_map(|level| winner(&methods, level)).collect();
        let at_end = AtEnd::of(&methods);
        Self { lambda: at.lambda, best_dual: at.best_dual, methods, winners, at_end }
    }

    /// The heads of the columns; the first is text.
    pub(super) fn heads(&self) -> Vec<String> {
        let levels: Vec<String> = self.methods.first().map_or_else(Vec::new, |method| {
            method.levels.iter().map(|level| format_number(level.gap)).collect()
        });
        let mut heads = vec!["Method".to_owned()];
        heads.extend(levels.iter().map(|gap| format!("Passes to {gap}")));
        heads.extend(levels.iter().map(|gap| format!("Time to {gap}")));
        heads.push("Last gap".to_owned());
        heads.extend(self.measures().into_iter().map(|(head, _)| head.to_owned()));
        heads
    }

    /// The errors that were measured.
    fn measures(&self) -> Vec<(&'static str, Measure)> {
        let mut all: Vec<(&'static str, Measure)> = vec![
            ("Train error", |method| method.train_error),
            ("Test error", |method| method.test_error),
        ];
        all.retain(|(_, measure)| self.methods.iter().any(|method| measure(method).is_some()));
        all
    }

    pub(super) fn cells(&self, method: &MethodSummary) -> Vec<String> {
        let show = |spread: Option<Spread>, form: fn(f64) -> String| {
            spread.map_or_else(|| "–".to_owned(), |spread| form(spread.median))
        };
        let passes = method.levels.iter().map(|l| show(l.effective_passes, |p| format!("{p:.1}")));
        let seconds = method.levels.iter().map(|l| show(l.seconds, |s| format!("{s:.3} s")));
        let percent = |error: f64| format!("{:.2} %", 100.0 * error);
        let errors = self.measures().into_iter().map(|(_, measure)| show(measure(method), percent));
        std::iter::once(method.method.clone())
            .chain(passes)
            .chain(seconds)
            .chain([show(method.gap, |gap| format_significant(gap, 2))])
            .chain(errors)
            .collect()
    }

    fn to_markdown(&self) -> String {
        let heads = self.heads();
        let mut text = format!("| {} |\n|{}\n", heads.join(" | "), "---|".repeat(heads.len()));
        for method in &self.methods {
            let _ = writeln!(text, "| {} |", self.cells(method).join(" | "));
        }
        text.push('\n');
        for line in self.in_words() {
            let _ = writeln!(text, "- {line}");
        }
        text
    }

    /// Who wins, in words.
    pub(super) fn in_words(&self) -> Vec<String> {
        let at_end = self.at_end.as_ref().map(AtEnd::in_words);
        let line = |winner: &Winner| {
            format!(
                "To a gap of {}: fewest oracle calls `{}` ({:.1} n), least time `{}` ({:.3} s).",
                format_number(winner.gap),
                winner.fewest_calls,
                winner.effective_passes,
                winner.least_time,
                winner.seconds
            )
        };
        self.winners.iter().map(line).chain(at_end).collect()
    }
}

impl MethodSummary {
    fn new(group: &Group<'_>, levels: &[f64]) -> Self {
        let level = |&gap: &f64| {
            let (passes, seconds) = (group.when(gap, "passes"), group.when(gap, "seconds"));
            let reached = passes.len();
            let all = |values| Spread::of(values).filter(|_| reached == group.runs.len());
            Level { gap, reached, effective_passes: all(passes), seconds: all(seconds) }
        };
        let runs = group.runs.iter().map(|run| RunSummary {
            seed: run.seed,
            status: run.end.status,
            gap: run.end.certificate.gap,
            oracle_calls: run.end.totals.oracle_calls,
            seconds: run.end.totals.seconds,
            trace: run.trace.clone(),
        });
        Self {
            method: group.method.to_owned(),
            levels: levels.iter().map(level).collect(),
            gap: group.last("gap"),
            primal: group.last("primal"),
            dual: group.last("dual"),
            train_error: group.last("train"),
            test_error: group.last("test"),
            effective_passes: group.last("passes"),
            seconds: group.last("seconds"),
            runs: runs.collect(),
        }
    }
}

fn winner(methods: &[MethodSummary], level: usize) -> Option<Winner> {
    let first = |measure: fn(&Level) -> Option<Spread>| {
        let found = methods.iter().filter_map(|method| {
            let spread = measure(method.levels.get(level)?)?;
            Some((method.method.clone(), spread.median))
        });
        found.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let gap = methods.first()?.levels.get(level)?.gap;
    let (fewest_calls, effective_passes) = first(|level| level.effective_passes)?;
    let (least_time, seconds) = first(|level| level.seconds)?;
    Some(Winner { gap, fewest_calls, effective_passes, least_time, seconds })
}
