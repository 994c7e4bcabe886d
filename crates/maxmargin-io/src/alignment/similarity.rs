//! How similar two words look.

/// Share of the longer word that the two have in common from the start, in [0, 1].
pub(super) fn prefix(a: &[char], b: &[char]) -> f64 {
    let common = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    ratio(common, a.len().max(b.len()))
}

/// Share of the longer word that is left of the longest common subsequence, in [0, 1]. `row` is
/// scratch memory.
pub(super) fn subsequence(a: &[char], b: &[char], row: &mut Vec<usize>) -> f64 {
    row.clear();
    row.resize(b.len() + 1, 0);
    for x in a {
        let mut diagonal = 0;
        for (at, y) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    ratio(row[b.len()], a.len().max(b.len()))
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// A letter without its accent, of the Latin alphabets of Europe: `é` is much like `e`.
pub(super) fn plain(c: char) -> char {
    const ACCENTED: [(&str, char); 17] = [
        ("àáâãäåāą", 'a'),
        ("çćč", 'c'),
        ("ďđ", 'd'),
        ("èéêëēęě", 'e'),
        ("ğ", 'g'),
        ("ìíîïī", 'i'),
        ("ľĺł", 'l'),
        ("ñńň", 'n'),
        ("òóôõöøőō", 'o'),
        ("ŕř", 'r'),
        ("śšş", 's'),
        ("ťţ", 't'),
        ("ùúûüůűū", 'u'),
        ("ýÿ", 'y'),
        ("źžż", 'z'),
        ("ß", 's'),
        ("æ", 'a'),
    ];
    if c.is_ascii() {
        return c;
    }
    ACCENTED.iter().find(|(letters, _)| letters.contains(c)).map_or(c, |(_, plain)| *plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_letter_by_letter() {
        let letters = |word: &str| word.chars().map(plain).collect::<Vec<_>>();
        let (a, b) = (letters("nationale"), letters("national"));
        assert_eq!(prefix(&a, &b), 8.0 / 9.0);
        let mut row = Vec::new();
        assert_eq!(subsequence(&a, &b, &mut row), 8.0 / 9.0);
        assert_eq!(subsequence(&letters("abcd"), &letters("xbyd"), &mut row), 0.5);
        assert_eq!(subsequence(&[], &[], &mut row), 0.0);
        assert_eq!(letters("Příště éß"), letters("Priste es"));
    }
}
