//! Confusion matrices as HTML.
//!
//! Both views, by rows and by counts, are worked out here: every cell carries what it looks like in the other
//! view, and the script only swaps the two.

use super::pictures::largest_first;
use std::fmt::Write as _;

use super::plots::Cell;
use super::{note, nothing};
use crate::LabelColours;
use crate::escape::{json, text};
use crate::number::format_number;
use crate::sections::Confusions;

/// Letters of a label beside the matrix; longer ones are cut.
const MOST_LETTERS: usize = 16;

/// The strongest colour that leaves numbers on it readable.
const DARKEST: f64 = 0.6;

/// Two views of something: by rows, and by counts.
struct Views<T> {
    by_row: T,
    by_count: T,
}

pub(super) fn confusions(out: &mut String, map: &Confusions, colours: &LabelColours) {
    note(out, &map.note);
    let n = map.labels.len();
    let total: f64 = (0..n).map(|truth| map.row_total(truth)).sum();
    if n == 0 || total <= 0.0 {
        nothing(out, "predictions");
        return;
    }
    // A whole number, so that short coordinates are exact.
    let cell = (720.0 / n as f64).clamp(12.0, 46.0).floor();
    let size = (0.42 * cell).clamp(9.5, 14.0);
    let longest = map.labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let room = longest.min(MOST_LETTERS) as f64 * 0.62 * size + 14.0;
    let upright = longest as f64 * 0.62 * size <= cell - 2.0;
    let above = if upright { size + 12.0 } else { room };
    let (left, top) = ((room + size + 8.0).round(), (size + 10.0 + above).round());
    let (width, height) = (left + cell * n as f64 + 2.0, top + cell * n as f64 + 2.0);
    out.push_str("<figure class=\"confusions\">\n<div class=\"wide\">");
    let right: f64 = (0..n).map(|label| map.count(label, label)).sum();
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 {width:.1} {height:.1}\" style=\"--cell:{cell:.1}px;width:{width:.0}px;min-width:{:.0}px\" role=\"img\" \
         aria-label=\"Confusion matrix of {n} labels: {} of {} are right.\" \
         data-grid=\"{left:.1} {top:.1} {cell:.3} {n} {n}\" font-size=\"{size:.1}\">",
        0.72 * width,
        format_number(right),
        format_number(total)
    );
    names(out, map, colours, &Layout { cell, size, left, top, upright });
    let (most_right, most_wrong) = extremes(map);
    for truth in 0..n {
        let all = map.row_total(truth);
        for predicted in (0..n).filter(|predicted| map.count(truth, *predicted) > 0.0) {
            let count = map.count(truth, predicted);
            let is_right = truth == predicted;
            let share = count / all;
            let of_most = count / if is_right { most_right } else { most_wrong };
            // Roots, so that rare mistakes are seen beside frequent ones.
            let opacity =
                Views { by_row: DARKEST * share.sqrt(), by_count: DARKEST * of_most.sqrt() };
            let (x, y) = (left + cell * predicted as f64, top + cell * truth as f64);
            let _ = write!(
                out,
                "<rect class=\"{}\" x=\"{x:.0}\" y=\"{y:.0}\" fill-opacity=\"{:.2}\" data-other=\"{:.2}\"/>",
                if is_right { "pos" } else { "neg" },
                opacity.by_row,
                opacity.by_count
            );
            let fits = |text: &str| text.chars().count() as f64 * 0.6 * size <= cell - 3.0;
            let shown = Views { by_row: percent(share), by_count: brief(count) };
            if [&shown.by_row, &shown.by_count].into_iter().any(|text| fits(text)) {
                let fitting = |text: String| if fits(&text) { text } else { String::new() };
                let _ = write!(
                    out,
                    "<text class=\"n\" x=\"{:.0}\" y=\"{:.0}\" data-other=\"{}\">{}</text>",
                    x + 0.5 * cell,
                    y + 0.5 * cell + 0.35 * size,
                    fitting(shown.by_count),
                    fitting(shown.by_row)
                );
            }
        }
    }
    let mut grid = String::new();
    for at in 0..=n {
        let _ = write!(grid, "M{left:.1} {:.1}h{:.1}", top + cell * at as f64, cell * n as f64);
        let _ = write!(grid, "M{:.1} {top:.1}v{:.1}", left + cell * at as f64, cell * n as f64);
    }
    let _ = writeln!(out, "<path class=\"grid\" d=\"{grid}\"/></svg></div>");
    out.push_str(
        "<ul class=\"key\"><li><i class=\"swatch\" style=\"background:rgb(var(--pos)/.6)\"></i>right</li>\
         <li><i class=\"swatch\" style=\"background:rgb(var(--neg)/.6)\"></i>wrong</li>\
         <li class=\"unit\" data-other=\"Numbers count predictions.\">Numbers are percent of the true label.</li></ul>\n",
    );
    let counts: Vec<(usize, usize, Cell)> = (0..n)
        .flat_map(|truth| (0..n).map(move |predicted| (truth, predicted)))
        .filter(|(truth, predicted)| map.count(*truth, *predicted) > 0.0)
        .map(|(truth, predicted)| (truth, predicted, Cell(Some(map.count(truth, predicted)))))
        .collect();
    let _ = writeln!(
        out,
        "<script type=\"application/json\">{}</script>",
        json(&(&map.labels, counts))
    );
    most_frequent(out, map);
    out.push_str("</figure>\n");
}

