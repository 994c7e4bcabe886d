//! The report of a run.

mod blocks;
pub(crate) mod command;
mod lambda;

pub(crate) use lambda::LambdaCurve;

use crate::commands::{certificate_in_words, support_in_words, validation_in_words};
use crate::kind::draw::{WEIGHTS, heaviest};
use crate::kind::tested::Look;
use crate::kind::{Labelled, kernel, kind_of};
use anyhow::Result;
use command::file_name;
use maxmargin::observe::{Control, Event, Observer, Record, Totals};
use maxmargin::{Certificate, Quality, Status};
use maxmargin_io::Model;
use maxmargin_report::{
    Bar, Bars, Fact, Facts, Plot, Prose, Report, Series, Tone, XAxis, YAxis, format_number,
    format_seconds,
};

/// Keeps the rows of a run.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    rows: Vec<Record>,
    blocks: Option<blocks::Spread>,
    /// The last row of the round before, to which those of the next one are added.
    before: Option<Record>,
}

impl Observer for Trace {
    fn event(&mut self, event: Event<'_>) -> Control {
        match event {
            Event::Start(start) if start.resumed.is_none() => {
                self.before = self.rows.last().cloned();
            }
            Event::Pass { record, block_gaps } => {
                let mut row = record.clone();
                if let Some(before) = &self.before {
                    row.pass += before.pass;
                    row.oracle_calls += before.oracle_calls;
                    row.effective_passes += before.effective_passes;
                    row.seconds += before.seconds;
                }
                if let (Some(blocks), Some(gaps)) = (&mut self.blocks, block_gaps) {
                    blocks.add(row.pass, gaps);
                }
                self.rows.push(row);
            }
            _ => {}
        }
        Control::Continue
    }
}

impl Trace {
    /// Begins with the rows of a run that is resumed, as JSON lines.
    pub(crate) fn of(lines: &str) -> Self {
        // Other events have no such fields, and rows that cannot be read are only missed in a plot.
        let rows = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Self { rows, blocks: None, before: None }
    }

    /// Keeps the gaps of blocks too, for a report.
    pub(crate) fn with_blocks(self, wanted: bool) -> Self {
        Self { blocks: wanted.then(Default::default), ..self }
    }

    pub(crate) fn wants_blocks(&self) -> bool {
        self.blocks.is_some()
    }
}

/// What a page is made of, beside the model. Names of data may have folders, which the page leaves out.
pub(crate) struct Sources<'a> {
    /// What the page is about: training data, or a model file.
    pub(crate) about: &'a str,
    /// How the training went, if the page is about that.
    pub(crate) trace: Option<&'a Trace>,
    /// The search for λ, if there was one.
    pub(crate) curve: Option<&'a LambdaCurve>,
    /// Test data, and what they are called.
    pub(crate) test: Option<(&'a Labelled, &'a str)>,
    pub(crate) look: Look<'a>,
    /// The command line, beginning with the program.
    pub(crate) line: &'a [String],
}

/// The page of a model: how it does on test data, how it was trained, and what it has learned.
pub(crate) fn page(model: &Model, sources: &Sources<'_>) -> Result<Report> {
    let meta = &model.meta;
    let kind = kind_of(&meta.spec)?;
    let about = file_name(sources.about);
    let title = match (sources.trace, sources.test) {
        (None, Some((_, test))) => format!("{about} on {}", file_name(test)),
        _ => format!("maxmargin on {about}"),
    };
    let mut report = Report::new(title)
        .subtitle(format!(
            "{}, {} features; solver {}, λ = {}",
            kind.describe(),
            format_number(features(model) as f64),
            method(model),
            format_number(meta.certificate.lambda)
        ))
        .labels(kind.coloured(model))
        .footer(format!("maxmargin {}; training data {}", meta.version, meta.fingerprint));
    let tested = match sources.test {
        Some((data, name)) => Some((kind.tested(model, data, &sources.look)?, name)),
        None => None,
    };
    let mut of_test = Vec::new();
    if let Some((tested, name)) = tested {
        let facts =
            Facts::new("On the test data").note(format!("Measured on {}.", file_name(name)));
        report.push(tested.tiles.into_iter().fold(facts, Facts::fact));
        of_test = tested.sections;
    }
    report.push(certificate(model));
    report.push(facts(model));
    of_test.into_iter().for_each(|section| report.push(section));
    if let Some(curve) = sources.curve.and_then(LambdaCurve::draw) {
        report.push(curve);
    }
    if let Some(trace) = sources.trace {
        report.push(convergence(model, trace));
        report.push(time(model));
        if let Some(cache) = cache(trace) {
            report.push(cache);
        }
        if let Some(picture) = trace.blocks.as_ref().and_then(blocks::Spread::draw) {
            report.push(picture);
        }
    }
    if !kind.draws_weights(model)
        && let Some(weights) = heaviest(kind.largest_weights(model, WEIGHTS))
    {
        report.push(weights);
    }
    kind.draw(model).into_iter().for_each(|section| report.push(section));
    if let Some(settings) = command::settings(&meta.settings) {
        report.push(settings);
    }
    if let Some(command) = command::section(sources.line, &command::date()) {
        report.push(command);
    }
    Ok(report)
}

