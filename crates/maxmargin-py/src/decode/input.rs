//! Arrays as decoders read them.

use crate::error::value_error;
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods as _};
use pyo3::prelude::*;

/// A contiguous array of either precision.
#[derive(FromPyObject)]
pub(crate) enum Numbers<'py> {
    F64(PyReadonlyArrayDyn<'py, f64>),
    F32(PyReadonlyArrayDyn<'py, f32>),
}

/// A contiguous array of whole numbers.
pub(crate) type Whole<'py> = PyReadonlyArrayDyn<'py, i64>;

/// The numbers of an array, wherever they are.
#[derive(Clone, Copy)]
pub(super) enum View<'a> {
    F64(&'a [f64]),
    F32(&'a [f32]),
}

fn not_contiguous(_: impl std::fmt::Debug) -> PyErr {
    value_error("an array is not contiguous")
}

impl Numbers<'_> {
    pub(super) fn view(&self) -> PyResult<View<'_>> {
        Ok(match self {
            Self::F64(array) => View::F64(array.as_slice().map_err(not_contiguous)?),
            Self::F32(array) => View::F32(array.as_slice().map_err(not_contiguous)?),
        })
    }

    /// Sizes of an array of scores: items, places, and numbers per place.
    pub(super) fn sizes(&self) -> PyResult<[usize; 3]> {
        let shape = match self {
            Self::F64(array) => array.shape(),
            Self::F32(array) => array.shape(),
        };
        <[usize; 3]>::try_from(shape).map_err(|_| value_error("scores must have three dimensions"))
    }
}

/// The view of an array that may be missing.
pub(super) fn view_of<'a>(numbers: &'a Option<Numbers<'_>>) -> PyResult<Option<View<'a>>> {
    numbers.as_ref().map(Numbers::view).transpose()
}

/// The whole numbers of an array that may be missing.
pub(super) fn whole_of<'a>(numbers: &'a Option<Whole<'_>>) -> PyResult<Option<&'a [i64]>> {
    let slice = |array: &'a Whole<'_>| array.as_slice().map_err(not_contiguous);
    numbers.as_ref().map(slice).transpose()
}

impl<'a> View<'a> {
    pub(super) fn len(self) -> usize {
        match self {
            Self::F64(all) => all.len(),
            Self::F32(all) => all.len(),
        }
    }

    /// Numbers in double precision: in place if they are, otherwise copied to `scratch`.
    pub(super) fn read<'b>(self, from: usize, count: usize, scratch: &'b mut Vec<f64>) -> &'b [f64]
    where
        'a: 'b,
    {
        match self {
            Self::F64(all) => &all[from..from + count],
            Self::F32(_) => {
                scratch.clear();
                self.append(from, count, scratch);
                scratch
            }
        }
    }

    /// Appends numbers in double precision.
    pub(super) fn append(self, from: usize, count: usize, to: &mut Vec<f64>) {
        match self {
            Self::F64(all) => to.extend_from_slice(&all[from..from + count]),
            Self::F32(all) => to.extend(all[from..from + count].iter().map(|&x| f64::from(x))),
        }
    }
}

/// An array of which all items have the same part, or each item has one of its own.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a> {
    view: View<'a>,
    size: usize,
    stride: usize,
}

impl<'a> Shared<'a> {
    /// An array of which each of `items` has `size` numbers, if it is large enough for that.
    pub(super) fn new(view: View<'a>, size: usize, items: usize) -> PyResult<Self> {
        let stride = match view.len() {
            all if all == size => 0,
            all if all == size * items => size,
            all => {
                let text = format!("{all} numbers were given for {items} items of {size}");
                return Err(value_error(text));
            }
        };
        Ok(Self { view, size, stride })
    }

    pub(super) fn read<'b>(self, item: usize, scratch: &'b mut Vec<f64>) -> &'b [f64]
    where
        'a: 'b,
    {
        self.view.read(item * self.stride, self.size, scratch)
    }
}

/// What may not be among scores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Allowed {
    /// Finite numbers only.
    Finite,
    /// Finite numbers, and −∞ for what is never chosen.
    FiniteOrNever,
}

/// Checks numbers; `place` tells the name of the one at an index.
pub(super) fn check(
    numbers: &[f64],
    allowed: Allowed,
    place: impl Fn(usize) -> String,
) -> Result<(), String> {
    // Comparisons with NaN are false. Sums over all numbers are fast, and nearly always all is well.
    let is_fine = |x: f64| match allowed {
        Allowed::Finite => x.is_finite(),
        Allowed::FiniteOrNever => x < f64::INFINITY,
    };
    let fine = numbers.iter().fold(true, |fine, &x| fine & is_fine(x));
    if fine {
        return Ok(());
    }
    let at = numbers.iter().position(|&x| !is_fine(x)).unwrap_or_default();
    let needed = match allowed {
        Allowed::Finite => "it must be a finite number",
        Allowed::FiniteOrNever => "it must be a finite number, or -inf for never",
    };
    Err(format!("{} is {}; {needed}", place(at), numbers[at]))
}

/// The loss that is added to scores: of every true label and label, and whether it is divided by the length.
#[derive(Clone, Copy)]
pub(super) struct Loss<'a> {
    pub(super) truth: &'a [i64],
    pub(super) table: &'a [f64],
    pub(super) is_share: bool,
}

impl Loss<'_> {
    /// Adds the loss to the scores of an item, of which there are `labels` at each place. Its true labels
    /// are those from `first` on.
    pub(super) fn add(
        &self,
        first: usize,
        labels: usize,
        scores: &mut [f64],
    ) -> Result<(), String> {
        let length = scores.len() / labels.max(1);
        let scale = if self.is_share { 1.0 / length as f64 } else { 1.0 };
        for (t, row) in scores.chunks_exact_mut(labels).enumerate() {
            let truth = self.truth[first + t];
            let Some(truth) = usize::try_from(truth).ok().filter(|truth| *truth < labels) else {
                return Err(format!(
                    "the true label at {t} is {truth}; labels go from 0 to {}",
                    labels.saturating_sub(1)
                ));
            };
            let costs = &self.table[truth * labels..][..labels];
            row.iter_mut().zip(costs).for_each(|(score, cost)| *score += scale * cost);
        }
        Ok(())
    }
}

/// The loss, if there is a truth.
pub(super) fn loss_of<'a>(
    truth: Option<&'a [i64]>,
    table: Option<View<'a>>,
    is_share: bool,
) -> PyResult<Option<Loss<'a>>> {
    match (truth, table) {
        (Some(truth), Some(View::F64(table))) => Ok(Some(Loss { truth, table, is_share })),
        (None, _) => Ok(None),
        _ => Err(value_error("a truth needs a loss of double precision")),
    }
}