/// Where things are.
struct Layout {
    cell: f64,
    size: f64,
    left: f64,
    top: f64,
    upright: bool,
}

/// The names of rows and columns, each with the colour of its label.
fn names(out: &mut String, map: &Confusions, colours: &LabelColours, layout: &Layout) {
    let Layout { cell, size, left, top, upright } = *layout;
    let short = |label: &str| match label.chars().count() > MOST_LETTERS {
        true => text(&format!("{}…", label.chars().take(MOST_LETTERS - 1).collect::<String>())),
        false => text(label),
    };
    let _ = write!(
        out,
        "<text class=\"dim\" transform=\"translate({size:.1} {top:.1}) rotate(-90)\" text-anchor=\"end\">true</text>\
         <text class=\"dim\" x=\"{left:.1}\" y=\"{size:.1}\">predicted</text>"
    );
    for (at, label) in map.labels.iter().enumerate() {
        let (class, label) = (colours.class(label), short(label));
        let (middle, below) = (left + cell * (at as f64 + 0.5), top + cell * (at as f64 + 0.5));
        if !class.is_empty() {
            let half = 0.5 * cell - 2.0;
            let _ = write!(
                out,
                "<path class=\"stripe {class}\" d=\"M{:.1} {:.1}v{:.1}\"/><path class=\"stripe {class}\" d=\"M{:.1} {:.1}h{:.1}\"/>",
                left - 4.0,
                below - half,
                2.0 * half,
                middle - half,
                top - 4.0,
                2.0 * half
            );
        }
        let _ = write!(
            out,
            "<text text-anchor=\"end\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
            left - 9.0,
            below + 0.35 * size
        );
        let _ = match upright {
            true => write!(
                out,
                "<text text-anchor=\"middle\" x=\"{middle:.1}\" y=\"{:.1}\">{label}</text>",
                top - 10.0
            ),
            false => write!(
                out,
                "<text transform=\"translate({:.1} {:.1}) rotate(-90)\">{label}</text>",
                middle + 0.35 * size,
                top - 9.0
            ),
        };
    }
}

/// The largest count of what is right and of what is wrong.
fn extremes(map: &Confusions) -> (f64, f64) {
    let n = map.labels.len();
    let (mut right, mut wrong) = (f64::MIN_POSITIVE, f64::MIN_POSITIVE);
    for truth in 0..n {
        for predicted in 0..n {
            let most = if truth == predicted { &mut right } else { &mut wrong };
            *most = map.count(truth, predicted).max(*most);
        }
    }
    (right, wrong)
}

