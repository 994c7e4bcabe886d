//! What was covered.

use std::collections::BTreeMap;

/// Counts by table and key.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<(&'static str, String), u64>);

impl Tally {
    pub(crate) fn count(&mut self, table: &'static str, key: impl ToString) {
        *self.0.entry((table, key.to_string())).or_default() += 1;
    }

    pub(crate) fn get(&self, table: &'static str, key: &str) -> u64 {
        self.0.get(&(table, key.to_owned())).copied().unwrap_or(0)
    }

    pub(crate) fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|(key, count)| *self.0.entry(key).or_default() += count);
    }

    pub(crate) fn print(&self) {
        let mut last = "";
        for ((table, key), count) in &self.0 {
            if *table != last {
                println!("{table}");
                last = table;
            }
            println!("  {count:>8}  {key}");
        }
    }
}
