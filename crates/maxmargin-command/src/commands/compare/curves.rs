//! Runs of one method, seen together: medians and ranges over seeds.

use super::runner::{Results, Row, Run};
use maxmargin::sort;

/// The middle of some values, and their range.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Spread {
    /// The middle one.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of an even number, the median is the mean of the two in the middle; none of nothing.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sort::by(&mut sorted, f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Some(Self { median: low + 0.5 * (high - low), min, max })
    }
}

/// What can be drawn of a row, by its key in plots. The first four are for x axes.
pub(super) const COLUMNS: [&str; 10] = [
    "passes",
    "own_passes",
    "seconds",
    "own_seconds",
    "gap",
    "subopt",
    "primal",
    "dual",
    "train",
    "test",
];

/// How many of the columns are for x axes.
const ACROSS: usize = 4;

/// The runs of a method at one λ.
pub struct Group<'a> {
    /// What it is called.
    pub method: &'a str,
    /// One for each seed.
    pub runs: Vec<&'a Run>,
    /// Number of examples.
    n: f64,
    /// The largest dual that any method has found at this λ.
    best_dual: f64,
}

/// All runs at one λ, by method.
pub struct AtLambda<'a> {
    /// The λ.
    pub lambda: f64,
    /// The largest dual value of all runs.
    pub best_dual: f64,
    /// All methods.
    pub groups: Vec<Group<'a>>,
}

/// The runs by λ and method, in the order in which they were run.
pub fn by_lambda(results: &Results) -> Vec<AtLambda<'_>> {
    let mut all: Vec<AtLambda<'_>> = Vec::new();
    for run in &results.runs {
        let at = match all.iter().position(|known| known.lambda == run.lambda) {
            Some(at) => at,
            None => {
                let same = results.runs.iter().filter(|other| other.lambda == run.lambda);
                let duals = same.map(|run| run.end.certificate.dual).filter(|d| d.is_finite());
                let best_dual = duals.fold(f64::NEG_INFINITY, f64::max);
                all.push(AtLambda { lambda: run.lambda, best_dual, groups: Vec::new() });
                all.len() - 1
            }
        };
        let AtLambda { groups, best_dual, .. } = &mut all[at];
        match groups.iter_mut().find(|group| group.method == run.method) {
            Some(group) => group.runs.push(run),
            None => groups.push(Group {
                method: &run.method,
                runs: vec![run],
                n: results.n as f64,
                best_dual: *best_dual,
            }),
        }
    }
    all
}

/// A gap that is so many times that at which half of the methods begin is off the scale.
const OFF_SCALE: f64 = 3.0;

impl AtLambda<'_> {
    /// Methods that end with a gap far above that at which half of the methods begin: their lines would leave
    /// the others no room. None if that is so of all.
    pub fn off_scale(&self) -> Vec<&str> {
        let first = self.groups.iter().filter_map(|group| group.column("gap").first().copied()?);
        let Some(usual) = Spread::of(first.map(|gap| gap.median)) else { return Vec::new() };
        let is_off = |group: &&Group<'_>| {
            group.last("gap").is_none_or(|gap| gap.median > OFF_SCALE * usual.median)
        };
        let off: Vec<&str> = self.groups.iter().filter(is_off).map(|group| group.method).collect();
        if off.len() == self.groups.len() { Vec::new() } else { off }
    }
}

/// The oracle calls of a method without those of gap checks.
fn own_calls(row: &Row) -> u64 {
    let record = &row.record;
    // Visits that remembered corners have served did not call an oracle.
    record.cache.map_or(record.visits, |cache| cache.misses)
}

impl Group<'_> {
    fn value(&self, row: &Row, column: &str) -> Option<f64> {
        let record = &row.record;
        let value = match column {
            "passes" => record.effective_passes,
            "own_passes" => own_calls(row) as f64 / self.n,
            "seconds" => record.seconds,
            "own_seconds" => record.seconds - record.gap_seconds,
            "processor_seconds" => row.processor_seconds?,
            "gap" => record.gap?,
            "subopt" => record.primal? - self.best_dual,
            "primal" => record.primal?,
            "dual" => record.dual,
            "train" => row.train_error?,
            "test" => row.test_error?,
            _ => return None,
        };
        value.is_finite().then_some(value)
    }

    /// The rows at which the gap is known, of each run.
    fn checks(&self) -> Vec<Vec<&Row>> {
        let known = |row: &&Row| row.record.gap.is_some();
        self.runs.iter().map(|run| run.rows.iter().filter(known).collect()).collect()
    }

    /// A column at each gap check, over the seeds. Where a run has ended before others, its last value
    /// stands for it, but where on the x axis a check is only those say who are there.
    pub(super) fn column(&self, column: &str) -> Vec<Option<Spread>> {
        let checks = self.checks();
        let across = COLUMNS[..ACROSS].contains(&column);
        let most = checks.iter().map(Vec::len).max().unwrap_or(0);
        let at = |k: usize| {
            let row = |rows: &Vec<&Row>| match rows.get(k) {
                None if !across => rows.last().and_then(|row| self.value(row, column)),
                found => found.and_then(|row| self.value(row, column)),
            };
            Spread::of(checks.iter().filter_map(row))
        };
        (0..most).map(at).collect()
    }

    /// A column where the gap is at most `gap` for the first time, in each run that gets there.
    pub fn when(&self, gap: f64, column: &str) -> Vec<f64> {
        let first = |rows: Vec<&Row>| {
            let row = rows.into_iter().find(|row| row.record.gap.is_some_and(|g| g <= gap))?;
            self.value(row, column)
        };
        self.checks().into_iter().filter_map(first).collect()
    }

    /// A column at the last check of each run at which `axis` is not yet beyond `most`.
    pub fn until(&self, axis: &str, most: f64, column: &str) -> Option<Spread> {
        let last = |rows: Vec<&Row>| {
            let early = |row: &&&Row| self.value(row, axis).is_some_and(|x| x <= most);
            rows.iter().rev().find(early).and_then(|row| self.value(row, column))
        };
        Spread::of(self.checks().into_iter().filter_map(last))
    }

    /// A column at the end of each run, where it is known.
    pub fn last(&self, column: &str) -> Option<Spread> {
        let last = |rows: Vec<&Row>| rows.last().and_then(|row| self.value(row, column));
        Spread::of(self.checks().into_iter().filter_map(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_have_a_middle_and_ends() {
        let spread = |median, min, max| Some(Spread { median, min, max });
        assert_eq!(Spread::of([3.0, 1.0, 9.0]), spread(3.0, 1.0, 9.0));
        assert_eq!(Spread::of([4.0, 2.0]), spread(3.0, 2.0, 4.0));
        assert_eq!(Spread::of([]), None);
    }
}