/// A share in percent, in three letters at most.
fn percent(share: f64) -> String {
    match 100.0 * share {
        all if share < 1.0 && all >= 99.5 => "99".to_owned(),
        some if some >= 0.95 => format!("{some:.0}"),
        few if few >= 0.05 => format!("{few:.1}").trim_start_matches('0').to_owned(),
        _ => String::new(),
    }
}

/// A count in four letters at most.
fn brief(count: f64) -> String {
    match count {
        part if part < 9.95 && part.fract() != 0.0 => {
            format!("{part:.1}").trim_start_matches('0').to_owned()
        }
        few if few < 999.5 => format!("{few:.0}"),
        some if some < 9_950.0 => format!("{:.1}k", some / 1e3),
        many if many < 999_500.0 => format!("{:.0}k", many / 1e3),
        all => format!("{:.0}M", all / 1e6),
    }
}

/// The most frequent mistakes as a table, for those who cannot see the matrix.
fn most_frequent(out: &mut String, map: &Confusions) {
    let n = map.labels.len();
    let mut wrong: Vec<(usize, usize)> =
        (0..n).flat_map(|t| (0..n).map(move |p| (t, p))).filter(|(t, p)| t != p).collect();
    wrong.retain(|(t, p)| map.count(*t, *p) > 0.0);
    largest_first(&mut wrong, &|truth, predicted| map.count(truth, predicted));
    if wrong.is_empty() {
        return;
    }
    out.push_str(
        "<details><summary>The most frequent mistakes</summary><div class=\"scroll\"><table><thead><tr>\
         <th scope=\"col\">True</th><th scope=\"col\">Predicted</th><th scope=\"col\" class=\"num\">Times</th>\
         <th scope=\"col\" class=\"num\">% of the true</th></tr></thead><tbody>\n",
    );
    for (truth, predicted) in wrong.into_iter().take(20) {
        let (count, all) = (map.count(truth, predicted), map.row_total(truth));
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=\"num\">{}</td><td class=\"num\">{:.2}</td></tr>",
            text(&map.labels[truth]),
            text(&map.labels[predicted]),
            format_number(count),
            100.0 * count / all
        );
    }
    out.push_str("</tbody></table></div></details>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_in_cells() {
        for (count, text) in [
            (7.0, "7"),
            (0.5, ".5"),
            (2.25, "2.2"),
            (999.0, "999"),
            (1_234.0, "1.2k"),
            (9_960.0, "10k"),
        ] {
            assert_eq!(brief(count), text);
        }
        assert_eq!([brief(123_456.0), brief(999_500.0)], ["123k", "1M"]);
        for (share, text) in
            [(1.0, "100"), (0.9996, "99"), (0.93, "93"), (0.012, "1"), (0.004, ".4"), (0.0001, "")]
        {
            assert_eq!(percent(share), text, "{share}");
        }
    }

    #[test]
    fn both_views_are_there_and_right_is_told_from_wrong() {
        let map = Confusions::new("A", ["a", "b"], vec![90.0, 10.0, 0.0, 50.0]);
        let mut out = String::new();
        confusions(&mut out, &map, &LabelColours::new(["a", "b"]));
        assert_eq!(out.matches("<rect class=\"pos\"").count(), 2);
        assert_eq!(out.matches("<rect class=\"neg\"").count(), 1);
        // A tenth of the row, and all of the mistakes.
        let (row, count) = (DARKEST * 0.1f64.sqrt(), DARKEST);
        assert!(out.contains(&format!("fill-opacity=\"{row:.2}\" data-other=\"{count:.2}\"")));
        assert!(out.contains("data-other=\"90\">90</text>"));
        assert!(out.contains("140 of 150 are right"));
        assert!(out.contains("<td class=\"num\">10</td><td class=\"num\">10.00</td>"));
    }
}
