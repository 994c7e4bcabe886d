//! Files of words in columns, a line per token: which kind they are, and attributes made of them.
//!
//! Most files that people have look like this: `word label`, the four columns of CoNLL-2003, or
//! CoNLL-U. [`guess`] recognises them, [`choose`] finds the template that goes with their columns, and
//! [`ColumnsReader`] applies it. Models keep the template with its attributes spelt out, so that
//! predictions are made from the same columns, and stay what they are in later versions.

mod attributes;
mod built_in;
mod choose;
mod guess;
mod layout;
mod reader;
mod rules;
mod sentence;

pub(crate) use attributes::Attributes;
pub(crate) use built_in::chunking_attributes;
pub use built_in::{BuiltInTemplate, UnknownTemplate};
pub(crate) use choose::{choose, rules};
pub(crate) use guess::{Columns, look_at_columns};
pub(crate) use layout::{Layout, is_conllu};
pub use reader::ColumnsReader;
pub(crate) use rules::{ColumnRules, StoredRules};
pub(crate) use sentence::Sentence;

#[cfg(test)]
mod tests;
