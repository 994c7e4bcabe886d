//! Decoders on NumPy arrays: scores in, best structures out.
//!
//! Python has checked shapes and types and made arrays contiguous (`python/maxmargin/decode`); values are
//! looked at here, item by item, on the thread that decodes the item. Python's lock is released. Arrays are
//! read where they are; an item is copied only if a loss has to be added to its scores, if it is shorter
//! than the array, or if its numbers are of single precision.

mod assignments;
mod chains;
mod cuts;
mod graphs;
mod input;
mod lawler;
mod potts;

pub(crate) use assignments::decode_assignments;
pub(crate) use chains::decode_chains;
pub(crate) use cuts::decode_cuts;
pub(crate) use graphs::decode_graphs;
pub(crate) use potts::decode_potts;

use crate::error::value_error;
use maxmargin_io::map_side_by_side;
use numpy::PyArray1;
use pyo3::prelude::*;

/// With less work than this, in steps of a nanosecond or so, starting threads does not pay.
const LITTLE: usize = 200_000;

/// What an item has come to: for each of its answers, best first, one number per place; and scores.
struct Found {
    outputs: Vec<i64>,
    scores: Vec<f64>,
    bound: f64,
}

impl Found {
    fn one(output: impl Iterator<Item = i64>, score: f64, bound: f64) -> Self {
        Self { outputs: output.collect(), scores: vec![score], bound }
    }
}

/// The name of an item in messages; a single one has no number.
#[derive(Clone, Copy)]
struct Naming {
    is_batch: bool,
}

impl Naming {
    fn of(self, item: usize, message: &str) -> String {
        if self.is_batch { format!("item {item}: {message}") } else { message.to_owned() }
    }
}

/// Arrays of answers: outputs of `items` × `answers` × `width` with −1 where there is none, scores of
/// `items` × `answers` with −∞ where there is none, and bounds of `items`.
type Answers<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// The numbers of such arrays.
type Numbers = (Vec<i64>, Vec<f64>, Vec<f64>);

/// How many items there are, and what their answers look like.
#[derive(Clone, Copy)]
struct Batch {
    items: usize,
    answers: usize,
    /// Places of an output.
    width: usize,
    /// What decoding an item costs, in steps.
    work: usize,
    threads: usize,
    naming: Naming,
}

impl Batch {
    /// Decodes all items with Python's lock released, and lays their answers out as arrays.
    fn run<'py, S>(
        self,
        py: Python<'py>,
        start: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, usize) -> Result<Found, String> + Sync + Send,
    ) -> PyResult<Answers<'py>> {
        let is_little = self.work.saturating_mul(self.items) < LITTLE;
        let threads = if is_little { 1 } else { self.threads };
        let found = py.detach(|| self.collect(map_side_by_side(self.items, threads, start, work)));
        let (outputs, scores, bounds) = found.map_err(value_error)?;
        let array = |numbers| PyArray1::from_vec(py, numbers);
        Ok((PyArray1::from_vec(py, outputs), array(scores), array(bounds)))
    }

    fn collect(self, found: Vec<Result<Found, String>>) -> Result<Numbers, String> {
        let mut outputs = vec![-1; self.items * self.answers * self.width];
        let mut scores = vec![f64::NEG_INFINITY; self.items * self.answers];
        let mut bounds = Vec::with_capacity(self.items);
        for (i, found) in found.into_iter().enumerate() {
            let found = found.map_err(|message| self.naming.of(i, &message))?;
            let own = found.outputs.len() / found.scores.len().max(1);
            for (answer, &score) in found.scores.iter().enumerate() {
                let place = i * self.answers + answer;
                outputs[place * self.width..][..own]
                    .copy_from_slice(&found.outputs[answer * own..][..own]);
                scores[place] = score;
            }
            bounds.push(found.bound);
        }
        Ok((outputs, scores, bounds))
    }
}
