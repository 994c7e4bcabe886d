//! Bars, heat-maps, tiles and words as HTML.

use std::fmt::Write as _;

use super::{note, nothing};
use crate::escape::{json, text};
use crate::number::{format_number, format_seconds};
use crate::scale::HUGE;
use crate::sections::{Bars, Bitmap, Heatmap, Shade, Tiles, Words, countable};
use crate::{palette, pixels};

pub(super) fn bars(out: &mut String, section: &Bars) {
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

/// What colours mean, of values that are negative as well as positive, or of positive ones alone.
fn colour_key(out: &mut String, extent: f64, any_negative: bool) {
    let end = format_number(extent);
    if !any_negative {
        let _ = writeln!(
            out,
            "<div class=\"ramp\" role=\"img\" aria-label=\"Colours: paper for zero, blue up to {end}\">\
             <span>0</span><i class=\"up\"></i><span>{end}</span></div>"
        );
        return;
    }
    let _ = writeln!(
        out,
        "<div class=\"ramp\" role=\"img\" aria-label=\"Colours: orange for negative values down to −{end}, \
         paper for zero, blue for positive values up to {end}\"><span>−{end}</span><i></i><span>0</span>\
         <i class=\"up\"></i><span>{end}</span></div>"
    );
}

/// What the few values of a matrix mean.
fn meanings_key(out: &mut String, map: &Heatmap, extent: f64) {
    out.push_str("<ul class=\"key\">");
    for (value, meaning) in map.meanings.iter().filter(|(value, _)| *value != 0.0) {
        let side = if *value < 0.0 { "neg" } else { "pos" };
        let share = if extent > 0.0 { value.abs() / extent } else { 0.0 };
        let _ = write!(
            out,
            "<li><i class=\"swatch\" style=\"background:rgb(var(--{side})/{share:.3})\"></i>{}</li>",
            text(meaning)
        );
    }
    out.push_str("</ul>\n");
}

/// The most cells whose values are embedded for the read-out.
const READ_CELLS: usize = 40_000;

pub(super) fn heatmap(out: &mut String, map: &Heatmap) {
    note(out, &map.note);
    let (rows, columns) = (map.row_labels.len(), map.column_labels.len());
    if rows == 0 || columns == 0 {
        nothing(out, "cells");
        return;
    }
    let known = map.meanings.iter().map(|(value, _)| value);
    let values = || map.values.iter().take(rows * columns);
    let extent = pixels::extent(values().chain(known));
    let any_negative = values().any(|value| *value < 0.0);
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
        left += titles + 4.0; // wide letters need more room than reckoned
    }
    if column_name {
        top += titles;
    }
    let every = ((size + 1.0) / cell).ceil().max(1.0) as usize;
    // Titles may be longer than the side they stand at.
    let long = |title: &str| 0.62 * size * title.chars().count() as f64;
    let width = left + (cell * columns as f64).max(long(&map.column_title)) + 1.0;
    let height = top + (cell * rows as f64).max(long(&map.row_title)) + 1.0;
    let largest = largest_cells(map);
    let end = format_number(extent);
    let least = if any_negative { format!("−{end}") } else { "0".to_owned() };
    let mut label = format!("Matrix of {rows} rows and {columns} columns");
    if map.meanings.is_empty() {
        let _ = write!(label, ", values from {least} to {end}");
    }
    label.push('.');
    if let Some(&(r, c)) = largest.first().filter(|_| map.meanings.is_empty()) {
        let _ = write!(
            label,
            " Largest in size: {}, {}: {}.",
            map.row_labels[r],
            map.column_labels[c],
            map.in_words(r, c)
        );
    }
    let _ = write!(
        out,
        "<figure class=\"heat{}\" style=\"max-width:{:.0}px\">\n<svg viewBox=\"0 0 {width:.1} {height:.1}\" style=\"max-width:{width:.0}px\" role=\"img\" aria-label=\"{}\" \
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
    let _ = write!(out, "<g transform=\"translate({left:.1} {top:.1}) scale({cell:.4})\">");
    pixels::write(out, rows, columns, |r, c| map.value(r, c), Shade::Diverging, extent);
    out.push_str("</g>");
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
    match map.meanings.is_empty() {
        true => colour_key(out, extent, any_negative),
        false => meanings_key(out, map, extent),
    }
    if rows * columns <= READ_CELLS {
        let values: Vec<Option<String>> = (0..rows * columns)
            .map(|at| {
                let (row, column) = (at / columns, at % columns);
                map.value(row, column).is_finite().then(|| map.in_words(row, column))
            })
            .collect();
        let _ = writeln!(
            out,
            "<script type=\"application/json\">{}</script>",
            json(&(
                (&map.row_labels, &map.row_title),
                (&map.column_labels, &map.column_title),
                values
            ))
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
                text(&map.in_words(r, c))
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
    largest_first(&mut cells, &|row, column| map.value(row, column).abs());
    cells.truncate(12);
    cells
}

/// Sorts cells of a table by their values, the largest first; equal ones keep their order.
pub(super) fn largest_first(cells: &mut [(usize, usize)], value: &dyn Fn(usize, usize) -> f64) {
    cells.sort_by(|a, b| value(b.0, b.1).total_cmp(&value(a.0, a.1)));
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
    let (rows, columns) = (bitmap.rows, bitmap.columns);
    let _ = write!(
        out,
        "<svg class=\"px\" viewBox=\"0 0 {columns} {rows}\" width=\"{}\" height=\"{}\"",
        zoom * columns,
        zoom * rows,
    );
    let _ = match alt {
        "" => write!(out, " aria-hidden=\"true\">"),
        alt => write!(out, " role=\"img\" aria-label=\"{}\">", text(alt)),
    };
    pixels::write(out, rows, columns, value, shade, extent);
    out.push_str("</svg>");
}

/// The picture of a letter in a word.
pub(super) fn letter(out: &mut String, bitmap: &Bitmap, tall: usize) {
    picture(out, bitmap, Shade::Ink, pixels::extent(&bitmap.values), tall, "");
}

pub(super) fn tiles(out: &mut String, section: &Tiles) {
    note(out, &section.note);
    if section.tiles.is_empty() {
        nothing(out, "pictures");
        return;
    }
    let extent = pixels::extent(section.tiles.iter().flat_map(|tile| &tile.bitmap.values));
    if section.shade == Shade::Diverging {
        let values = section.tiles.iter().flat_map(|tile| &tile.bitmap.values);
        colour_key(out, extent, values.into_iter().any(|value| *value < 0.0));
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

pub(super) fn words(out: &mut String, section: &Words) {
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
    let extent = pixels::extent(
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
