//! Small pictures and matrices as SVG: one path for each colour, one stroke for each run of equal pixels in a row.
//!
//! An SVG needs no encoder and no `data:` address, and its colours follow those of the page; a letter of 8 × 16
//! black and white pixels takes some 300 characters.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::sections::Shade;

/// Levels on each side of zero: neighbouring ones cannot be told apart by eye.
const LEVELS: f64 = 64.0;

/// Largest absolute value among the finite ones.
pub(crate) fn extent<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    values.into_iter().map(|value| value.abs()).filter(|size| size.is_finite()).fold(0.0, f64::max)
}

/// What a pixel looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Tint {
    /// The paper shines through.
    Clear,
    /// There is no value.
    Absent,
    Ink(u8),
    Positive(u8),
    Negative(u8),
}

fn tint(value: f64, shade: Shade, extent: f64) -> Tint {
    if !value.is_finite() {
        return if shade == Shade::Ink { Tint::Clear } else { Tint::Absent };
    }
    let share = if extent > 0.0 { (value / extent).clamp(-1.0, 1.0) } else { 0.0 };
    let level = (share * LEVELS).round();
    let size = level.abs() as u8;
    match shade {
        _ if level == 0.0 => Tint::Clear,
        Shade::Ink if level < 0.0 => Tint::Clear,
        Shade::Ink => Tint::Ink(size),
        Shade::Diverging if level > 0.0 => Tint::Positive(size),
        Shade::Diverging => Tint::Negative(size),
    }
}

/// Writes the pixels of a picture of `rows` × `columns`, each a square with sides of length 1.
pub(crate) fn write(
    out: &mut String,
    rows: usize,
    columns: usize,
    value: impl Fn(usize, usize) -> f64,
    shade: Shade,
    extent: f64,
) {
    let mut paths: BTreeMap<Tint, String> = BTreeMap::new();
    for row in 0..rows {
        let mut column = 0;
        while column < columns {
            let (start, colour) = (column, tint(value(row, column), shade, extent));
            while column < columns && tint(value(row, column), shade, extent) == colour {
                column += 1;
            }
            if colour != Tint::Clear {
                let path = paths.entry(colour).or_default();
                let _ = write!(path, "M{start} {row}h{}", column - start);
            }
        }
    }
    // Strokes have a width of 1, and run along the middle of their row.
    out.push_str("<g class=\"pixels\" transform=\"translate(0 .5)\">");
    for (tint, path) in paths {
        let (class, level) = match tint {
            Tint::Clear => continue,
            Tint::Absent => ("absent", None),
            Tint::Ink(level) => ("ink", Some(level)),
            Tint::Positive(level) => ("pos", Some(level)),
            Tint::Negative(level) => ("neg", Some(level)),
        };
        let _ = write!(out, "<path class=\"{class}\"");
        if let Some(level) = level.filter(|level| f64::from(*level) < LEVELS) {
            let _ = write!(out, " opacity=\"{:.3}\"", f64::from(level) / LEVELS);
        }
        let _ = write!(out, " d=\"{path}\"/>");
    }
    out.push_str("</g>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(rows: usize, columns: usize, values: &[f64], shade: Shade) -> String {
        let mut out = String::new();
        write(&mut out, rows, columns, |r, c| values[r * columns + c], shade, extent(values));
        out
    }

    #[test]
    fn equal_neighbours_are_one_stroke() {
        let found = written(2, 3, &[1.0, 1.0, 0.0, 0.0, 0.5, 1.0], Shade::Ink);
        assert_eq!(
            found,
            "<g class=\"pixels\" transform=\"translate(0 .5)\">\
             <path class=\"ink\" opacity=\"0.500\" d=\"M1 1h1\"/>\
             <path class=\"ink\" d=\"M0 0h2M2 1h1\"/></g>"
        );
    }

    #[test]
    fn every_kind_of_value_has_its_colour() {
        let values = [-2.0, -1.0, 0.0, f64::NAN, f64::INFINITY, 1.0];
        let found = written(1, 6, &values, Shade::Diverging);
        for path in [
            "<path class=\"absent\" d=\"M3 0h2\"/>",
            "<path class=\"pos\" opacity=\"0.500\" d=\"M5 0h1\"/>",
            "<path class=\"neg\" opacity=\"0.500\" d=\"M1 0h1\"/>",
            "<path class=\"neg\" d=\"M0 0h1\"/>",
        ] {
            assert!(found.contains(path), "{path} is not in {found}");
        }
        assert!(!found.contains("M2 0"), "nothing is drawn at zero: {found}");
        // Ink has no other side, and paper is where there is no ink.
        let ink = written(1, 6, &values, Shade::Ink);
        assert_eq!(ink.matches("<path").count(), 1, "{ink}");
        assert!(!written(1, 2, &[0.0, 0.0], Shade::Diverging).contains("<path"));
    }

    #[test]
    fn pictures_stay_small() {
        let ramp: Vec<f64> = (0..10_001).map(|at| f64::from(at) - 5_000.0).collect();
        assert!(written(1, 10_001, &ramp, Shade::Diverging).len() < 10_000);
        let black: Vec<f64> = (0..128).map(|at| f64::from(at / 8 % 2)).collect();
        assert!(written(16, 8, &black, Shade::Ink).len() < 220);
    }
}
