//! The page.

use std::fmt::Write as _;

use serde::{Serialize, Serializer};

use crate::escape::{json, text};
use crate::number::{format_number, format_seconds};
use crate::plot::{Column, Plot, Series, View};
use crate::png;
use crate::scale::{HUGE, Scale, round_digits};
use crate::sections::{
    Bars, Bitmap, Code, Facts, Heatmap, Prose, Section, Shade, Table, Tiles, Tone, Words, countable,
};
use crate::{Report, palette, svg, thin};

pub(crate) const STYLE: &str = include_str!("assets/report.css");
pub(crate) const SCRIPT: &str = include_str!("assets/report.js");

/// From this many sections on, the page has a list of contents.
const CONTENTS_FROM: usize = 4;

pub(crate) fn page(report: &Report) -> String {
    let mut out = String::with_capacity(STYLE.len() + SCRIPT.len() + 16_384);
    out.push_str("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    out.push_str("<meta name=\"color-scheme\" content=\"light dark\">\n");
    // The page asks for nothing over a network, and this keeps it so.
    out.push_str(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n",
    );
    out.push_str("<link rel=\"icon\" href=\"data:,\">\n");
    let _ = writeln!(out, "<title>{}</title>", text(&report.title));
    let _ = writeln!(out, "<style>\n{}{STYLE}</style>\n</head>\n<body>", palette::variables());
    out.push_str("<a class=\"skip\" href=\"#main\">Skip to the report</a>\n<header>\n");
    let _ = writeln!(out, "<h1>{}</h1>", text(&report.title));
    if !report.subtitle.is_empty() {
        let _ = writeln!(out, "<p class=\"subtitle\">{}</p>", text(&report.subtitle));
    }
    if report.sections.len() >= CONTENTS_FROM {
        out.push_str("<nav aria-label=\"Contents\"><ul>");
        for (index, section) in report.sections.iter().enumerate() {
            if !section.heading().is_empty() {
                let _ =
                    write!(out, "<li><a href=\"#s{index}\">{}</a></li>", text(section.heading()));
            }
        }
        out.push_str("</ul></nav>\n");
    }
    out.push_str("</header>\n<main id=\"main\">\n");
    if report.sections.is_empty() {
        out.push_str("<p class=\"note\">This report is empty.</p>\n");
    }
    for (index, section) in report.sections.iter().enumerate() {
        let heading = text(section.heading());
        if heading.is_empty() {
            let _ = writeln!(out, "<section id=\"s{index}\">");
        } else {
            let _ = writeln!(
                out,
                "<section id=\"s{index}\" aria-labelledby=\"h{index}\">\n<h2 id=\"h{index}\">{heading}</h2>"
            );
        }
        match section {
            Section::Prose(section) => prose(&mut out, section),
            Section::Facts(section) => facts(&mut out, section),
            Section::Plot(section) => plot(&mut out, section),
            Section::Table(section) => table(&mut out, section, &heading),
            Section::Bars(section) => bars(&mut out, section),
            Section::Heatmap(section) => heatmap(&mut out, section),
            Section::Tiles(section) => tiles(&mut out, section),
            Section::Words(section) => words(&mut out, section),
            Section::Code(section) => code(&mut out, section),
        }
        out.push_str("</section>\n");
    }
    out.push_str("</main>\n");
    if !report.footer.is_empty() {
        let _ = writeln!(out, "<footer>{}</footer>", text(&report.footer));
    }
    let _ = writeln!(out, "<script>\n{SCRIPT}</script>\n</body>\n</html>");
    out
}

fn note(out: &mut String, note: &str) {
    if !note.is_empty() {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", text(note));
    }
}

/// Says that there is nothing, where there is nothing.
fn nothing(out: &mut String, what: &str) {
    let _ = writeln!(out, "<p class=\"nothing\">There are no {what} to show.</p>");
}

fn prose(out: &mut String, section: &Prose) {
    out.push_str("<div class=\"prose\">\n");
    for paragraph in &section.paragraphs {
        let _ = writeln!(out, "<p>{}</p>", text(paragraph));
    }
    out.push_str("</div>\n");
}

