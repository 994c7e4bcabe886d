//! Whether a run may go on with other settings than it began with.

use super::Checkpoint;
use crate::error::TrainError;
use crate::settings::{Order, Settings, SettingsRecord};
use serde_json::{Map, Value};

impl Checkpoint<'_> {
    /// Refuses settings that would have led elsewhere. Training does the same.
    ///
    /// ```
    /// # use maxmargin::doc::toy;
    /// use maxmargin::{Checkpoint, CheckpointEvery, Settings, Trainer};
    ///
    /// let settings = Settings { max_passes: 3, tolerance: 0.0, ..Settings::default() };
    /// let mut keep = |checkpoint: &Checkpoint<'_>| {
    ///     let longer = Settings { max_passes: 9, ..settings.clone() };
    ///     assert!(checkpoint.check_settings(&longer).is_ok());
    ///     let other = Settings { seed: 7, ..settings.clone() };
    ///     let error = checkpoint.check_settings(&other).unwrap_err();
    ///     assert_eq!(error.to_string(), "the run was begun with seed 1 and cannot go on with 7");
    ///     Ok(())
    /// };
    /// let trainer = Trainer::new(settings.clone());
    /// trainer.checkpoint(CheckpointEvery::Passes(1), &mut keep).train(&toy())?;
    /// # Ok::<(), maxmargin::TrainError>(())
    /// ```
    ///
    /// # Errors
    /// Settings that make no sense, or the first changed setting that is more than a limit.
    pub fn check_settings(&self, now: &Settings) -> Result<(), TrainError> {
        // What `auto` starts with depends on the problem, which is the same.
        let simplices = self.settings.order == Order::Lazy;
        self.check_resolved(&now.checked()?.resolved(simplices))
    }

    /// As [`check_settings`](Self::check_settings), after `auto` has filled in what it starts with.
    pub(crate) fn check_resolved(&self, now: &SettingsRecord) -> Result<(), TrainError> {
        // Limits may change, and so may settings that do not influence the result. The number of `patience` may change,
        // but not whether there is one.
        let bound = |settings: &SettingsRecord| {
            let free = SettingsRecord::default();
            SettingsRecord {
                tolerance: free.tolerance,
                relative_tolerance: free.relative_tolerance,
                max_passes: free.max_passes,
                max_oracle_calls: free.max_oracle_calls,
                max_seconds: free.max_seconds,
                patience: settings.patience.map(|_| 1),
                threads: free.threads,
                block_gaps: free.block_gaps,
                diagnose: free.diagnose,
                ..settings.clone()
            }
        };
        let Some(name) = first_difference(&bound(&self.settings), &bound(now)) else {
            return Ok(());
        };
        let value =
            |settings: &SettingsRecord| match serde_json::to_value(settings).ok()?.get(&name)? {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            };
        let (then, now) = (value(&self.settings), value(now));
        Err(TrainError::ResumeSetting { name, then, now })
    }
}

/// The name of the first setting in which two differ.
fn first_difference(a: &SettingsRecord, b: &SettingsRecord) -> Option<String> {
    if a == b {
        return None;
    }
    let fields = |settings| match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let (a, b) = (fields(a), fields(b));
    let different = a.iter().find(|(name, value)| b.get(*name) != Some(*value));
    // They differ even if JSON does not show it.
    Some(different.map_or_else(|| "settings".to_owned(), |(name, _)| name.clone()))
}
