//! The folders of the library form layers: each imports only from the layers before it.

use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom up. ARCHITECTURE.md says what each is for.
const LAYERS: [&str; 17] = [
    "util",
    "problem",
    "settings",
    "dual",
    "error",
    "certificate",
    "inference",
    "observe",
    "run",
    "solver",
    "trainer",
    "distributed",
    "evaluate",
    "model",
    "kernel",
    "path",
    "product",
];

fn source_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

/// The names after `crate::` in code that is neither a comment nor a test.
fn imports(source: &str) -> Vec<String> {
    let code = source.split("\n#[cfg(test)]\nmod ").next().unwrap();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut names = Vec::new();
    for line in lines {
        // A macro of ours names the crate as its users see it.
        for (at, _) in line.match_indices("crate::").filter(|(at, _)| !line[..*at].ends_with('$')) {
            let rest = &line[at + "crate::".len()..];
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            names.push(rest[..end.unwrap_or(rest.len())].to_owned());
        }
    }
    names
}

#[test]
fn folders_import_from_lower_layers_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&root, &mut files);
    assert!(files.len() > 150, "only {} files were found", files.len());
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let first = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if first == "lib" || first == "doc" || file.ends_with("tests.rs") {
            continue;
        }
        let own = LAYERS.iter().position(|layer| *layer == first);
        let own = own.unwrap_or_else(|| panic!("`{first}` is in no layer"));
        for name in imports(&fs::read_to_string(&file).unwrap()) {
            if name == "forward_problem" {
                continue;
            }
            let other = LAYERS.iter().position(|layer| *layer == name);
            let other = other.unwrap_or_else(|| {
                panic!("{} imports crate::{name}; name its folder", inside.display())
            });
            assert!(
                other <= own,
                "{}: `{first}` imports `{name}`, which is a layer above it",
                inside.display()
            );
        }
    }
}
