//! Files of words in columns, one token per line: recognises their kind, and makes attributes of them.
//!
//! Most files that people have contain two columns `word label`, the four columns of CoNLL-2003, or CoNLL-U.
//! [`guess`] recognises them, [`choose`] finds the template for their columns, and [`ColumnsReader`] applies it.
//! Models store the attributes of the template in full, so that later versions predict from the same columns in the
//! same way.

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