/// Number of features, messages of soft training left out.
fn features(model: &Model) -> usize {
    model.meta.d.saturating_sub(model.meta.spec.soft().map_or(0, |soft| soft.messages))
}

/// What the method is called.
fn method(model: &Model) -> &'static str {
    model.meta.settings.method.solver().name()
}

fn certificate(model: &Model) -> Prose {
    let mut prose = Prose::new("Certificate").paragraph(certificate_in_words(model));
    if model.meta.validation.is_some() {
        prose = prose.paragraph(validation_in_words(model));
    }
    if let Some(own) = model.meta.spec.kernel() {
        let kernel = kernel::in_words(&own.kernel);
        prose = prose.paragraph(format!("The kernel is {kernel}. {}", support_in_words(model)));
    }
    match &model.meta.choice {
        Some(choice) => prose.paragraph(format!("Chosen by auto: {}.", choice.reason)),
        None => prose,
    }
}

/// What kind of bound the gap is, where it is not one on the distance to the optimum.
fn of_what(c: &Certificate) -> &'static str {
    match c.quality {
        Quality::Exact => "",
        Quality::UpperBound => "of the relaxed problem",
        Quality::Heuristic | Quality::Unfinished => "the true gap may be larger",
        Quality::Unproven => "proves nothing",
    }
}

fn facts(model: &Model) -> Facts {
    let (meta, c, t) = (&model.meta, &model.meta.certificate, &model.meta.totals);
    let reached = matches!(meta.status, Status::Converged | Status::Patience);
    let tone = if reached { Tone::Good } else { Tone::Warning };
    let mut facts = Facts::new("Training")
        .fact(Fact::new("Status", meta.status.name()).hint(meta.status.explain()).tone(tone))
        .fact(Fact::new("Duality gap", format_number(c.gap)).hint(of_what(c)).tone(tone))
        .fact(Fact::new("Certificate", c.quality.name()).hint(model.solved_problem()))
        .fact(("Primal objective", format_number(c.primal).as_str()))
        .fact(("Dual objective", format_number(c.dual).as_str()))
        .fact(("λ", format_number(c.lambda).as_str()))
        .fact(("Examples", format_number(meta.n as f64).as_str()))
        .fact(("Features", format_number(features(model) as f64).as_str()))
        .fact(("Passes", format_number(t.passes as f64).as_str()))
        .fact(("Oracle calls", format_number(t.oracle_calls as f64).as_str()))
        .fact(("Time", format_seconds(t.seconds).as_str()))
        .fact(("Seed", meta.settings.seed.to_string().as_str()));
    if let Some(soft) = meta.spec.soft() {
        let violation = format_number(soft.violation.0);
        facts = facts
            .fact(("Messages", format_number(soft.messages as f64).as_str()))
            .fact(("Hard objective", format_number(soft.hard_objective).as_str()))
            .fact(Fact::new("Largest violation", violation).hint("of variables and factors"));
    }
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    if let Some(validation) = &meta.validation {
        let pass = format!("after pass {}", validation.pass);
        let error = Fact::new("Validation error", percent(validation.error));
        facts = facts.fact(error.hint(pass.as_str()));
    }
    facts
}

fn convergence(model: &Model, trace: &Trace) -> Plot {
    let rows = || trace.rows.iter();
    let share = |part: fn(&Record) -> u64| {
        rows().map(move |r| part(r) as f64 / r.steps.count.max(1) as f64)
    };
    let series = Series::new(method(model))
        .column("passes", rows().map(|r| r.effective_passes))
        .column("calls", rows().map(|r| r.oracle_calls as f64))
        .column("seconds", rows().map(|r| r.seconds))
        .column("gap", rows().map(|r| r.gap))
        .column("primal", rows().map(|r| r.primal))
        .column(
            "dual",
            rows().map(|r| r.gap.map(|_| r.dual).or(r.second.is_none().then_some(r.dual))),
        )
        .column("iterate", rows().map(|r| r.iterate_dual))
        .column("average", rows().map(|r| r.average_dual))
        .column("second", rows().map(|r| r.second))
        .column("validation", rows().map(|r| r.validation))
        .column("mean", rows().map(|r| r.steps.mean))
        .column("zero", share(|r| r.steps.zero))
        .column("full", share(|r| r.steps.full));
    let mut gap = YAxis::new("gap", "Duality gap").log();
    let tolerance = model.meta.settings.tolerance_at(model.meta.certificate.dual);
    if tolerance > 0.0 {
        gap = gap.guide("Tolerance", tolerance);
    }
    let note = match model.meta.spec.soft() {
        None => "An effective pass is as many oracle calls as there are examples.",
        Some(_) => {
            "An effective pass is as many oracle calls as there are blocks: variables and factors."
        }
    };
    let mut plot = Plot::new("Convergence")
        .note(note)
        .x(XAxis::new("passes", "Effective passes"))
        .x(XAxis::new("calls", "Oracle calls"))
        .x(XAxis::new("seconds", "Seconds"))
        .y(gap);
    plot = match rows().any(|row| row.second.is_some()) {
        false if rows().any(|row| row.average_dual.is_some()) => plot.y(YAxis::together(
            "Primal and dual objective",
            [
                ("primal", "Primal"),
                ("dual", "Best bound"),
                ("iterate", "Dual of the iterate"),
                ("average", "Dual of the average"),
            ],
        )),
        false => plot.y(YAxis::together(
            "Primal and dual objective",
            [("primal", "Primal"), ("dual", "Dual")],
        )),
        true => plot.y(YAxis::together(
            "Soft and hard objective",
            [("primal", "Soft primal"), ("dual", "Soft dual"), ("second", "Hard objective")],
        )),
    };
    if model.meta.validation.is_some() {
        plot = plot.y(YAxis::new("validation", "Validation error"));
    }
    plot.y(YAxis::together(
        "Step sizes",
        [("mean", "Mean step"), ("zero", "Share without a step"), ("full", "Share of full steps")],
    ))
    .series(series)
}

