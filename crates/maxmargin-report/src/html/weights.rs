//! Weights as HTML: bars from zero.

use std::fmt::Write as _;

use super::{note, nothing};
use crate::LabelColours;
use crate::escape::text;
use crate::number::format_number;
use crate::sections::Weights;

pub(super) fn weights(out: &mut String, section: &Weights, colours: &LabelColours) {
    note(out, &section.note);
    // Each label has its own scale: weights of rare ones would be too small to see.
    let largest = |weights: &[(String, f64)]| {
        weights.iter().map(|(_, w)| w.abs()).filter(|size| size.is_finite()).fold(0.0, f64::max)
    };
    if section.groups.iter().all(|(_, weights)| largest(weights) <= 0.0) {
        nothing(out, "weights");
        return;
    }
    out.push_str("<div class=\"weights\">\n");
    for (label, weights) in &section.groups {
        let (class, largest) = (colours.class(label), largest(weights).max(f64::MIN_POSITIVE));
        let _ = writeln!(
            out,
            "<div class=\"group\"><h3><span class=\"label {class}\">{}</span></h3><ul>",
            text(label)
        );
        for (name, weight) in weights.iter().filter(|(_, weight)| weight.is_finite()) {
            let side = if *weight < 0.0 { "neg" } else { "pos" };
            let _ = writeln!(
                out,
                "<li><span>{}</span><i class=\"{side}\" style=\"width:{:.1}%\"></i><b>{}</b></li>",
                text(name),
                50.0 * weight.abs() / largest,
                format_number(round(*weight))
            );
        }
        out.push_str("</ul></div>\n");
    }
    out.push_str("</div>\n");
}

/// Three significant digits: enough for a bar.
fn round(value: f64) -> f64 {
    crate::scale::round_digits(value, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_weights_and_names_are_text() {
        let section =
            Weights::new("W").group("<a>", [("x<y", 2.0), ("z", -0.123456), ("n", f64::NAN)]);
        let mut out = String::new();
        weights(&mut out, &section, &LabelColours::default());
        assert!(out.contains("&lt;a&gt;") && out.contains("x&lt;y"));
        assert!(out.contains("class=\"pos\" style=\"width:50.0%\""));
        assert!(out.contains("class=\"neg\" style=\"width:3.1%\"") && out.contains("−0.123<"));
        assert!(!out.contains("NaN"));
        out.clear();
        weights(&mut out, &Weights::new("W").group("a", [("x", 0.0)]), &LabelColours::default());
        assert!(out.contains("There are no weights to show."));
    }
}
