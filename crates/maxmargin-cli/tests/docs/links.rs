//! Links between the documents of the repository.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold nothing of ours.
const SKIPPED: [&str; 4] = ["target", "site", "node_modules", "venv"];

/// Checks that links and pictures of all Markdown files lead to files, and to headings that are there.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let mut pages = Vec::new();
    collect(root, &mut pages);
    let mut anchors: HashMap<PathBuf, Vec<String>> = HashMap::new();
    let mut complaints = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        for target in targets(&text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let Ok(path) = path.canonicalize() else {
                complaints.push(format!("{}: no file {target}", page.display()));
                continue;
            };
            let is_page = path.extension().is_some_and(|ending| ending == "md");
            if is_page && !anchor.is_empty() {
                let known = anchors
                    .entry(path.clone())
                    .or_insert_with(|| headings(&fs::read_to_string(&path).unwrap()));
                if !known.iter().any(|known| known == anchor) {
                    complaints.push(format!("{}: no heading {target}", page.display()));
                }
            }
        }
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            collect(&path, pages);
        } else if name.ends_with(".md") {
            pages.push(path);
        }
    }
}

/// What stands in brackets after `](`, outside of code.
fn targets(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in prose(text) {
        for rest in line.split("](").skip(1) {
            if let Some((target, _)) = rest.split_once(')') {
                found.push(target.split(' ').next().unwrap_or(target));
            }
        }
    }
    found
}

fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        if line.starts_with("```") {
            is_code = !is_code;
            return false;
        }
        !is_code
    })
}

/// The anchors of headings, made as GitHub makes them.
fn headings(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in prose(text).filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim();
        let anchor: String = title
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let again = found.iter().filter(|known| **known == anchor).count();
        found.push(if again == 0 { anchor } else { format!("{anchor}-{again}") });
    }
    found
}
