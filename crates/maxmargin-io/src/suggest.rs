//! Suggests names that may have been meant.

/// The name among `known` of which `name` is a misspelling, if there is one: one or two letters are wrong, missing,
/// too many, or in the wrong order.
///
/// ```
/// use maxmargin_io::suggest;
/// assert_eq!(suggest("ocr-smal", ["ocr-small", "ocr-large"]), Some("ocr-small"));
/// assert_eq!(suggest("wrods", ["words", "chunking"]), Some("words"));
/// assert_eq!(suggest("train.txt", ["words", "chunking"]), None);
/// ```
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().map(|known| (distance(name, known), known));
    let (least, nearest) = distances.min_by_key(|(distance, _)| *distance)?;
    let slips = (nearest.chars().count() / 4).clamp(1, 2);
    (least <= slips).then_some(nearest)
}

/// The number of letters that have to be inserted, deleted, replaced, or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let width = b.len() + 1;
    let mut table: Vec<usize> = (0..width * (a.len() + 1)).collect();
    for i in 1..=a.len() {
        table[i * width] = i;
        for j in 1..=b.len() {
            let at = |i: usize, j: usize| table[i * width + j];
            let replaced = at(i - 1, j - 1) + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(at(i - 1, j) + 1).min(at(i, j - 1) + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(at(i - 2, j - 2) + 1);
            }
            table[i * width + j] = least;
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        for (a, b, slips) in [
            ("", "", 0),
            ("", "ab", 2),
            ("ab", "", 2),
            ("words", "words", 0),
            ("wrods", "words", 1),
            ("word", "words", 1),
            ("chnkin", "chunking", 2),
            ("größe", "grösse", 2),
        ] {
            assert_eq!(distance(a, b), slips, "{a} {b}");
        }
    }

    #[test]
    fn distant_names_get_no_suggestion() {
        let known = ["ocr-small", "ocr-large"];
        assert_eq!(suggest("ocr", known), None);
        assert_eq!(suggest("", known), None);
        assert_eq!(suggest("ocrlarge", known), Some("ocr-large"));
        assert_eq!(suggest("x", []), None);
    }
}
