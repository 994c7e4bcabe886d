//! A folder to work in, and the command run in it: the `PROGRAM` of the tests that include this file, by name and
//! path.

use crate::PROGRAM;
use maxmargin_io::{ChainSpec, Model, Spec};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use tempfile::TempDir;

/// Three sentences in CRFsuite's layout.
pub(crate) const PETS: &str = "\
DT\tw=the\tcap
NN\tw=dog
VB\tw=barks

DT\tw=a
NN\tw=cat
VB\tw=sleeps

NN\tw=dogs\tlen:0.5
VB\tw=bark
";

/// Two sequences in SVM-HMM's layout.
pub(crate) const TAGS: &str = "\
1 qid:1 1:1 3:0.5 # the
2 qid:1 2:1
1 qid:2 1:1
3 qid:2 4:-1
";

/// Rows with sets of labels.
pub(crate) const SETS: &str = "\
1,2 1:1 2:1 9:1
1 1:1 9:1
2,3 2:1 3:1 9:1
 3:0.5 9:1
3 3:1 9:1
";

/// A ring whose factors pull different ways, and a pair.
pub(crate) const GRAPHS: &str = concat!(
    r#"{"variables": [{"states": 2, "truth": 0}, {"states": 2, "truth": 1}, {"states": 2, "truth": 1}], "#,
    r#""factors": [{"template": "pixel", "variables": [0], "attributes": {"dark": 1}}, "#,
    r#"{"template": "pixel", "variables": [1], "attributes": {"light": 1}}, "#,
    r#"{"template": "edge", "variables": [0, 1], "attributes": {"bias": 1}}, "#,
    r#"{"template": "edge", "variables": [1, 2], "attributes": {"bias": 1}}, "#,
    r#"{"template": "edge", "variables": [2, 0], "attributes": {"bias": 0.1}}]}"#,
    "\n",
    r#"{"variables": [{"states": 2, "truth": 0}, {"states": 2, "truth": 0}], "#,
    r#""factors": [{"template": "pixel", "variables": [0], "attributes": {"dark": 1}}, "#,
    r#"{"template": "edge", "variables": [0, 1], "attributes": {"bias": 1}}]}"#,
    "\n"
);

/// A folder of its own for a test, with `pets.crf` and `tags.hmm` in it.
pub(crate) struct Desk {
    folder: TempDir,
}

/// What a run of the command has left.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        desk.write("pets.crf", PETS);
        desk.write("tags.hmm", TAGS);
        desk
    }

    /// A desk with a model of the pets in `pets.model`, trained with `options`.
    pub(crate) fn with_model(options: &str) -> Self {
        let desk = Self::new();
        desk.run(&format!("train pets.crf -o pets.model {options}")).ok();
        desk
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn model(&self, name: &str) -> Model {
        Model::load(self.path(name)).unwrap()
    }

    /// All names in a folder, hidden ones too, in order.
    pub(crate) fn files(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    /// The command, with arguments that are separated by blanks.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(PROGRAM.1);
        command
            .args(arguments.split_whitespace())
            .current_dir(self.folder.path())
            .env("NO_COLOR", "1")
            .env("RUST_BACKTRACE", "0")
            .env_remove("CLICOLOR_FORCE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    /// Runs the command with `input` on standard input.
    pub(crate) fn run_on(&self, input: &str, arguments: &str) -> Run {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Run::of(child.wait_with_output().unwrap())
    }

    /// A session: commands, one per line, and what each has printed.
    pub(crate) fn session(&self, commands: &str) -> String {
        let mut text = String::new();
        for command in commands.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let run = self.run(command);
            let _ = writeln!(text, "$ {} {command}\n{}", PROGRAM.0, run.transcript());
        }
        text
    }
}

impl Run {
    /// Whatever happens, it must not be a panic.
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        let code = output.status.code().unwrap_or_else(|| panic!("killed: {stderr}"));
        assert!(code != 101 && !stderr.contains("panicked"), "{stderr}");
        Self { code, stdout, stderr }
    }

    /// Asserts success.
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}", self.transcript());
        self
    }

    /// Asserts that ctrl-C has ended it, after it has saved what it has.
    pub(crate) fn interrupted(self) -> Self {
        assert_eq!(self.code, 130, "{}", self.transcript());
        self
    }

    /// The one JSON object on standard output.
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout).unwrap();
        assert!(value.is_object(), "{value}");
        value
    }

    /// Both streams and the exit code, with times masked.
    pub(crate) fn transcript(&self) -> String {
        let mut text = mask(&self.stderr);
        if !text.is_empty() && !self.stdout.is_empty() {
            text.push_str("--- stdout\n");
        }
        text.push_str(&mask(&self.stdout));
        if self.code != 0 {
            let _ = writeln!(text, "[exit code {}]", self.code);
        }
        text
    }
}

