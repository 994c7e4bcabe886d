//! Minding the gaps (2016): how stale block gaps may be, and when the cache may be believed.

use super::claims::Findings;
use super::lab::{DataSet, Lab, OCR_LARGE, OCR_SMALL};
use anyhow::{Result, bail};
use maxmargin::model::chain::Chain;
use maxmargin::{Problem as _, ProblemExt as _, SparseVec};
use maxmargin_command::lab::{Comparison, Row, Run, Spread, by_lambda, convergence, read_training};
use maxmargin_io::{Examples, Spec};
use maxmargin_report::{Heatmap, Plot, Series, XAxis, YAxis, format_number, slug};

/// So seldom that it never happens.
const NEVER: &str = "1000000000";

/// Gaps refreshed every so many passes.
const EVERY: [&str; 5] = ["1", "5", "10", "100", NEVER];

fn name_of(every: &str) -> String {
    if every == NEVER { "gap, never".to_owned() } else { format!("gap, every {every}") }
}

/// A curve of one method over runs of growing budgets, or of one long run: passes, gap, estimate.
struct Curve {
    name: String,
    points: Vec<[Option<f64>; 3]>,
}

/// Gap sampling with gaps refreshed every 1, 5, 10, 100 passes and never.
pub(super) fn figure_1(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    refreshes(lab, &OCR_SMALL, "1", &mut findings)?;
    if !lab.quick {
        refreshes(lab, &OCR_LARGE, "0.1", &mut findings)?;
    }
    Ok(findings)
}

/// Gap sampling on one data set.
fn refreshes(lab: &Lab<'_>, set: &DataSet, lambda: &str, findings: &mut Findings) -> Result<()> {
    let (most, seeds) = lab.or_quick((200, 5), (50, 1));
    let options = |method: &str, passes: u32| {
        format!(
            "--methods {method} --lambdas {lambda} --seeds {seeds} --budget {passes} --gap-every 5 \
             --tolerance 1e-9"
        )
    };
    lab.note(format!(
        "{} at λ = {lambda}, medians over {seeds} seeds. The paper states neither the size nor λ; this is the \
         largest of its λ for OCR large, or the one with the same λ·n.",
        set.name
    ));
    let uniform = "bcfw+uniform+block-gaps=true";
    let mut curves = Vec::new();
    let mut factors = Vec::new();
    // Its gap checks, every five passes, do not count.
    if let Some(race) = lab.race(set, &options(uniform, most * 6 / 5))? {
        curves.push(curve("uniform", &race, true));
        factors.push(("uniform", gaps_of(&race)));
    }
    for every in EVERY {
        let method = format!("bcfw+gap+block-gaps=true+gap-every={every}");
        let name = name_of(every);
        if every != "100" && every != NEVER {
            if let Some(race) = lab.race(set, &options(&method, most))? {
                curves.push(curve(&name, &race, false));
                if every == "10" {
                    factors.push(("gap sampling", gaps_of(&race)));
                }
            }
            continue;
        }
        // A run that hardly ever looks at its gap is looked at from outside: it is stopped after ever
        // more passes, and its last gap is exact.
        let mut points = Vec::new();
        for passes in [2, 5, 10, 20, 50, 100, 200].into_iter().filter(|p| *p <= most) {
            let part = format!("{every}-stopped-after-{passes}");
            if let Some(race) = lab.race_in(set, &options(&method, passes), &part)? {
                points.extend(curve(&name, &race, false).points.pop());
            }
        }
        if !points.is_empty() {
            curves.push(Curve { name, points });
        }
    }
    let plot = |heading: &str, y: YAxis, column: fn(&[Option<f64>; 3]) -> Option<f64>| {
        let mut plot = Plot::new(heading).x(XAxis::new("passes", "Effective passes").log()).y(y);
        for curve in &curves {
            let series = Series::new(curve.name.as_str())
                .column("passes", curve.points.iter().map(|point| point[0]))
                .column("y", curve.points.iter().map(column));
            plot = plot.series(series);
        }
        plot
    };
    let gap = YAxis::new("y", "Duality gap").log();
    if curves.is_empty() {
        return Ok(());
    }
    let own = slug(set.name);
    findings.add_plot(
        &format!("1a-gap-{own}"),
        plot("Exploitation and staleness", gap, |point| point[1]),
    );
    let ratio = YAxis::new("y", "Estimated gap divided by the true one").log().guide("exact", 1.0);
    let heading = "Quality of the estimates";
    findings.add_plot(&format!("1b-estimate-{own}"), plot(heading, ratio, |p| Some(p[2]? / p[1]?)));
    let chi = predicted(findings, &factors, set)?;
    claims(findings, &curves, chi, &format!("{}, λ = {lambda}", set.name));
    Ok(())
}

