//! The distance from the hard optimum against the number of examples.

use super::runs::{Labels, Limits, Rho, Run, SoftMethod};
use super::table::last;
use super::{LAMBDA, SETS};
use crate::reproduce::claims::Findings;
use crate::reproduce::lab::{DataSet, Lab};
use anyhow::Result;
use maxmargin::Rng;
use maxmargin::inference::Inference;
use maxmargin::model::LabelledRows;
use maxmargin_report::{Plot, Series, XAxis, YAxis, format_number, slug};
use serde_json::json;

/// The loss of soft training against the number of examples.
pub(in crate::reproduce) fn figure_3(lab: &Lab<'_>) -> Result<Findings> {
    let mut findings = Findings::default();
    for set in SETS {
        difference(lab, &set, &mut findings)?;
    }
    Ok(findings)
}

/// How far the soft optimum of one data set is from the hard one, against the number of examples.
fn difference(lab: &Lab<'_>, set: &DataSet, findings: &mut Findings) -> Result<()> {
    let limits = Limits {
        epochs: 300,
        seconds: lab.or_quick(120.0, 7.0),
        lp_seconds: 0.0,
        tolerance: 1e-3,
        gap_every: 5,
    };
    let Some(whole) = Labels::read(lab, set, limits)? else { return Ok(()) };
    let sizes = lab.or_quick(&[50, 100, 200, 400, 800, 1500][..], &[50, 150, 450][..]);
    let draws = lab.or_quick(10, 1);
    lab.note(format!(
        "{draws} random subsets of each size, each trained to a gap of {}.",
        limits.tolerance
    ));
    for rho in [Rho::number(1.0), Rho::share(1.0)] {
        growth(lab, &whole, rho, (sizes, draws), findings)?;
    }
    Ok(())
}

/// The distance at one ρ, against the number of examples.
fn growth(
    lab: &Lab<'_>,
    whole: &Labels<'_>,
    rho: Rho,
    (sizes, draws): (&[usize], u64),
    findings: &mut Findings,
) -> Result<()> {
    let name = format!("{}, {}", whole.name, rho.name(whole.spec.shape.labels));
    let mut points = Vec::new();
    for &size in sizes {
        let mut lost = 0.0;
        // There is only one way to draw all of them.
        let draws = if size < whole.train.len() { draws } else { 1 };
        for draw in 1..=draws {
            let mut order: Vec<usize> = (0..whole.train.len()).collect();
            Rng::new(draw).shuffle(&mut order);
            let mut keep = vec![false; order.len()];
            order.iter().take(size).for_each(|&i| keep[i] = true);
            let part = Labels {
                lab,
                name: format!("{}, {size} examples, draw {draw}", whole.name),
                own: json!({ "whole": whole.own, "examples": size, "draw": draw }),
                spec: whole.spec.clone(),
                train: whole.train.select(|i| keep[i]),
                test: LabelledRows::new(),
                limits: whole.limits,
            };
            let soft = part.soft(SoftMethod::Auto, rho)?;
            let hard = part.relaxed(Inference::RoofDuality)?;
            let end = |run: &Run| last(run).map_or(f64::NAN, |row| row.hard);
            lost += (end(&soft) - end(&hard)) / draws as f64;
        }
        points.push((size as f64, lost));
    }
    let plot = Plot::new(format!("{name}: hard objective of soft weights above the optimum"))
        .x(XAxis::new("x", "Examples").log())
        .y(YAxis::new("y", "Difference").log())
        .series(Series::xy("difference", points.iter().copied()));
    findings.add_plot(&format!("3-{}", slug(&name)), plot);
    let told: Vec<String> =
        points.iter().map(|(size, lost)| format!("M = {size}: {}", format_number(*lost))).collect();
    let growth = points.first().zip(points.last());
    findings.claim(
        "Figure 3",
        "The difference in objectives grows much slower than linearly with the number of examples",
        format!("{name}, λ = {LAMBDA}"),
        told.join(", "),
        growth
            .filter(|(a, b)| a.1.is_finite() && b.1.is_finite())
            .map(|(a, b)| b.1 / a.1 < 0.5 * b.0 / a.0),
    );
    Ok(())
}