/// Reads what a command says until a line has `text` in it; what it says after that is still to come.
pub(crate) fn until(child: &mut Child, text: &str) -> BufReader<ChildStderr> {
    let mut talk = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains(text) {
        line.clear();
        assert!(talk.read_line(&mut line).unwrap() > 0, "it ended before it said {text:?}");
    }
    talk
}

/// Digits after the point that are not left to the moods of rounding.
const DIGITS: usize = 9;

/// What follows depends on the machine.
const TAKE: &str = "oracle calls take";

/// Replaces the number in `1.23s` and `1.23 s` by `#.##`, shortens numbers with many digits, and hides
/// what oracle calls take.
pub(crate) fn mask(text: &str) -> String {
    let hidden = |line: &str| match line.split_once(TAKE) {
        Some((before, after)) => format!("{before}{TAKE} #{}", &after[after.trim_end().len()..]),
        None => line.to_owned(),
    };
    let text: String = text.split_inclusive('\n').map(hidden).collect();
    let mut masked = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let length = number.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, after) = number.split_at(length.unwrap_or(number.len()));
        let unit = after.strip_prefix(' ').unwrap_or(after).strip_prefix('s');
        let ends = unit.is_some_and(|next| !next.starts_with(char::is_alphanumeric));
        masked.push_str(before);
        match number.split_once('.') {
            Some(_) if ends => masked.push_str("#.##"),
            Some((whole, digits)) if digits.len() > DIGITS => {
                let _ = write!(masked, "{whole}.{}…", &digits[..DIGITS]);
            }
            _ => masked.push_str(number),
        }
        rest = after;
    }
    masked + rest
}

/// Keeps six significant digits of every number, and hides what depends on the machine.
pub(crate) fn mask_json(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let short: f64 = format!("{:.5e}", number.as_f64().unwrap()).parse().unwrap();
            *value = short.into();
        }
        Value::Array(items) => items.iter_mut().for_each(mask_json),
        Value::Object(fields) => {
            for (name, field) in fields {
                match name.as_str() {
                    name if name.ends_with("seconds") && field.is_f64() => *field = "#".into(),
                    "drift" | "reason" => *field = "#".into(),
                    _ => mask_json(field),
                }
            }
        }
        _ => {}
    }
}

/// The names in an object, in order.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn seconds_and_long_numbers_are_masked_and_nothing_else() {
    let text = "10 0.5 w=1.5 12.25s 0.01 s. 3.5 sequences 7s v1.2.3 0.1234567891 8.180e-3\n0.1s";
    let masked = "10 0.5 w=1.5 #.##s #.## s. 3.5 sequences 7s v1.2.3 0.123456789… 8.180e-3\n#.##s";
    assert_eq!(mask(text), masked);
}

/// What a model of a chain says of itself.
pub(crate) fn chain(model: &mut Model) -> &mut ChainSpec {
    match &mut model.meta.spec {
        Spec::Chain(spec) => spec,
        other => panic!("{other:?} is no chain"),
    }
}

/// The names of the examples on a page, in their order.
pub(crate) fn examples(page: &str) -> Vec<String> {
    let heads = page.split("<p class=\"head\"><b>").skip(1);
    heads.filter_map(|rest| Some(rest.split_once("</b>")?.0.to_owned())).collect()
}

/// The measures of a page's tiles: what each is called, and its value.
pub(crate) fn tiles(page: &str) -> Vec<(String, String)> {
    let tile = |rest: &str| {
        let (label, rest) = rest.split_once("</dt>")?;
        let value = rest.split_once("class=\"value\">")?.1.split_once('<')?.0;
        Some((label.to_owned(), value.to_owned()))
    };
    page.split("<dt>").skip(1).filter_map(tile).collect()
}
