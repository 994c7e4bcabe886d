//! Results of runs that no race makes, kept as traces of races are: what is there, whole and made under the
//! same conditions, is not made again.

use super::lab::Lab;
use anyhow::Result;
use maxmargin_command::lab::{make_folder, write_file};
use maxmargin_report::slug;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Serialize, Deserialize)]
struct Kept<T> {
    /// Everything that the result depends on.
    conditions: Value,
    result: T,
}

impl Lab<'_> {
    fn file(&self, part: &str, name: &str) -> PathBuf {
        self.folder().join(slug(part)).join("traces").join(format!("{}.json", slug(name)))
    }

    /// A result of before, if it was made under the same conditions.
    pub(super) fn find<T: DeserializeOwned>(
        &self,
        part: &str,
        name: &str,
        conditions: &Value,
    ) -> Option<T> {
        let text = std::fs::read(self.file(part, name)).ok()?;
        let kept: Kept<T> = serde_json::from_slice(&text).ok()?;
        (kept.conditions == with_version(conditions)).then_some(kept.result)
    }

    /// Keeps a result for later.
    pub(super) fn keep<T: Serialize>(
        &self,
        part: &str,
        name: &str,
        conditions: &Value,
        result: &T,
    ) -> Result<()> {
        let file = self.file(part, name);
        file.parent().map(make_folder).transpose()?;
        let kept = Kept { conditions: with_version(conditions), result };
        write_file(&file, &serde_json::to_vec(&kept)?)
    }
}

fn with_version(conditions: &Value) -> Value {
    // As it will be read again.
    let text = json!({ "version": env!("CARGO_PKG_VERSION"), "of": conditions }).to_string();
    serde_json::from_str(&text).unwrap_or_default()
}

/// A number that is not there is `null` in JSON, and no number here.
pub(super) fn number<'d, D: serde::Deserializer<'d>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::lab::Place;
    use maxmargin_command::lab::Screen;

    #[test]
    fn results_are_found_again_under_the_same_conditions_only() {
        #[derive(Serialize, Deserialize)]
        struct Row(#[serde(deserialize_with = "number")] f64);

        let (folder, screen) = (tempfile::tempdir().unwrap(), Screen::new(true));
        let place = Place { folder: folder.path(), others: &[], data: None };
        let lab = Lab::new(false, false, place, &[], &screen);
        let conditions = json!({ "lambda": 0.1, "passes": u64::MAX, "share": 1.0 / 3.0 });
        let found = |name: &str, conditions: &Value| -> Option<Vec<f64>> {
            let rows: Vec<Row> = lab.find("Some data", name, conditions)?;
            Some(rows.into_iter().map(|row| row.0).collect())
        };
        assert_eq!(found("ρ = 1", &conditions), None);
        lab.keep("Some data", "ρ = 1", &conditions, &[Row(0.5), Row(f64::NAN)]).unwrap();
        let again = found("ρ = 1", &conditions).unwrap();
        assert!(again[0] == 0.5 && again[1].is_nan());
        assert_eq!(found("ρ = 2", &conditions), None);
        assert_eq!(found("ρ = 1", &json!({ "lambda": 0.2 })), None);
        std::fs::write(lab.file("Some data", "ρ = 1"), "{\"conditions\": 3").unwrap();
        assert_eq!(found("ρ = 1", &conditions), None);
    }
}
