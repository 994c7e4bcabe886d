//! Plots as HTML: the still picture, the data behind it, and tables of the numbers.

use std::fmt::Write as _;

use serde::{Serialize, Serializer};

use super::note;
use crate::escape::{json, text};
use crate::number::format_number;
use crate::plot::{Column, Guide, Plot, Series, View};
use crate::scale::{Domain, HUGE, Scale, TINY, Tick, round_digits};
use crate::{svg, thin};

#[derive(Serialize)]
struct PlotData<'a> {
    heading: &'a str,
    thinned: bool,
    x: Vec<AxisData<'a>>,
    y: Vec<AxisData<'a>>,
    series: Vec<SeriesData<'a>>,
}

#[derive(Serialize)]
struct AxisData<'a> {
    label: &'a str,
    log: bool,
    /// Ticks to pick from, of a linear and of a log axis.
    ticks: [Ladder; 2],
    curves: Vec<(&'a str, &'a str)>,
    guides: Vec<(&'a str, Cell)>,
}

/// Values and labels of ticks, from coarse to fine.
type Ladder = Vec<Vec<(Cell, String)>>;

#[derive(Serialize)]
struct SeriesData<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    off: bool,
    columns: std::collections::BTreeMap<&'a str, ColumnData>,
}

#[derive(Serialize)]
struct ColumnData {
    v: Vec<Cell>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lo: Vec<Cell>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hi: Vec<Cell>,
}

/// `null` for not measured, `false` for not to be drawn, or a number of nine digits.
pub(super) struct Cell(pub(super) Option<f64>);

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            None => serializer.serialize_none(),
            Some(value) if value.abs() <= HUGE => {
                let value = round_digits(value, 8);
                if value.fract() == 0.0 && value.abs() < 1e15 {
                    serializer.serialize_i64(value as i64)
                } else {
                    serializer.serialize_f64(value)
                }
            }
            Some(_) => serializer.serialize_bool(false),
        }
    }
}

fn cells(values: &[Option<f64>]) -> Vec<Cell> {
    values.iter().map(|&value| Cell(value)).collect()
}

/// The ladders of an axis that shows some columns, for both scales. Lines that are switched off may be far from the
/// others, and then there are rungs for both.
fn ladders(plot: &Plot, columns: &[&str], guides: &[Guide], pad: bool) -> [Ladder; 2] {
    let mut all = ladders_of(&plot.series, columns, guides, pad);
    if plot.series.iter().any(|series| series.off) {
        let on: Vec<Series> = plot.series.iter().filter(|series| !series.off).cloned().collect();
        for (all, on) in all.iter_mut().zip(ladders_of(&on, columns, guides, pad)) {
            all.extend(on);
        }
    }
    all
}

fn ladders_of(series: &[Series], columns: &[&str], guides: &[Guide], pad: bool) -> [Ladder; 2] {
    let shown = || series.iter().flat_map(|series| columns.iter().map(|key| series.get(key)));
    let values = || {
        let of = |column: &Column| {
            let all = [&column.values, &column.low, &column.high];
            all.into_iter().flatten().copied().flatten().collect::<Vec<f64>>()
        };
        shown().flatten().flat_map(of).chain(guides.iter().map(|guide| guide.value))
    };
    [Scale::Linear, Scale::Log].map(|scale| {
        let fits = |value: &f64| value.abs() <= HUGE && (scale == Scale::Linear || *value >= TINY);
        let low = values().filter(fits).fold(f64::INFINITY, f64::min);
        let high = values().filter(fits).fold(f64::NEG_INFINITY, f64::max);
        if low > high {
            return Vec::new();
        }
        let rungs = Domain::around(scale, low, high, pad).ladder().into_iter();
        let written = |tick: Tick| (Cell(Some(tick.value)), tick.label);
        rungs.map(|rung| rung.into_iter().map(written).collect()).collect()
    })
}

fn plot_data<'a>(plot: &'a Plot, thinned: bool) -> PlotData<'a> {
    let x = plot.x.iter().map(|axis| AxisData {
        label: &axis.label,
        log: axis.scale == Scale::Log,
        ticks: ladders(plot, &[&axis.column], &[], false),
        curves: vec![(&axis.column, &axis.label)],
        guides: Vec::new(),
    });
    let y = plot.y.iter().map(|axis| AxisData {
        label: &axis.label,
        log: axis.scale == Scale::Log,
        ticks: {
            let columns: Vec<&str> = axis.curves.iter().map(|curve| &*curve.column).collect();
            ladders(plot, &columns, &axis.guides, true)
        },
        curves: axis
            .curves
            .iter()
            .map(|curve| (curve.column.as_str(), curve.label.as_str()))
            .collect(),
        guides: axis
            .guides
            .iter()
            .map(|guide| (guide.label.as_str(), Cell(Some(guide.value))))
            .collect(),
    });
    let column = |column: &'a Column| {
        let data = ColumnData {
            v: cells(&column.values),
            lo: cells(&column.low),
            hi: cells(&column.high),
        };
        (column.key.as_str(), data)
    };
    let series = plot.series.iter().map(|series| SeriesData {
        name: &series.name,
        off: series.off,
        columns: series.columns.iter().map(column).collect(),
    });
    PlotData {
        heading: &plot.heading,
        thinned,
        x: x.collect(),
        y: y.collect(),
        series: series.collect(),
    }
}

