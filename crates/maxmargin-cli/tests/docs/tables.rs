//! Tables that list the keys of a JSON object.

use crate::page::Keys;
use crate::shell::Shell;
use serde_json::Value;
use std::collections::BTreeSet;

/// Keys that only come with some options have this mark in their row.
const OPTIONAL: char = '†';

/// Compares the names in the first column of a table with the keys of the object that the command prints.
pub(crate) fn check(keys: &Keys, lines: &[String], shell: &Shell) -> Option<String> {
    let printed = shell.run(&keys.command).text();
    let Ok(Value::Object(object)) = serde_json::from_str::<Value>(&printed) else {
        return Some(format!("`{}` prints no JSON object:\n{printed}", keys.command));
    };
    let keys_there: BTreeSet<&str> = object.keys().map(String::as_str).collect();
    let (mut told, mut invented) = (BTreeSet::new(), Vec::new());
    let rows = lines[keys.from..].iter().skip_while(|line| !line.starts_with('|')).skip(2);
    for row in rows.take_while(|line| line.starts_with('|')) {
        // Names stand between backticks.
        for name in row.split('|').nth(1).unwrap_or("").split('`').skip(1).step_by(2) {
            told.insert(name);
            if !keys_there.contains(name) && !row.contains(OPTIONAL) {
                invented.push(name);
            }
        }
    }
    let untold: Vec<&&str> = keys_there.difference(&told).collect();
    (!untold.is_empty() || !invented.is_empty()).then(|| {
        format!("`{}`: the table leaves out {untold:?} and has {invented:?} too many", keys.command)
    })
}
