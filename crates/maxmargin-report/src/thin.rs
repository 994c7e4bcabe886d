//! Fewer rows for long series, with the same look.

use crate::plot::{Column, Plot, Series};

/// The most rows of a series that a report holds.
pub(crate) const MOST_ROWS: usize = 2000;

/// The plot with long series thinned, and without columns that no axis asks for.
pub(crate) fn plot(plot: &Plot) -> Plot {
    let mut keys: Vec<&str> = Vec::new();
    keys.extend(plot.x.iter().map(|axis| axis.column.as_str()));
    keys.extend(
        plot.y.iter().flat_map(|axis| axis.curves.iter().map(|curve| curve.column.as_str())),
    );
    let series = plot
        .series
        .iter()
        .map(|series| {
            let columns: Vec<&Column> = series
                .columns
                .iter()
                .filter(|column| keys.contains(&column.key.as_str()))
                .collect();
            let rows = columns.iter().map(|column| column.values.len()).max().unwrap_or(0);
            let kept = (rows > MOST_ROWS).then(|| kept_rows(&columns, rows));
            let pick = |values: &[Option<f64>]| match &kept {
                Some(kept) if !values.is_empty() => {
                    kept.iter().map(|&row| values.get(row).copied().flatten()).collect()
                }
                _ => values.to_vec(),
            };
            let columns = columns
                .iter()
                .map(|column| Column {
                    key: column.key.clone(),
                    values: pick(&column.values),
                    low: pick(&column.low),
                    high: pick(&column.high),
                })
                .collect();
            Series { name: series.name.clone(), columns, off: series.off }
        })
        .collect();
    Plot {
        heading: plot.heading.clone(),
        note: plot.note.clone(),
        x: plot.x.clone(),
        y: plot.y.clone(),
        series,
    }
}

/// The first, last, least and largest of each column in each of many ranges of rows, and the
/// breaks; as many ranges as give at most [`MOST_ROWS`].
fn kept_rows(columns: &[&Column], rows: usize) -> Vec<usize> {
    let mut ranges = MOST_ROWS / 2;
    loop {
        let mut keep = vec![false; rows];
        let mut start = 0;
        for end in ends(rows, ranges) {
            for column in columns {
                mark(column, start, end, &mut keep);
            }
            start = end;
        }
        keep[0] = true;
        keep[rows - 1] = true;
        let count = keep.iter().filter(|&&kept| kept).count();
        if count <= MOST_ROWS || ranges == 1 {
            return (0..rows).filter(|&row| keep[row]).collect();
        }
        ranges = (ranges * 3 / 4).max(1);
    }
}

fn mark(column: &Column, start: usize, end: usize, keep: &mut [bool]) {
    let mut least: Option<(usize, f64)> = None;
    let mut largest: Option<(usize, f64)> = None;
    let mut broken: Option<usize> = None;
    for row in start..end.min(column.values.len()) {
        let Some(value) = column.value(row) else { continue };
        if !value.is_finite() {
            broken = broken.or(Some(row));
            continue;
        }
        if least.is_none_or(|(_, known)| value < known) {
            least = Some((row, value));
        }
        if largest.is_none_or(|(_, known)| value > known) {
            largest = Some((row, value));
        }
    }
    for row in
        [least.map(|(row, _)| row), largest.map(|(row, _)| row), broken].into_iter().flatten()
    {
        keep[row] = true;
    }
}

/// Ends of ranges: half of them evenly spaced, half spaced by equal ratios, because the beginning
/// of a run has most of the news and log axes show it wide.
fn ends(rows: usize, ranges: usize) -> Vec<usize> {
    let half = ranges.div_ceil(2);
    let mut ends: Vec<usize> = Vec::with_capacity(2 * half);
    for index in 1..=half {
        let share = index as f64 / half as f64;
        ends.push((rows as f64 * share).round() as usize);
        ends.push((rows as f64).powf(share).round() as usize);
    }
    ends.push(rows);
    ends.sort_unstable();
    ends.dedup();
    ends.retain(|&end| end > 0 && end <= rows);
    ends
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{XAxis, YAxis};

    fn long(rows: usize) -> Plot {
        let noise = |row: usize| ((row * 7919) % 1009) as f64;
        let spiky = (0..rows).map(|row| if row == rows / 3 { 1e6 } else { noise(row) });
        let sparse = (0..rows).map(|row| (row % 1000 == 0).then(|| noise(row)));
        Plot::new("long")
            .x(XAxis::new("pass", "Passes"))
            .y(YAxis::new("dual", "Dual"))
            .y(YAxis::new("gap", "Gap"))
            .series(
                Series::new("run")
                    .column("pass", (0..rows).map(|row| row as f64))
                    .column("dual", spiky)
                    .column("gap", sparse)
                    .column("unused", (0..rows).map(|row| row as f64)),
            )
    }

    #[test]
    fn long_series_keep_what_shows() {
        let thin = plot(&long(100_000));
        let series = &thin.series[0];
        assert!(series.len() <= MOST_ROWS && series.len() > MOST_ROWS / 4, "{}", series.len());
        assert!(series.get("unused").is_none());
        let pass = &series.get("pass").unwrap().values;
        assert_eq!((pass[0], pass[series.len() - 1]), (Some(0.0), Some(99_999.0)));
        assert!(series.get("dual").unwrap().values.contains(&Some(1e6)), "the spike is there");
        let gaps = series.get("gap").unwrap().values.iter().flatten().count();
        assert!(gaps >= 50, "sparse columns keep their points: {gaps}");
        let early = pass.iter().flatten().filter(|&&pass| pass < 100.0).count();
        assert!(early >= 20, "early rows are kept: {early}");
    }

    #[test]
    fn short_series_stay() {
        let short = long(MOST_ROWS);
        assert_eq!(plot(&short).series[0].len(), MOST_ROWS);
        assert_eq!(plot(&short).series[0].get("dual"), short.series[0].get("dual"));
        assert!(plot(&long(MOST_ROWS + 1)).series[0].len() <= MOST_ROWS);
    }
}