/// The only method of a race, with medians over its seeds. Gap checks that only watch are not counted.
fn curve(name: &str, race: &Comparison, watched: bool) -> Curve {
    let n = race.results.n as f64;
    let known = |run: &Run| -> Vec<[Option<f64>; 3]> {
        let rows = run.rows.iter().filter(|row| row.record.gap.is_some());
        rows.map(|row: &Row| {
            let calls = if watched { row.record.visits } else { row.record.oracle_calls };
            [Some(calls as f64 / n), row.record.gap, row.known_gap]
        })
        .collect()
    };
    let runs: Vec<_> = race.results.runs.iter().map(known).collect();
    let checks = runs.iter().map(Vec::len).min().unwrap_or(0);
    let median = |check: usize, column: usize| {
        let values = runs.iter().filter_map(|rows| rows[check][column]);
        Spread::of(values).map(|spread| spread.median)
    };
    let points = (0..checks).map(|check| [0, 1, 2].map(|column| median(check, column))).collect();
    Curve { name: name.to_owned(), points }
}

/// Passes, and the gaps of all blocks there.
type BlockGaps = Vec<(f64, Vec<f64>)>;

/// Those of the only run of a race.
fn gaps_of(race: &Comparison) -> BlockGaps {
    let rows = race.results.runs.first().map_or(&[][..], |run: &Run| &run.rows);
    let known = |row: &Row| Some((row.record.effective_passes, row.block_gaps.clone()?));
    rows.iter().filter_map(known).collect()
}

/// χ(x) = √(1 + n² Var p) with p = x/Σx.
fn chi(x: &[f64]) -> f64 {
    let (n, sum) = (x.len() as f64, x.iter().map(|x| x.max(0.0)).sum::<f64>());
    if sum <= 0.0 {
        return 1.0;
    }
    let variance = x.iter().map(|x| (x.max(0.0) / sum - 1.0 / n).powi(2)).sum::<f64>() / n;
    (1.0 + n * n * variance).sqrt()
}

/// The improvement that Theorem 2 predicts, χ(g)³/χ(C), along runs; returns its range.
fn predicted(
    findings: &mut Findings,
    factors: &[(&str, BlockGaps)],
    set: &DataSet,
) -> Result<Option<Spread>> {
    let lengths = lengths(if set.name == OCR_LARGE.name { "ocr-large" } else { "ocr-small" })?;
    let curvature = chi(&lengths);
    let mut plot = Plot::new("Improvement predicted by Theorem 2")
        .note(
            "χ(g)³/χ(C) at the gaps of both runs. The curvatures C are taken in proportion to ‖ψ(y)‖², y \
             being what the oracle finds at w = 0.",
        )
        .x(XAxis::new("passes", "Effective passes").log())
        .y(YAxis::new("factor", "Factor").log().guide("no gain", 1.0));
    let mut all = Vec::new();
    for (name, rows) in factors {
        let values: Vec<f64> = rows.iter().map(|(_, gaps)| chi(gaps).powi(3) / curvature).collect();
        let series = Series::new(*name)
            .column("passes", rows.iter().map(|(passes, _)| *passes))
            .column("factor", values.iter().copied());
        plot = plot.series(series);
        all.extend(values);
    }
    findings.add_plot(&format!("1c-factor-{}", slug(set.name)), plot);
    Ok(Spread::of(all))
}