fn facts(out: &mut String, section: &Facts) {
    if section.facts.is_empty() {
        nothing(out, "facts");
    } else {
        out.push_str("<dl class=\"facts\">\n");
        for fact in &section.facts {
            let (class, sign) = match fact.tone {
                Tone::Plain => ("", ""),
                Tone::Good => (" class=\"good\"", "✓"),
                Tone::Warning => (" class=\"warn\"", "!"),
                Tone::Bad => (" class=\"bad\"", "✗"),
            };
            let _ = write!(out, "<div{class}><dt>{}</dt><dd>", text(&fact.label));
            if !sign.is_empty() {
                let _ = write!(out, "<span class=\"sign\" aria-hidden=\"true\">{sign}</span>");
            }
            let _ = write!(out, "<span class=\"value\">{}</span>", text(&fact.value));
            if !fact.hint.is_empty() {
                let _ = write!(out, "<small>{}</small>", text(&fact.hint));
            }
            out.push_str("</dd></div>\n");
        }
        out.push_str("</dl>\n");
    }
    note(out, &section.note);
}

fn code(out: &mut String, section: &Code) {
    note(out, &section.note);
    out.push_str("<pre><code>");
    for piece in section.text.split_inclusive([' ', '\n']) {
        // Browsers break lines after hyphens, which would tear `--options` apart.
        let word = piece.trim_end_matches([' ', '\n']);
        if word.contains('-') && word.chars().count() <= 30 {
            let _ = write!(out, "<span>{}</span>{}", text(word), &piece[word.len()..]);
        } else {
            out.push_str(&text(piece));
        }
    }
    out.push_str("</code></pre>\n");
}

