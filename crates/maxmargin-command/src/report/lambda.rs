//! How well each λ did that was tried.

use maxmargin::sort;
use maxmargin_report::{Plot, Series, XAxis, YAxis, format_number};

/// What a search for λ has tried.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LambdaCurve {
    /// What was measured.
    pub(crate) measure: String,
    /// Each λ with its measure.
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) chosen: f64,
}

impl LambdaCurve {
    /// The curve, unless there is nothing to see.
    pub(crate) fn draw(&self) -> Option<Plot> {
        let mut points = self.points.clone();
        points.retain(|(lambda, value)| *lambda > 0.0 && value.is_finite());
        sort::by(&mut points, |a, b| a.0.total_cmp(&b.0));
        if points.len() < 2 {
            return None;
        }
        let near = |lambda: f64| (lambda / self.chosen).ln().abs();
        let chosen = points.iter().min_by(|a, b| near(a.0).total_cmp(&near(b.0)))?;
        let series = |name: &str, points: &[(f64, f64)]| {
            Series::new(name)
                .column("lambda", points.iter().map(|point| point.0))
                .column("measure", points.iter().map(|point| point.1))
        };
        let plot = Plot::new("The search for λ")
            .note(format!(
                "{} at each λ that was tried; λ = {} was chosen.",
                self.measure,
                format_number(self.chosen)
            ))
            .x(XAxis::new("lambda", "λ").log())
            .y(YAxis::new("measure", self.measure.as_str()));
        Some(plot.series(series("tried", &points)).series(series("chosen", &[*chosen])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_runs_upwards_and_marks_the_choice() {
        let points = vec![(0.1, 0.4), (0.01, 0.2), (1.0, f64::NAN), (0.001, 0.3)];
        let curve = LambdaCurve { measure: "Error".into(), points, chosen: 0.01 };
        let plot = curve.draw().unwrap();
        let column = |run: usize, at: usize| plot.series[run].columns[at].values.clone();
        assert_eq!(column(0, 0), [Some(0.001), Some(0.01), Some(0.1)]);
        assert_eq!((column(1, 0), column(1, 1)), (vec![Some(0.01)], vec![Some(0.2)]));
        assert_eq!(LambdaCurve { points: vec![(0.1, 0.4)], ..curve }.draw(), None);
    }
}
