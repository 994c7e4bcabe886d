//! A page of Markdown as the tests see it: its blocks of code, and what there is to run.

use std::ops::Range;

/// A page, in lines.
pub(crate) struct Page {
    pub(crate) lines: Vec<String>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) items: Vec<Item>,
}

/// A block of code between fences.
pub(crate) struct Block {
    /// The line of its fence, from 1.
    pub(crate) line: usize,
    /// The first word after the fence.
    pub(crate) language: String,
    /// Why it is not run, if a comment before it says so.
    pub(crate) unrun: Option<String>,
    pub(crate) has_command: bool,
}

/// Something to run.
pub(crate) enum Item {
    Command(Command),
    Keys(Keys),
}

/// A command and the lines that show what it prints.
pub(crate) struct Command {
    pub(crate) text: String,
    pub(crate) output: Range<usize>,
}

/// A command that prints a JSON object, and the line after which a table lists its keys.
pub(crate) struct Keys {
    pub(crate) command: String,
    pub(crate) from: usize,
}

const NOT_RUN: &str = "<!-- not run:";
const KEYS_OF: &str = "<!-- keys of:";

impl Page {
    pub(crate) fn parse(text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (mut blocks, mut items) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < lines.len() {
            if let Some(command) = comment(&lines[at], KEYS_OF) {
                items.push(Item::Keys(Keys { command, from: at + 1 }));
            }
            let Some(info) = lines[at].strip_prefix("```") else {
                at += 1;
                continue;
            };
            let end = (at + 1..lines.len()).find(|&end| lines[end].starts_with("```"));
            let end = end.unwrap_or_else(|| panic!("line {}: the block has no end", at + 1));
            let language = info.split([',', ' ']).next().unwrap_or("").to_owned();
            let is_marked = info.contains("ignore") || info.contains("no_run");
            let before = lines[..at].iter().rev().find(|line| !line.trim().is_empty());
            let unrun = before.and_then(|line| comment(line, NOT_RUN));
            let unrun = unrun.or_else(|| is_marked.then(String::new));
            let mut has_command = false;
            if language == "console" && unrun.is_none() {
                let commands = commands(&lines, at + 1..end);
                has_command = !commands.is_empty();
                items.extend(commands.into_iter().map(Item::Command));
            }
            blocks.push(Block { line: at + 1, language, unrun, has_command });
            at = end + 1;
        }
        Self { lines, blocks, items }
    }
}

/// What a comment says after its first words.
fn comment(line: &str, words: &str) -> Option<String> {
    let said = line.trim().strip_prefix(words)?.strip_suffix("-->")?;
    Some(said.trim().to_owned())
}

/// The commands of a block: lines after `$ `, with the lines that a backslash or a here-document joins to them.
fn commands(lines: &[String], block: Range<usize>) -> Vec<Command> {
    let mut found: Vec<Command> = Vec::new();
    let mut at = block.start;
    while at < block.end {
        let Some(command) = lines[at].strip_prefix("$ ") else {
            let last = found.last_mut().unwrap_or_else(|| {
                panic!("line {}: `console` begins with a command after `$ `", at + 1)
            });
            at += 1;
            last.output.end = at;
            continue;
        };
        let mut text = command.to_owned();
        at += 1;
        let document = text.split_once("<<").map(|(_, word)| {
            word.trim_matches(|c: char| c == '\'' || c == ' ').split([' ', '\'']).next().unwrap()
        });
        let document = document.map(str::to_owned);
        while at < block.end
            && (text.ends_with('\\')
                || document.as_ref().is_some_and(|end| !text.ends_with(&format!("\n{end}"))))
        {
            text.push('\n');
            text.push_str(&lines[at]);
            at += 1;
        }
        found.push(Command { text, output: at..at });
    }
    found
}