/// How remembered corners have done, where blocks remember them.
fn cache(trace: &Trace) -> Option<Plot> {
    let stats = || trace.rows.iter().filter_map(|row| Some((row, row.cache?)));
    if stats().count() < 2 {
        return None;
    }
    let share = |of: u64, all: u64| (all > 0).then(|| of as f64 / all as f64);
    // The share of hits since the row before.
    let before = std::iter::once((0, 0)).chain(stats().map(|(_, now)| (now.hits, now.misses)));
    let hits = stats().zip(before).map(|((_, now), (hits, misses))| {
        share(now.hits - hits, now.hits - hits + now.misses - misses)
    });
    let series = Series::new("cache")
        .column("pass", stats().map(|(row, _)| row.pass as f64))
        .column("seconds", stats().map(|(row, _)| row.seconds))
        .column("hits", hits)
        .column("corners", stats().map(|(_, now)| now.corners as f64))
        .column("active", stats().map(|(_, now)| now.active as f64))
        .column("megabytes", stats().map(|(_, now)| now.bytes as f64 / 1e6));
    let mut plot = Plot::new("Remembered corners")
        .note("A visit that a remembered corner serves costs no oracle call.")
        .x(XAxis::new("pass", "Passes"))
        .x(XAxis::new("seconds", "Seconds"));
    // Without a cache corners are remembered for the steps alone.
    if stats().any(|(_, now)| now.hits > 0) {
        plot = plot.y(YAxis::new("hits", "Share of visits without an oracle call"));
    }
    let plot = plot
        .y(YAxis::new("corners", "Corners remembered"))
        .y(YAxis::new("active", "Corners with mass"))
        .y(YAxis::new("megabytes", "Megabytes they take"));
    Some(plot.series(series))
}

fn time(model: &Model) -> Bars {
    let bar = time_bar(method(model), &model.meta.totals);
    Bars::new("Where the time went").unit("s").bar(bar)
}

/// Where the time of a run went.
pub(crate) fn time_bar(name: &str, t: &Totals) -> Bar {
    // The bar shows each second once. The oracle calls of gap passes count among all oracle calls, while
    // gap passes do more than that: what visits took is told by their share of the calls.
    let hits = t.cache.map_or(0, |cache| cache.hits);
    let share = t.visits.saturating_sub(hits) as f64 / t.oracle_calls.max(1) as f64;
    let at_least = (t.oracle_seconds - t.gap_seconds).max(0.0);
    let oracle = (t.oracle_seconds * share.min(1.0)).max(at_least);
    let oracle = oracle.min((t.seconds - t.gap_seconds).max(0.0));
    let rest = (t.seconds - oracle - t.gap_seconds).max(0.0);
    Bar::new(name)
        .part("Oracle", oracle)
        .part("Steps and the rest", rest)
        .part("Exact gap passes", t.gap_seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_is_shown_once() {
        let parts = |t: &Totals| -> Vec<f64> {
            time_bar("m", t).parts.iter().map(|(_, seconds)| *seconds).collect()
        };
        // 30 visits of 0.1 s; 10 calls in a gap pass, which took as long again to rebuild the weights.
        let mut totals = Totals::default();
        (totals.visits, totals.oracle_calls) = (30, 40);
        (totals.seconds, totals.oracle_seconds, totals.gap_seconds) = (6.0, 4.0, 2.0);
        assert_eq!(parts(&totals), [3.0, 1.0, 2.0]);
        // Batch methods know their gap without a pass of its own.
        let mut batch = totals;
        (batch.visits, batch.gap_seconds) = (0, 0.0);
        assert_eq!(parts(&batch), [4.0, 2.0, 0.0]);
        // Times of short calls are estimates, and may be too large.
        let mut noisy = totals;
        noisy.oracle_seconds = 40.0;
        assert_eq!(parts(&noisy), [4.0, 0.0, 2.0]);
    }
}
