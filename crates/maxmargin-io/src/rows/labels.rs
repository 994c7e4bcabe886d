//! The labels of rows, each with one number for all of its spellings, and new orders of names.

use crate::dataset::intern;
use crate::names::Names;
use crate::number::{parse_value, write_value};
use crate::numbered::canonical;
use maxmargin::sort;
use std::borrow::Cow;

/// The new numbers of old ones, or `None` if nothing changes.
pub(crate) struct Renumbering(Option<Vec<Option<u32>>>);

impl Renumbering {
    /// Puts names into a new order.
    pub(crate) fn new(names: &mut Names, order: Option<Vec<u32>>) -> Self {
        let Some(order) = order else { return Self(None) };
        let mut new = vec![None; names.len()];
        for (rank, &old) in (0..).zip(&order) {
            new[old as usize] = Some(rank);
        }
        *names = order.into_iter().map(|old| names.name(old)).collect();
        Self(Some(new))
    }

    pub(crate) fn of(&self, old: u32) -> Option<u32> {
        match &self.0 {
            None => Some(old),
            Some(new) => new[old as usize],
        }
    }
}

/// The labels in numeric order, if all are numbers and they are not in this order yet.
pub(super) fn numeric_order(names: &Names) -> Option<Vec<u32>> {
    let values: Result<Vec<f64>, _> = names.iter().map(parse_value).collect();
    let values = values.ok().filter(|values| !values.is_sorted())?;
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    sort::by(&mut order, |&a, &b| values[a as usize].total_cmp(&values[b as usize]));
    Some(order)
}

/// The same for attributes, if all are whole numbers.
pub(crate) fn index_order(names: &Names) -> Option<Vec<u32>> {
    let values: Option<Vec<u64>> = names.iter().map(canonical).collect();
    let values = values.filter(|values| !values.is_sorted())?;
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.sort_by_key(|&attribute| values[attribute as usize]);
    Some(order)
}

/// Names of labels as they are written, found by their meaning.
#[derive(Debug, Clone)]
pub(crate) struct Labels {
    pub(super) names: Names,
    /// The same names in their normal spelling.
    spellings: Names,
    /// All texts that were looked up, and the label that each means.
    texts: Names,
    meanings: Vec<u32>,
}

impl Labels {
    pub(super) fn of(names: &Names) -> Self {
        let spellings = names.iter().map(spelling).collect();
        Self { names: names.clone(), spellings, texts: Names::new(), meanings: Vec::new() }
    }

    /// Returns the index of a label, and adds the label if it is new. Returns `None` if there are too many.
    pub(crate) fn intern(&mut self, name: &str) -> Option<u32> {
        // The same few texts are looked up again and again, and finding the normal spelling takes time.
        if let Some(text) = self.texts.get(name) {
            return Some(self.meanings[text as usize]);
        }
        let label = intern(&mut self.spellings, &spelling(name))?;
        if label as usize == self.names.len() {
            self.names.intern(name);
        }
        if self.texts.len() < Names::MOST {
            self.texts.intern(name);
            self.meanings.push(label);
        }
        Some(label)
    }

    /// The names, as they were first written.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter()
    }
}

/// The normal spelling of a label, which is the same for all spellings of a number.
fn spelling(name: &str) -> Cow<'_, str> {
    let Ok(value) = parse_value(name) else { return name.into() };
    let mut text = String::new();
    write_value(&mut text, if value == 0.0 { 0.0 } else { value });
    text.into()
}