fn table(out: &mut String, section: &Table, heading: &str) {
    note(out, &section.note);
    if section.columns.is_empty() || section.rows.is_empty() {
        nothing(out, "rows");
        return;
    }
    let _ = writeln!(
        out,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Table: {heading}\"><table>"
    );
    out.push_str("<thead><tr>");
    for column in &section.columns {
        let class = if column.numeric { " class=\"num\"" } else { "" };
        let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", text(&column.label));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in &section.rows {
        out.push_str("<tr>");
        for (index, column) in section.columns.iter().enumerate() {
            let cell = text(row.get(index).map_or("", String::as_str));
            let _ = match (index, column.numeric) {
                (0, false) => write!(out, "<th scope=\"row\">{cell}</th>"),
                (_, false) => write!(out, "<td>{cell}</td>"),
                (_, true) => write!(out, "<td class=\"num\">{cell}</td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

// Plots.

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
    curves: Vec<(&'a str, &'a str)>,
    guides: Vec<(&'a str, Cell)>,
}

#[derive(Serialize)]
struct SeriesData<'a> {
    name: &'a str,
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
struct Cell(Option<f64>);

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

fn plot_data<'a>(plot: &'a Plot, thinned: bool) -> PlotData<'a> {
    let x = plot.x.iter().map(|axis| AxisData {
        label: &axis.label,
        log: axis.scale == Scale::Log,
        curves: vec![(&axis.column, &axis.label)],
        guides: Vec::new(),
    });
    let y = plot.y.iter().map(|axis| AxisData {
        label: &axis.label,
        log: axis.scale == Scale::Log,
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

fn plot(out: &mut String, section: &Plot) {
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

// Bars.

fn bars(out: &mut String, section: &Bars) {
    note(out, &section.note);
    let longest = section.bars.iter().map(crate::Bar::total).fold(0.0, f64::max);
    if longest <= 0.0 || longest > HUGE {
        nothing(out, "amounts");
        return;
    }
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in section.bars.iter().flat_map(|bar| &bar.parts) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let amount = |value: f64| match section.unit.as_str() {
        "s" => format_seconds(value),
        "" => format_number(value),
        unit => format!("{} {unit}", format_number(value)),
    };
    out.push_str("<div class=\"bars\">\n");
    for bar in &section.bars {
        let total = bar.total();
        let _ = writeln!(
            out,
            "<div class=\"bar\"><p class=\"bar-name\"><b>{}</b> <span>{}</span></p>",
            text(&bar.label),
            text(&amount(total))
        );
        let _ = write!(
            out,
            "<div class=\"track\" aria-hidden=\"true\"><div class=\"stack\" style=\"width:{:.2}%\">",
            100.0 * total / longest
        );
        for (name, value) in &bar.parts {
            let value = countable(*value);
            let Some(index) = names.iter().position(|known| known == name) else { continue };
            if value <= 0.0 {
                continue;
            }
            let share = 100.0 * value / total;
            // The share is written inside where there is room for it, on a phone too.
            let inside = if 100.0 * value / longest >= 14.0 {
                format!("{share:.0} %")
            } else {
                String::new()
            };
            let _ = write!(
                out,
                "<span class=\"part c{}\" style=\"width:{share:.3}%\" title=\"{}: {} ({share:.1} %)\">{inside}</span>",
                index % palette::SERIES.len(),
                text(name),
                text(&amount(value)),
            );
        }
        out.push_str("</div></div>\n<ul class=\"key\">");
        for (name, value) in &bar.parts {
            let value = countable(*value);
            let index = names.iter().position(|known| known == name).unwrap_or(0);
            let share = if total > 0.0 { 100.0 * value / total } else { 0.0 };
            let _ = write!(
                out,
                "<li><i class=\"swatch c{}\"></i>{} <b>{}</b> <small>{share:.1} %</small></li>",
                index % palette::SERIES.len(),
                text(name),
                text(&amount(value)),
            );
        }
        out.push_str("</ul></div>\n");
    }
    out.push_str("</div>\n");
}

// Pictures.

fn colour_key(out: &mut String, extent: f64) {
    let end = format_number(extent);
    let _ = writeln!(
        out,
        "<div class=\"ramp\" role=\"img\" aria-label=\"Colours: orange for negative values down to −{end}, \
         paper for zero, blue for positive values up to {end}\"><span>−{end}</span><i></i><span>0</span>\
         <i class=\"up\"></i><span>{end}</span></div>"
    );
}

/// The most cells whose values are embedded for the read-out.
const READ_CELLS: usize = 40_000;

fn heatmap(out: &mut String, map: &Heatmap) {
    note(out, &map.note);
    let (rows, columns) = (map.row_labels.len(), map.column_labels.len());
    if rows == 0 || columns == 0 {
        nothing(out, "cells");
        return;
    }
    let extent = png::extent(map.values.iter().take(rows * columns));
    // Labels: beside each row, above each column, thinned where they would touch.
    let cell = (640.0 / columns.max(rows) as f64).clamp(1.0, 26.0);
    let size = (0.72 * cell).clamp(11.0, 15.0);
    let longest =
        |labels: &[String]| labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let (row_chars, column_chars) =
        (longest(&map.row_labels).min(14), longest(&map.column_labels).min(14));
    let upright = column_chars as f64 * 0.62 * size <= cell;
    let (mut left, mut top) = (
        row_chars as f64 * 0.62 * size + 8.0,
        if upright { size + 6.0 } else { column_chars as f64 * 0.62 * size + 8.0 },
    );
    let (row_name, column_name) = (!map.row_title.is_empty(), !map.column_title.is_empty());
    let titles = size + 6.0;
    if row_name {
        left += titles;
    }
    if column_name {
        top += titles;
    }
    let every = ((size + 1.0) / cell).ceil().max(1.0) as usize;
    let (width, height) = (left + cell * columns as f64 + 1.0, top + cell * rows as f64 + 1.0);
    let image = png::data_address(rows, columns, |r, c| map.value(r, c), Shade::Diverging, extent);
    let largest = largest_cells(map);
    let mut label = format!(
        "Matrix of {rows} rows and {columns} columns, values from −{e} to {e}.",
        e = format_number(extent)
    );
    if let Some(&(r, c)) = largest.first() {
        label.push_str(&format!(
            " Largest in size: {}, {}: {}.",
            map.row_labels[r],
            map.column_labels[c],
            format_number(map.value(r, c))
        ));
    }
    let _ = write!(
        out,
        "<figure class=\"heat{}\" style=\"max-width:{:.0}px\">\n<svg viewBox=\"0 0 {width:.1} {height:.1}\" role=\"img\" aria-label=\"{}\" \
         data-grid=\"{left:.1} {top:.1} {cell:.3} {rows} {columns}\" font-size=\"{size:.1}\">",
        if row_chars <= 1 && column_chars <= 1 && cell >= 20.0 { " brief" } else { "" },
        (width + 34.0).max(320.0),
        text(&label)
    );
    let short = |label: &str| {
        if label.chars().count() > 14 {
            format!("{}…", label.chars().take(13).collect::<String>())
        } else {
            label.to_string()
        }
    };
    if row_name {
        let _ = write!(
            out,
            "<text class=\"dim\" transform=\"translate({size:.1} {:.1}) rotate(-90)\" text-anchor=\"end\">{}</text>",
            top,
            text(&map.row_title)
        );
    }
    if column_name {
        let _ = write!(
            out,
            "<text class=\"dim\" x=\"{left:.1}\" y=\"{size:.1}\">{}</text>",
            text(&map.column_title)
        );
    }
    for (index, label) in map.row_labels.iter().enumerate().step_by(every) {
        let _ = write!(
            out,
            "<text text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            left - 5.0,
            top + cell * (index as f64 + 0.5) + 0.35 * size,
            text(&short(label))
        );
    }
    for (index, label) in map.column_labels.iter().enumerate().step_by(every) {
        let middle = left + cell * (index as f64 + 0.5);
        let label = text(&short(label));
        let _ = if upright {
            write!(
                out,
                "<text text-anchor=\"middle\" x=\"{middle:.1}\" y=\"{:.1}\">{label}</text>",
                top - 5.0
            )
        } else {
            write!(
                out,
                "<text transform=\"translate({:.1} {:.1}) rotate(-90)\">{label}</text>",
                middle + 0.35 * size,
                top - 5.0
            )
        };
    }
    let (across, down) = (cell * columns as f64, cell * rows as f64);
    let _ = write!(
        out,
        "<image href=\"{image}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{across:.2}\" height=\"{down:.2}\" preserveAspectRatio=\"none\"/>"
    );
    if cell >= 8.0 {
        let mut grid = String::new();
        for row in 0..=rows {
            let _ = write!(grid, "M{left:.1} {:.1}h{across:.1}", top + cell * row as f64);
        }
        for column in 0..=columns {
            let _ = write!(grid, "M{:.1} {top:.1}v{down:.1}", left + cell * column as f64);
        }
        let _ = write!(out, "<path class=\"mesh\" d=\"{grid}\"/>");
    }
    out.push_str("</svg>\n");
    colour_key(out, extent);
    if rows * columns <= READ_CELLS {
        let values: Vec<Cell> = (0..rows * columns)
            .map(|at| {
                let value = map.value(at / columns, at % columns);
                Cell(Some(if value.abs() <= HUGE { round_digits(value, 4) } else { f64::NAN }))
            })
            .collect();
        let _ = writeln!(
            out,
            "<script type=\"application/json\">{}</script>",
            json(&(&map.row_labels, &map.column_labels, values, &map.row_title, &map.column_title))
        );
    }
    if !largest.is_empty() {
        let name =
            |title: &str, otherwise: &str| text(if title.is_empty() { otherwise } else { title });
        let _ = writeln!(
            out,
            "<details><summary>The largest values</summary><div class=\"scroll\"><table><thead><tr><th scope=\"col\">{}</th>\
             <th scope=\"col\">{}</th><th scope=\"col\" class=\"num\">Value</th></tr></thead><tbody>",
            name(&map.row_title, "Row"),
            name(&map.column_title, "Column")
        );
        for (r, c) in largest {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td>{}</td><td class=\"num\">{}</td></tr>",
                text(&map.row_labels[r]),
                text(&map.column_labels[c]),
                format_number(map.value(r, c))
            );
        }
        out.push_str("</tbody></table></div></details>\n");
    }
    out.push_str("</figure>\n");
}

/// The twelve cells largest in size, the largest first; ties in reading order.
fn largest_cells(map: &Heatmap) -> Vec<(usize, usize)> {
    let columns = map.column_labels.len();
    let mut cells: Vec<(usize, usize)> = (0..map.row_labels.len())
        .flat_map(|row| (0..columns).map(move |column| (row, column)))
        .filter(|&(row, column)| map.value(row, column).is_finite())
        .collect();
    cells.sort_by(|a, b| map.value(b.0, b.1).abs().total_cmp(&map.value(a.0, a.1).abs()));
    cells.truncate(12);
    cells
}

/// Pictures beyond this many pixels are not drawn.
const MOST_PIXELS: usize = 1 << 24;

fn picture(out: &mut String, bitmap: &Bitmap, shade: Shade, extent: f64, tall: usize, alt: &str) {
    let pixels = bitmap.rows.saturating_mul(bitmap.columns);
    if pixels == 0 || pixels > MOST_PIXELS {
        out.push_str("<span class=\"px\">–</span>");
        return;
    }
    let value = |row: usize, column: usize| {
        bitmap.values.get(row * bitmap.columns + column).copied().unwrap_or(0.0)
    };
    let zoom = (tall / bitmap.rows).max(1);
    let class = if shade == Shade::Ink { "px ink" } else { "px" };
    let _ = write!(
        out,
        "<img class=\"{class}\" width=\"{}\" height=\"{}\" alt=\"{}\" src=\"{}\">",
        zoom * bitmap.columns,
        zoom * bitmap.rows,
        text(alt),
        png::data_address(bitmap.rows, bitmap.columns, value, shade, extent)
    );
}

fn tiles(out: &mut String, section: &Tiles) {
    note(out, &section.note);
    if section.tiles.is_empty() {
        nothing(out, "pictures");
        return;
    }
    let extent = png::extent(section.tiles.iter().flat_map(|tile| &tile.bitmap.values));
    if section.shade == Shade::Diverging {
        colour_key(out, extent);
    }
    out.push_str("<div class=\"tiles\">\n");
    for tile in &section.tiles {
        let finite = || tile.bitmap.values.iter().copied().filter(|value| value.is_finite());
        let (low, high) =
            (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let alt = if low <= high {
            format!(
                "{} by {} pixels, values from {} to {}",
                tile.bitmap.columns,
                tile.bitmap.rows,
                format_number(low),
                format_number(high)
            )
        } else {
            "empty picture".into()
        };
        out.push_str("<figure>");
        picture(out, &tile.bitmap, section.shade, extent, 96, &alt);
        let _ = writeln!(out, "<figcaption>{}</figcaption></figure>", text(&tile.caption));
    }
    out.push_str("</div>\n");
}

/// Longer words are broken into lines; shorter ones are narrowed to fit a phone.
const LONG_WORD: usize = 14;

fn words(out: &mut String, section: &Words) {
    note(out, &section.note);
    if section.words.is_empty() {
        nothing(out, "words");
        return;
    }
    let letters: usize = section.words.iter().map(|word| word.letters.len()).sum();
    let wrong: usize = section.words.iter().map(crate::Word::errors).sum();
    let _ = writeln!(
        out,
        "<p class=\"tally\">{wrong} of {letters} letters are read wrongly in these words{}.</p>",
        if wrong > 0 { "; they are boxed and marked ✗" } else { "" }
    );
    let extent = png::extent(
        section
            .words
            .iter()
            .flat_map(|word| &word.letters)
            .flat_map(|letter| &letter.bitmap.values),
    );
    out.push_str("<ul class=\"words\">\n");
    for word in &section.words {
        let _ = write!(
            out,
            "<li><span class=\"unseen\">true: {}, read: {}, {} wrong</span><div class=\"{}\" aria-hidden=\"true\">\
             <span class=\"letter side\"><span>true</span><span>read</span></span>",
            text(&word.truth()),
            text(&word.predicted()),
            word.errors(),
            if word.letters.len() > LONG_WORD { "letters long" } else { "letters" }
        );
        for letter in &word.letters {
            let class = if letter.is_wrong() { "letter wrong" } else { "letter" };
            let _ = write!(out, "<span class=\"{class}\">");
            picture(out, &letter.bitmap, Shade::Ink, extent, 48, "");
            let _ = write!(
                out,
                "<span>{}</span><span class=\"read\">{}</span></span>",
                text(&letter.truth),
                text(&letter.predicted)
            );
        }
        out.push_str("</div>");
        if !word.caption.is_empty() {
            let _ = write!(out, "<p class=\"caption\">{}</p>", text(&word.caption));
        }
        out.push_str("</li>\n");
    }
    out.push_str("</ul>\n");
}
