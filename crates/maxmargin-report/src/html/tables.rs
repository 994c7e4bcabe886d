//! Tables as HTML.

use std::fmt::Write as _;

use super::{note, nothing};
use crate::LabelColours;
use crate::escape::text;
use crate::sections::Table;

/// Tables with fewer rows need no sorting.
const SORTED_FROM: usize = 3;

/// Texts of so few letters are not broken.
const SHORT: usize = 16;

pub(super) fn table(out: &mut String, section: &Table, heading: &str, colours: &LabelColours) {
    note(out, &section.note);
    if section.columns.is_empty() || section.rows.is_empty() {
        nothing(out, "rows");
        return;
    }
    let class = if section.rows.len() >= SORTED_FROM { " class=\"sortable\"" } else { "" };
    let _ = writeln!(
        out,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Table: {heading}\"><table{class}>"
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
            let raw = row.get(index).map_or("", String::as_str);
            let cell = match column.labels {
                true => {
                    format!("<span class=\"label {}\">{}</span>", colours.class(raw), text(raw))
                }
                false => text(raw),
            };
            let share =
                raw.parse().ok().filter(|share| column.shares && (0.0..=100.0).contains(share));
            let _ = match (index, column.numeric, share) {
                (_, _, Some(share)) => {
                    let share: f64 = share;
                    write!(out, "<td class=\"num share\" style=\"--v:{share:.1}%\">{cell}</td>")
                }
                (0, false, _) if raw.chars().count() <= SHORT => {
                    write!(out, "<th scope=\"row\" class=\"tight\">{cell}</th>")
                }
                (0, false, _) => write!(out, "<th scope=\"row\">{cell}</th>"),
                // Browsers would break short names after hyphens.
                (_, false, _) if raw.chars().count() <= SHORT => {
                    write!(out, "<td class=\"tight\">{cell}</td>")
                }
                (_, false, _) => write!(out, "<td>{cell}</td>"),
                (_, true, _) => write!(out, "<td class=\"num\">{cell}</td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_drawn_and_labels_have_their_colours() {
        let section = Table::new("T")
            .label_column("Label")
            .share_column("F1")
            .row(["<a>", "93.10"])
            .row(["b", "–"]);
        let mut out = String::new();
        table(&mut out, &section, "T", &LabelColours::new(["<a>", "b"]));
        assert!(out.contains(
            "<th scope=\"row\" class=\"tight\"><span class=\"label k0\">&lt;a&gt;</span></th>"
        ));
        assert!(out.contains("style=\"--v:93.1%\">93.10</td>"));
        assert!(out.contains("<td class=\"num\">–</td>") && !out.contains("sortable"));
    }
}