pub(super) fn plot(out: &mut String, section: &Plot) {
    note(out, &section.note);
    let thin = thin::plot(section);
    let thinned = section.series.iter().any(|series| series.len() > thin::MOST_ROWS);
    let _ = writeln!(
        out,
        "<figure class=\"plot\">\n<div class=\"canvas\">{}</div>",
        svg::inline(&thin)
    );
    if let (Some(x), Some(y)) = (thin.x.first(), thin.y.first()) {
        let view = View::new(&thin, x, y, x.scale, y.scale);
        if view.dropped > 0 {
            let _ = writeln!(out, "<p class=\"dropped\">{}</p>", dropped(view.dropped));
        }
    }
    let _ = writeln!(
        out,
        "<script type=\"application/json\">{}</script>",
        json(&plot_data(&thin, thinned))
    );
    data_tables(out, section);
    out.push_str("</figure>\n");
}

/// The same words as in `assets/report.js`.
fn dropped(count: usize) -> String {
    if count == 1 {
        "1 point at or below zero has no place on a log axis and is left out.".into()
    } else {
        format!("{count} points at or below zero have no place on a log axis and are left out.")
    }
}

/// The most rows of a series in the table under a plot.
const TABLE_ROWS: usize = 24;
/// The most series in tables under a plot.
const TABLE_SERIES: usize = 24;

/// The data in words and numbers, for those who cannot see the picture.
fn data_tables(out: &mut String, plot: &Plot) {
    let mut columns: Vec<(&str, &str)> = Vec::new();
    let x = plot.x.iter().map(|axis| (axis.column.as_str(), axis.label.as_str()));
    let y = plot.y.iter().flat_map(|axis| {
        axis.curves.iter().map(|curve| (curve.column.as_str(), curve.label.as_str()))
    });
    for (key, label) in x.chain(y) {
        if columns.iter().all(|known| known.0 != key) {
            columns.push((key, label));
        }
    }
    if plot.series.iter().all(Series::is_empty) || columns.is_empty() {
        return;
    }
    out.push_str("<details><summary>The numbers</summary>\n");
    for series in plot.series.iter().take(TABLE_SERIES) {
        let rows = table_rows(series, &columns);
        let shown: Vec<&(&str, &str)> =
            columns.iter().filter(|(key, _)| series.get(key).is_some()).collect();
        let name = text(&series.name);
        let _ = write!(
            out,
            "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Numbers: {name}\"><table><caption>{name}"
        );
        if rows.len() < series.len() {
            let total = format_number(series.len() as f64);
            let _ = write!(out, " <small>({} of {total} rows)</small>", rows.len());
        }
        out.push_str("</caption><thead><tr>");
        for (_, label) in &shown {
            let _ = write!(out, "<th scope=\"col\" class=\"num\">{}</th>", text(label));
        }
        out.push_str("</tr></thead><tbody>\n");
        for row in rows {
            out.push_str("<tr>");
            for (key, _) in &shown {
                let value = series.get(key).and_then(|column| column.value(row));
                let cell = value.map_or_else(|| "–".into(), format_number);
                let _ = write!(out, "<td class=\"num\">{cell}</td>");
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>\n");
    }
    if plot.series.len() > TABLE_SERIES {
        let _ = writeln!(out, "<p>And {} more series.</p>", plot.series.len() - TABLE_SERIES);
    }
    out.push_str("</details>\n");
}

/// Evenly spaced rows, among those with the most values where there are enough of them.
fn table_rows(series: &Series, columns: &[(&str, &str)]) -> Vec<usize> {
    let found: Vec<&Column> = columns.iter().filter_map(|(key, _)| series.get(key)).collect();
    let filled = |row: usize| found.iter().filter(|column| column.value(row).is_some()).count();
    let counts: Vec<usize> = (0..series.len()).map(filled).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    let full: Vec<usize> = (0..counts.len()).filter(|&row| counts[row] == most).collect();
    let rows: Vec<usize> = if counts.len() > TABLE_ROWS && full.len() >= 3 {
        full
    } else {
        (0..counts.len()).collect()
    };
    if rows.len() <= TABLE_ROWS {
        return rows;
    }
    (0..TABLE_ROWS).map(|index| rows[index * (rows.len() - 1) / (TABLE_ROWS - 1)]).collect()
}
