//! Objectives against epochs.

use super::runs::{Labels, Limits, Rho, Run, SoftMethod};
use super::table::{best, last, series, table};
use super::{LAMBDA, SETS};
use crate::reproduce::claims::Findings;
use crate::reproduce::lab::{DataSet, Lab};
use anyhow::Result;
use maxmargin::inference::Inference;
use maxmargin_report::{Plot, Series, XAxis, YAxis, format_number, slug};

/// Objectives against epochs, for several ρ.
pub(in crate::reproduce) fn figure_1(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    for set in SETS {
        objectives(lab, &set, &mut findings)?;
    }
    Ok(findings)
}

/// Objectives of one data set against epochs, and against ρ at the end.
fn objectives(lab: &Lab<'_>, set: &DataSet, findings: &mut Findings) -> Result<()> {
    let limits = Limits {
        epochs: lab.or_quick(300, 15),
        seconds: lab.or_quick(600.0, 10.0),
        lp_seconds: 0.0,
        tolerance: 1e-6,
        gap_every: 5,
    };
    let Some(data) = Labels::read(lab, set, limits)? else { return Ok(()) };
    let labels = data.spec.shape.labels;
    let all = [
        Rho::number(10.0),
        Rho::number(1.0),
        Rho::share(10.0),
        Rho::number(0.1),
        Rho::share(1.0),
        Rho::share(0.1),
    ];
    let rhos = lab.or_quick(&all[..], &all[1..5]);
    let soft = |&rho: &Rho| data.soft(SoftMethod::Algorithm1, rho);
    let mut runs = rhos.iter().map(soft).collect::<Result<Vec<Run>>>()?;
    runs.push(data.relaxed(Inference::RoofDuality)?);
    let optimum = best(&runs);
    let mut plot = Plot::new(format!("{}: objectives against epochs", set.name))
        .x(XAxis::new("epochs", "Epochs").log())
        .x(XAxis::new("seconds", "Seconds").log())
        .y(YAxis::together(
            "Objectives",
            [("primal", "soft primal"), ("dual", "soft dual"), ("hard", "hard")],
        )
        .guide("best hard", optimum))
        .y(YAxis::new("hard", "Hard objective").log().guide("best hard", optimum));
    for run in &runs {
        plot = plot.series(series(run));
    }
    findings.add_plot(&format!("1-left-{}", slug(set.name)), plot);
    let ends: Vec<(f64, f64, f64)> = rhos
        .iter()
        .zip(&runs)
        .filter_map(|(&rho, run)| {
            last(run).and_then(|row| Some((rho.value(labels), row.primal?, row.hard)))
        })
        .collect();
    let plot = Plot::new(format!("{}: objectives at the end against ρ", set.name))
        .x(XAxis::new("rho", "ρ").log())
        .y(YAxis::together("Objective", [("soft", "soft"), ("hard", "hard")])
            .guide("best hard", optimum))
        .series(
            Series::new("end")
                .column("rho", ends.iter().map(|end| end.0))
                .column("soft", ends.iter().map(|end| end.1))
                .column("hard", ends.iter().map(|end| end.2)),
        );
    findings.add_plot(&format!("1-right-{}", slug(set.name)), plot);
    table(findings, set.name, &runs);
    let on = format!("{}, λ = {LAMBDA}", set.name);
    let apart = |end: &(f64, f64, f64)| (end.2 - end.1).abs() / end.2;
    let told: Vec<String> = ends
        .iter()
        .map(|end| format!("ρ = {}: {:.1} %", format_number(end.0), 100.0 * apart(end)))
        .collect();
    let tenth = Rho::number(0.1).value(labels);
    let small: Vec<&(f64, f64, f64)> = ends.iter().filter(|end| end.0 <= tenth).collect();
    findings.claim(
        "Figure 1",
        format!(
            "For ρ ≤ 0.1 (here {}) the soft objective and the constrained one are practically \
             indistinguishable (here: within 1 %)",
            format_number(tenth)
        ),
        on.as_str(),
        format!("apart at the end by {}", told.join(", ")),
        (!small.is_empty()).then(|| small.iter().all(|end| apart(end) < 0.01)),
    );
    let told: Vec<String> = ends
        .iter()
        .map(|end| format!("ρ = {}: {}", format_number(end.0), format_number(end.2)))
        .collect();
    let one = ends.iter().find(|end| end.0 == Rho::number(1.0).value(labels));
    let least = ends.iter().map(|end| end.2).fold(f64::INFINITY, f64::min);
    findings.claim(
        "Figure 1",
        format!(
            "ρ = 1 (here {labels}) works well across budgets (here: the least hard objective at the end, within \
             1 %)"
        ),
        on,
        format!(
            "hard objective {}; the optimum is at most {}",
            told.join(", "),
            format_number(optimum)
        ),
        one.map(|one| one.2 <= 1.01 * least),
    );
    Ok(())
}
