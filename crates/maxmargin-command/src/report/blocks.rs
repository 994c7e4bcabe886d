//! How the gaps of blocks spread over time.

use maxmargin_report::{Heatmap, format_number};

/// Block gaps are counted by their power of ten, from this one upwards; all below count as nothing.
const LOWEST: i32 = -12;
/// And up to this one.
const HIGHEST: i32 = 3;
/// The most columns of the picture.
const COLUMNS: usize = 24;

/// Counts of blocks by the power of ten of their gap, at each exact pass.
#[derive(Debug, Default)]
pub(super) struct Spread {
    checks: Vec<(u64, Vec<u32>)>,
}

impl Spread {
    pub(super) fn add(&mut self, pass: u64, gaps: &[f64]) {
        let mut counts = vec![0; (HIGHEST - LOWEST + 2) as usize];
        for &gap in gaps {
            counts[bin(gap)] += 1;
        }
        self.checks.push((pass, counts));
    }

    /// The picture, unless there is nothing to see.
    pub(super) fn draw(&self) -> Option<Heatmap> {
        if self.checks.len() < 2 {
            return None;
        }
        let columns = COLUMNS.min(self.checks.len());
        let at = |column: usize| column * (self.checks.len() - 1) / (columns - 1).max(1);
        let shown: Vec<&(u64, Vec<u32>)> = (0..columns).map(|c| &self.checks[at(c)]).collect();
        let used = |bin: &usize| shown.iter().any(|(_, counts)| counts[*bin] > 0);
        let bins = 0..(HIGHEST - LOWEST + 2) as usize;
        let (first, last) = (bins.clone().find(used)?, bins.rev().find(used)?);
        // Large gaps on top.
        let rows: Vec<usize> = (first..=last).rev().collect();
        let values = rows.iter().flat_map(|&row| shown.iter().map(move |(_, counts)| counts[row]));
        let heatmap = Heatmap::new(
            "Gaps of blocks over time",
            rows.iter().map(|&row| name(row)),
            shown.iter().map(|(pass, _)| pass.to_string()),
            values.map(f64::from).collect(),
        );
        Some(heatmap.axes("gap of a block", "pass").note(
            "How many blocks (examples, unless constraints are soft) have a gap of each size at the exact passes; all gaps together \
             are the duality gap. A few blocks with large gaps are what orders that follow gaps go for.",
        ))
    }
}

fn bin(gap: f64) -> usize {
    if gap <= 0.0 {
        return 0;
    }
    let power = gap.log10().floor() as i32;
    if power < LOWEST { 0 } else { (power.min(HIGHEST) - LOWEST + 1) as usize }
}

fn name(bin: usize) -> String {
    match bin {
        0 => "none".to_owned(),
        _ => format!("≥ {}", format_number(10f64.powi(bin as i32 - 1 + LOWEST))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_counted_by_their_power_of_ten() {
        let mut spread = Spread::default();
        spread.add(1, &[0.5, 0.2, 0.03, 1e9]);
        assert!(spread.draw().is_none(), "one check is no time");
        spread.add(10, &[0.05, 0.0, -1e-18, 1e-20]);
        let picture = spread.draw().unwrap();
        assert_eq!(picture.column_labels, ["1", "10"]);
        assert_eq!(picture.row_labels.first().map(String::as_str), Some("≥ 1,000"));
        assert_eq!(picture.row_labels.last().map(String::as_str), Some("none"));
        let row = |name: &str| picture.row_labels.iter().position(|row| row == name).unwrap();
        let pair = |name: &str| (picture.value(row(name), 0), picture.value(row(name), 1));
        assert_eq!(pair("≥ 0.1"), (2.0, 0.0));
        assert_eq!(pair("≥ 0.01"), (1.0, 1.0));
        assert_eq!(pair("none"), (0.0, 3.0));
    }

    #[test]
    fn long_runs_make_few_columns() {
        let mut spread = Spread::default();
        (0..1000).for_each(|pass| spread.add(pass, &[1.0]));
        let picture = spread.draw().unwrap();
        assert_eq!(picture.column_labels.len(), COLUMNS);
        assert_eq!(picture.column_labels.last().map(String::as_str), Some("999"));
    }
}