/// ‖ψᵢ(yᵢ)‖² of all examples, yᵢ being what the oracle finds at w = 0.
fn lengths(name: &str) -> Result<Vec<f64>> {
    let data = read_training(&super::lab::plain_args(name)?)?;
    let (Spec::Chain(spec), Examples::Sequences(words)) = (data.spec, data.examples) else {
        bail!("{name}: these are no sequences");
    };
    let problem = Chain::new(spec.shape, words, &spec.loss)?;
    let w = vec![0.0; problem.dim()];
    let (mut workspace, mut y, mut psi) = (problem.workspace(), Vec::new(), SparseVec::new());
    let length = |i: usize| {
        problem.prepare(i, &w, &mut workspace);
        problem.oracle(i, &w, &mut workspace, &mut y);
        psi.clear();
        problem.psi(i, &y, &mut psi);
        psi.normalise();
        psi.norm_sq()
    };
    Ok((0..problem.examples()).map(length).collect())
}

fn claims(findings: &mut Findings, curves: &[Curve], chi: Option<Spread>, on: &str) {
    let find = |name: &str| curves.iter().find(|curve| curve.name == name);
    let passes = |curve: &Curve, most: f64| {
        let all = curve.points.iter().filter_map(|point| point[0]);
        all.filter(|x| *x <= most).fold(0.0, f64::max)
    };
    // As many passes as all of them have done, at a moment at which the one without checks was stopped.
    let most = curves.iter().map(|c| passes(c, f64::INFINITY)).fold(f64::INFINITY, f64::min);
    let most = find(&name_of(NEVER)).map_or(most, |never| passes(never, 1.01 * most));
    let end = |name: &str| {
        let early = |point: &&[Option<f64>; 3]| point[0].is_some_and(|x| x <= 1.01 * most);
        find(name)?.points.iter().rev().find(early)?[1]
    };
    let (never, ten) = (end(&name_of(NEVER)), end(&name_of("10")));
    let (one, five, uniform) = (end(&name_of("1")), end(&name_of("5")), end("uniform"));
    let ratio =
        find(&name_of(NEVER)).and_then(|c| c.points.last()).and_then(|p| Some(p[2]? / p[1]?));
    let on = format!("{on}, after {most:.0} effective passes");
    let on = on.as_str();
    let show = |x: Option<f64>| x.map_or_else(|| "–".to_owned(), format_number);
    let less = |a: Option<f64>, b: Option<f64>| Some(a? < b?);
    findings.claim(
        "Figure 1b",
        "Without refreshing, the gap becomes significantly underestimated",
        on,
        format!("at the end the estimate is {} of the true gap", show(ratio)),
        ratio.map(|ratio| ratio < 0.5),
    );
    findings.claim(
        "Figure 1a",
        "Without refreshing, the method does not converge",
        on,
        format!("gap {} against {} with a refresh every 10 passes", show(never), show(ten)),
        less(ten.map(|gap| 2.0 * gap), never),
    );
    findings.claim(
        "Figure 1a",
        "Refreshing after every pass wastes computations",
        on,
        format!("gap {} against {} every 10 passes", show(one), show(ten)),
        less(ten, one),
    );
    findings.claim(
        "Figure 1a",
        "Between the extremes the method is not sensitive",
        on,
        format!("gap {} every 5 passes, {} every 10", show(five), show(ten)),
        five.zip(ten).map(|(a, b)| a.max(b) < 2.0 * a.min(b)),
    );
    findings.claim(
        "Figure 1a",
        "Gap sampling converges faster than uniform sampling",
        on,
        format!(
            "gap {} every 10 passes against {} (whose gap checks are not counted)",
            show(ten),
            show(uniform)
        ),
        less(ten, uniform),
    );
    findings.claim(
        "Figure 1c",
        "Theorem 2 predicts an improvement over uniform sampling (a factor above 1)",
        on,
        chi.map_or_else(
            || "–".to_owned(),
            |chi| {
                let (min, max) = (format_number(chi.min), format_number(chi.max));
                format!("factors from {min} to {max}, median {}", format_number(chi.median))
            },
        ),
        chi.map(|chi| chi.median > 1.0),
    );
}

