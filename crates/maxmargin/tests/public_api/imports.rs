//! What a text imports from the library.

/// The paths of all items that a text imports by `use maxmargin::…;`, in code or in documentation.
pub(crate) fn of(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for statement in text.split("use maxmargin::").skip(1) {
        let tree = statement.split(';').next().unwrap();
        // Line ends in documentation go on with its marks.
        let tree: String =
            tree.lines().map(|line| line.trim().trim_start_matches(['/', '!', '#'])).collect();
        expand("maxmargin::", &tree.replace(' ', ""), &mut found);
    }
    found
}

/// Writes a tree of braces as single paths.
fn expand(prefix: &str, tree: &str, found: &mut Vec<String>) {
    let Some(open) = tree.find('{') else {
        return found.push(format!("{prefix}{tree}").trim_end_matches("::self").to_owned());
    };
    let prefix = format!("{prefix}{}", &tree[..open]);
    let inside = tree[open + 1..].strip_suffix('}').unwrap_or(&tree[open + 1..]);
    let (mut depth, mut start) = (0, 0);
    for (at, mark) in inside.char_indices().chain([(inside.len(), ',')]) {
        match mark {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if start < at {
                    expand(&prefix, &inside[start..at], found);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

#[test]
fn trees_become_paths() {
    let text = "/// use maxmargin::{Settings, train,\n/// model::chain::{Chain, Hamming}};";
    let paths = of(text);
    let expected = ["Settings", "train", "model::chain::Chain", "model::chain::Hamming"];
    assert_eq!(paths, expected.map(|path| format!("maxmargin::{path}")));
}
