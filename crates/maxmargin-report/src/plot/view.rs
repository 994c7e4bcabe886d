//! What one choice of axes shows of a plot.

use super::{Plot, XAxis, YAxis};
use crate::scale::{Domain, HUGE, Scale, TINY};

/// A point of a line, with its band if it has one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) band: Option<(f64, f64)>,
}

/// One line of a view: the pieces between breaks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) series: usize,
    pub(crate) curve: usize,
    pub(crate) pieces: Vec<Vec<Point>>,
}

impl Line {
    pub(crate) fn points(&self) -> impl DoubleEndedIterator<Item = &Point> {
        self.pieces.iter().flatten()
    }
}

/// What one choice of axes shows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    pub(crate) lines: Vec<Line>,
    /// Points left out because a log axis has no place for them.
    pub(crate) dropped: usize,
    /// The domains, unless there is no point at all.
    pub(crate) domains: Option<(Domain, Domain)>,
}

fn drawable(value: f64) -> bool {
    value.abs() <= HUGE
}

impl View {
    pub(crate) fn new(plot: &Plot, x: &XAxis, y: &YAxis, x_scale: Scale, y_scale: Scale) -> Self {
        let fits_x = |value: f64| x_scale == Scale::Linear || value >= TINY;
        let fits_y = |value: f64| y_scale == Scale::Linear || value >= TINY;
        let mut lines = Vec::new();
        let mut dropped = 0;
        for (series_index, series) in
            plot.series.iter().enumerate().filter(|(_, series)| !series.off)
        {
            let Some(xs) = series.get(&x.column) else { continue };
            for (curve_index, curve) in y.curves.iter().enumerate() {
                let Some(ys) = series.get(&curve.column) else { continue };
                let mut pieces = vec![Vec::new()];
                for row in 0..xs.values.len().min(ys.values.len()) {
                    let (Some(x), Some(y)) = (xs.value(row), ys.value(row)) else { continue };
                    let drawn = drawable(x) && drawable(y);
                    let fits = fits_x(x) && fits_y(y);
                    if drawn && fits {
                        let band = ys.edges(row).filter(|&(low, high)| {
                            drawable(low) && drawable(high) && fits_y(low) && fits_y(high)
                        });
                        if let Some(piece) = pieces.last_mut() {
                            piece.push(Point { x, y, band });
                        }
                    } else {
                        dropped += usize::from(drawn);
                        if pieces.last().is_some_and(|piece| !piece.is_empty()) {
                            pieces.push(Vec::new());
                        }
                    }
                }
                pieces.retain(|piece| !piece.is_empty());
                if !pieces.is_empty() {
                    lines.push(Line { series: series_index, curve: curve_index, pieces });
                }
            }
        }
        let domains = domains(&lines, y, x_scale, y_scale);
        Self { lines, dropped, domains }
    }
}

fn domains(lines: &[Line], y: &YAxis, x_scale: Scale, y_scale: Scale) -> Option<(Domain, Domain)> {
    let nothing = (f64::INFINITY, f64::NEG_INFINITY);
    let wider = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    let (mut across, mut up) = (nothing, nothing);
    for point in lines.iter().flat_map(Line::points) {
        across = wider(across, point.x);
        up = wider(up, point.y);
        if let Some((low, high)) = point.band {
            up = wider(wider(up, low), high);
        }
    }
    if across.0 > across.1 {
        return None;
    }
    for guide in &y.guides {
        if drawable(guide.value) && (y_scale == Scale::Linear || guide.value >= TINY) {
            up = wider(up, guide.value);
        }
    }
    Some((
        Domain::around(x_scale, across.0, across.1, false),
        Domain::around(y_scale, up.0, up.1, true),
    ))
}

/// A sentence that stands for the picture: what is drawn, and where each line starts and ends.
pub(crate) fn summary(plot: &Plot, x: &XAxis, y: &YAxis, view: &View) -> String {
    use crate::number::format_number;
    const MOST: usize = 8;
    let mut text = format!("{} against {}.", y.label, x.label);
    if view.lines.is_empty() {
        text.push_str(" There are no points to show.");
    }
    for line in view.lines.iter().take(MOST) {
        let (Some(first), Some(last)) = (line.points().next(), line.points().next_back()) else {
            continue;
        };
        text.push_str(&format!(
            " {}: from {} at {} to {} at {}.",
            line_name(plot, y, line.series, line.curve),
            format_number(first.y),
            format_number(first.x),
            format_number(last.y),
            format_number(last.x),
        ));
    }
    if view.lines.len() > MOST {
        text.push_str(&format!(" And {} more lines.", view.lines.len() - MOST));
    }
    text
}

/// What a line is called: the run, the quantity, or both, whichever tells lines apart.
pub(crate) fn line_name(plot: &Plot, y: &YAxis, series: usize, curve: usize) -> String {
    let run = &plot.series[series].name;
    let quantity = &y.curves[curve].label;
    match (plot.series.len() > 1, y.curves.len() > 1) {
        (true, true) => format!("{run}, {quantity}"),
        (false, true) => quantity.clone(),
        _ => run.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Series;

    fn view_of(ys: &[Option<f64>], scale: Scale) -> View {
        let xs = (1..=ys.len()).map(|x| x as f64);
        let plot = Plot::xy("", "x", "y")
            .series(Series::new("a").column("x", xs).column("y", ys.to_vec()));
        View::new(&plot, &plot.x[0], &plot.y[0], Scale::Linear, scale)
    }

    #[test]
    fn unmeasured_rows_join_and_bad_values_break() {
        let view = view_of(&[Some(1.0), None, Some(2.0), Some(f64::NAN), Some(3.0)], Scale::Linear);
        let lengths: Vec<usize> = view.lines[0].pieces.iter().map(Vec::len).collect();
        assert_eq!((lengths, view.dropped), (vec![2, 1], 0));
    }

    #[test]
    fn log_axes_drop_and_count() {
        let view = view_of(&[Some(0.0), Some(1.0), Some(-2.0), Some(2.0)], Scale::Log);
        assert_eq!((view.lines[0].pieces.len(), view.dropped), (2, 2));
        let view = view_of(&[Some(0.0), Some(-1.0)], Scale::Log);
        assert_eq!((view.lines.len(), view.dropped, view.domains), (0, 2, None));
    }

    #[test]
    fn overflowing_values_are_not_drawn() {
        let view = view_of(&[Some(f64::MAX), Some(f64::MIN), Some(1.0)], Scale::Linear);
        assert_eq!(view.lines[0].points().count(), 1);
    }
}