/// The cache at F and ν of all sizes.
pub(super) fn figure_2(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    let sizes =
        lab.or_quick(&["0", "0.01", "0.1", "0.25", "1", "10"][..], &["0", "0.25", "10"][..]);
    let weights =
        lab.or_quick(&["0", "0.001", "0.01", "0.1", "1", "10"][..], &["0", "0.01", "10"][..]);
    let (seeds, passes) = lab.or_quick((3, 100), (1, 20));
    lab.note("OCR small at λ = 0.01; the paper states neither the size nor λ.");
    let method = |f: &str, nu: &str| format!("bcfw+gap+cache+cache-factor={f}+cache-nu={nu}");
    let all: Vec<String> =
        sizes.iter().flat_map(|f| weights.iter().map(move |nu| method(f, nu))).collect();
    let options = format!(
        "--methods {} --lambdas 0.01 --seeds {seeds} --budget {passes} --gap-every 10 \
         --tolerance 1e-6",
        all.join(",")
    );
    let Some(race) = lab.race(&OCR_SMALL, &options)? else { return Ok(findings) };
    let value = |f: &str, nu: &str, measure: &dyn Fn(&Run) -> Option<f64>| {
        let name = method(f, nu);
        let runs = race.results.runs.iter().filter(|run| run.method == name);
        Spread::of(runs.filter_map(measure)).map_or(f64::NAN, |spread| spread.median)
    };
    let hits = |run: &Run| {
        let cache = run.end.totals.cache?;
        Some(cache.hits as f64 / (cache.hits + cache.misses).max(1) as f64)
    };
    let gap = |run: &Run| Some(run.end.certificate.gap);
    let mut map = |heading: &str, note: &str, measure: &dyn Fn(&Run) -> Option<f64>| {
        let values = sizes.iter().flat_map(|f| weights.iter().map(|nu| value(f, nu, measure)));
        let rows = sizes.iter().map(|f| format!("F = {f}"));
        let columns = weights.iter().map(|nu| format!("ν = {nu}"));
        let map = Heatmap::new(heading, rows, columns, values.collect()).note(note);
        findings.sections.push(map.axes("local", "global").into());
    };
    map("Share of visits that the cache serves", "Figure 2a: the regimes.", &hits);
    map("Gap at the end", "After the same number of oracle calls.", &gap);
    let on = "OCR small, λ = 0.01";
    let (most, least) = ("10", "0");
    let large = value(most, "0.01", &hits).max(value("0.25", most, &hits));
    let small = value(least, least, &hits);
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    findings.claim(
        "Section 3.3",
        "If F or ν is too large, the cache is almost never hit",
        on,
        format!("at most {} of the visits at F or ν = {most}", percent(large)),
        Some(large < 0.05),
    );
    findings.claim(
        "Section 3.3",
        "If both are small, it is hit almost always, and the method does not converge",
        on,
        format!(
            "{} of the visits at F = ν = 0, last gap {} against {} at F = 0.25, ν = 0.01",
            percent(small),
            format_number(value(least, least, &gap)),
            format_number(value("0.25", "0.01", &gap))
        ),
        Some(small > 0.9 && value(least, least, &gap) > value("0.25", "0.01", &gap)),
    );
    let local = value("0.25", least, &gap);
    let global = value(least, "0.01", &gap);
    findings.claim(
        "Section 3.3",
        "The local component (F) dominating leads to faster convergence",
        on,
        format!(
            "last gap {} with F = 0.25 alone, {} with ν = 0.01 alone",
            format_number(local),
            format_number(global)
        ),
        Some(local < global),
    );
    let plots = by_lambda(&race.results);
    if let Some(at) = plots.first() {
        let heading = "Evolution of the gap";
        findings.add_plot("2b", convergence(at, heading));
    }
    let tables = race.summary.to_markdown().replace("\n## ", "\n### ");
    findings.details = format!("\n#{tables}");
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chi_measures_how_uneven_values_are() {
        assert_eq!(chi(&[2.0, 2.0, 2.0]), 1.0);
        // All in one of n: p has the variance (n − 1)/n², so χ = √n.
        assert!((chi(&[0.0, 5.0, 0.0, 0.0]) - 2.0).abs() < 1e-12);
        assert_eq!(chi(&[0.0, 0.0]), 1.0);
    }
}
