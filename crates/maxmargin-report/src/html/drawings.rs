//! Drawings as SVG.

use super::{note, nothing};
use crate::escape::text;
use crate::palette::SERIES;
use crate::sections::{Colour, Drawing, Drawings, Mark};
use std::fmt::Write as _;

/// Drawings are so wide, or so high if they are higher than wide.
const SIZE: f64 = 240.0;

pub(super) fn drawings(out: &mut String, section: &Drawings) {
    note(out, &section.note);
    if section.drawings.is_empty() {
        nothing(out, "drawings");
        return;
    }
    if !section.key.is_empty() {
        out.push_str("<ul class=\"key\">");
        for (meaning, colour) in &section.key {
            let (class, meaning) = (colour % SERIES.len(), text(meaning));
            let _ = write!(out, "<li><i class=\"swatch c{class}\"></i>{meaning}</li>");
        }
        out.push_str("</ul>\n");
    }
    out.push_str("<div class=\"tiles\" style=\"margin-top:.625rem\">\n");
    for drawing in &section.drawings {
        out.push_str("<figure>");
        svg(out, drawing);
        let _ = writeln!(out, "<figcaption>{}</figcaption></figure>", text(&drawing.caption));
    }
    out.push_str("</div>\n");
}

pub(super) fn svg(out: &mut String, drawing: &Drawing) {
    let (width, height) = (drawing.width, drawing.height);
    if !(width > 0.0 && height > 0.0 && width.is_finite() && height.is_finite()) {
        out.push_str("<span>–</span>");
        return;
    }
    let scale = SIZE / width.max(height);
    let (wide, tall) = (scale * width, scale * height);
    let _ = write!(
        out,
        "<svg viewBox=\"0 0 {wide:.1} {tall:.1}\" width=\"{wide:.0}\" height=\"{tall:.0}\" role=\"img\" aria-label=\"{}\">",
        text(&drawing.caption)
    );
    if let Some((kind, file)) = drawing.backdrop.as_deref().and_then(kind_of) {
        let _ = write!(
            out,
            "<image href=\"data:image/{kind};base64,{}\" width=\"{wide:.1}\" height=\"{tall:.1}\" preserveAspectRatio=\"none\"/>",
            base64(file)
        );
    }
    for mark in &drawing.marks {
        mark_svg(out, mark, scale);
    }
    out.push_str("</svg>");
}

/// The text of a file in a `data:` address.
fn base64(data: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(data.len().div_ceil(3) * 4);
    for group in data.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for at in 0..4 {
            if at <= group.len() {
                text.push(char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// The kind of a picture file, by its first bytes.
fn kind_of(file: &[u8]) -> Option<(&'static str, &[u8])> {
    match file {
        [0xff, 0xd8, 0xff, ..] => Some(("jpeg", file)),
        [0x89, b'P', b'N', b'G', ..] => Some(("png", file)),
        _ => None,
    }
}

fn variable(colour: Colour) -> &'static str {
    SERIES[colour % SERIES.len()].0
}

fn mark_svg(out: &mut String, mark: &Mark, scale: f64) {
    let place = |(x, y): (f64, f64)| (scale * x, scale * y);
    match mark {
        Mark::Line { from, to, colour } | Mark::Dashed { from, to, colour } => {
            let ((x, y), (u, v)) = (place(*from), place(*to));
            let look = match mark {
                Mark::Dashed { .. } => "stroke-width=\"1.5\" stroke-dasharray=\"3 3\"",
                _ => "stroke-width=\"3\"",
            };
            let _ = write!(
                out,
                "<path d=\"M{x:.1} {y:.1}L{u:.1} {v:.1}\" style=\"stroke:var(--{})\" {look} stroke-linecap=\"round\" fill=\"none\"/>",
                variable(*colour)
            );
        }
        Mark::Dot { centre, colour } => {
            let (x, y) = place(*centre);
            let _ = write!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" style=\"fill:var(--{})\"/>",
                variable(*colour)
            );
        }
        Mark::Cells { side, cells, colour } => {
            let _ = write!(
                out,
                "<path style=\"fill:var(--{})\" fill-opacity=\".55\" d=\"{}\"/>",
                variable(*colour),
                runs(cells, scale * side)
            );
        }
    }
}

/// Squares as a path: those that follow each other in a row are one rectangle.
fn runs(cells: &[(u32, u32)], side: f64) -> String {
    let mut sorted = cells.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let mut path = String::new();
    let follows = |a: &(u32, u32), b: &(u32, u32)| a.0 == b.0 && a.1.checked_add(1) == Some(b.1);
    for run in sorted.chunk_by(follows) {
        let (x, y) = (f64::from(run[0].1) * side, f64::from(run[0].0) * side);
        let length = run.len() as f64 * side;
        let _ = write!(path, "M{x:.1} {y:.1}h{length:.1}v{side:.1}h-{length:.1}z");
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_standard() {
        for (data, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(data.as_bytes()), text);
        }
    }

    #[test]
    fn squares_in_a_row_are_one_rectangle() {
        let path = runs(&[(1, 0), (0, 2), (0, 1), (0, 1), (0, 4)], 2.0);
        assert_eq!(path, "M2.0 0.0h4.0v2.0h-4.0zM8.0 0.0h2.0v2.0h-2.0zM0.0 2.0h2.0v2.0h-2.0z");
        assert_eq!(runs(&[], 1.0), "");
    }

    #[test]
    fn only_pictures_are_put_behind() {
        let mut out = String::new();
        let sheet =
            || Drawing::new("<a>", 4.0, 2.0).line((0.0, 0.0), (4.0, 2.0), 9).dot((1.0, 1.0), 0);
        svg(&mut out, &sheet().backdrop(b"GIF89a".to_vec()));
        assert!(!out.contains("<image") && out.contains("aria-label=\"&lt;a&gt;\""));
        assert!(out.contains("M0.0 0.0L240.0 120.0") && out.contains("var(--s1)"));
        out.clear();
        svg(&mut out, &sheet().backdrop(vec![0xff, 0xd8, 0xff, 0xe0]));
        assert!(out.contains("data:image/jpeg;base64,/9j/4A=="));
        out.clear();
        svg(&mut out, &Drawing::new("", f64::NAN, 1.0));
        assert_eq!(out, "<span>–</span>");
    }
}
