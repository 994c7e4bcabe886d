//! The command that was run, when, and with which settings; names of folders are nobody's business.

use maxmargin::Settings;
use maxmargin_report::{Code, Table};
use serde_json::Value;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of a file without its folder; of data, with the part that is named after a colon.
pub(crate) fn file_name(path: &str) -> &str {
    let name = path.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or(path);
    if name.is_empty() { path } else { name }
}

/// An argument as it can be shown: paths, alone or as the value of an option, lose their folders.
fn shown(argument: &str) -> String {
    let (option, value) = if argument.starts_with("--") {
        let at = argument.find('=').map_or(argument.len(), |at| at + 1);
        argument.split_at(at)
    } else if argument.starts_with('-') {
        // The value of a short option may follow it at once: `-oMODEL`.
        let letter = argument.char_indices().nth(2).map_or(argument.len(), |(at, _)| at);
        let is_equal = argument[letter..].starts_with('=');
        argument.split_at(letter + usize::from(is_equal))
    } else {
        ("", argument)
    };
    let value = match is_path(value) {
        true => file_name(value),
        false => value,
    };
    quoted(&format!("{option}{value}"))
}

/// Whether an argument names a file: one that is there, or could be there, in a folder that is.
fn is_path(argument: &str) -> bool {
    let folder = Path::new(argument).parent().filter(|folder| !folder.as_os_str().is_empty());
    argument.contains(['/', '\\']) && folder.is_some_and(Path::is_dir)
        || Path::new(argument).is_absolute()
}

/// As a shell wants to read it.
fn quoted(argument: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=+.,:/@%^~[]".contains(c);
    match !argument.is_empty() && argument.chars().all(is_plain) {
        true => argument.to_owned(),
        false => format!("'{}'", argument.replace('\'', "'\\''")),
    }
}

/// The command line as a section, if it is known.
pub(crate) fn section(line: &[String], date: &str) -> Option<Code> {
    let arguments = line.get(1..).filter(|arguments| !arguments.is_empty())?;
    let mut text = "maxmargin".to_owned();
    for argument in arguments {
        text.push(' ');
        text.push_str(&shown(argument));
    }
    let note = format!(
        "Run on {date} with maxmargin {}; names of folders are left out.",
        env!("CARGO_PKG_VERSION")
    );
    Some(Code::new("The command", text).note(note))
}

/// Now, in UTC; or the time that `SOURCE_DATE_EPOCH` sets for those who want equal bytes.
pub(crate) fn date() -> String {
    let set = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    written(set.unwrap_or_else(now))
}

/// Seconds since 1970 as a date.
fn written(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (mut year, mut left) = (1970, days);
    let length = |year: u64| {
        let leaps =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        365 + u64::from(leaps)
    };
    while left >= length(year) {
        left -= length(year);
        year += 1;
    }
    let february = length(year) - 337;
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if left < days {
            break;
        }
        left -= days;
        month += 1;
    }
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year}-{month:02}-{:02} {hour:02}:{minute:02} UTC", left + 1)
}

/// All settings, those that are not the default first.
pub(crate) fn settings(settings: &Settings) -> Option<Table> {
    let as_fields = |settings: &Settings| match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => Some(fields),
        _ => None,
    };
    let (own, default) = (as_fields(settings)?, as_fields(&Settings::default())?);
    let value = |value: Option<&Value>| match value {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let table = Table::new("Settings")
        .note("As the run was asked for; – is left to the program. Those that are not the default come first.")
        .text_column("Setting")
        .text_column("Value")
        .text_column("Default");
    let (usual, changed): (Vec<_>, Vec<_>) =
        own.iter().partition(|(key, value)| default.get(*key) == Some(value));
    let row = |table: Table, (key, own): (&String, &Value)| {
        table.row([key.replace('_', "-"), value(Some(own)), value(default.get(key))])
    };
    Some(changed.into_iter().chain(usual).fold(table, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00 UTC"),
            (951_782_400, "2000-02-29 00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59 UTC"),
            (1_735_689_599, "2024-12-31 23:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00 UTC"),
        ] {
            assert_eq!(written(seconds), text);
        }
    }

    #[test]
    fn folders_are_left_out_and_words_are_quoted() {
        let folder = std::env::temp_dir();
        let path = folder.join("my data.txt").display().to_string();
        let line = ["/usr/bin/maxmargin", "train", &path, "--label-weight", "N/A=2"];
        let more = [format!("--report={path}"), format!("-o{path}"), "-q".to_owned()];
        let line: Vec<String> = line.map(str::to_owned).into_iter().chain(more).collect();
        let code = section(&line, "today").unwrap();
        assert_eq!(
            code.text,
            "maxmargin train 'my data.txt' --label-weight N/A=2 '--report=my data.txt' '-omy data.txt' -q"
        );
        assert_eq!(section(&line[..1], ""), None);
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(
            (file_name("a/b.txt:train"), file_name("c/d/"), file_name("-")),
            ("b.txt:train", "d", "-")
        );
    }

    #[test]
    fn settings_that_were_changed_come_first() {
        let table = settings(&Settings { seed: 17, ..Settings::default() }).unwrap();
        assert_eq!(table.rows[0], ["seed", "17", "1"]);
        assert!(table.rows.len() > 10);
    }
}
