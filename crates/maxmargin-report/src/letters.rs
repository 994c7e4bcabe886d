//! Letters made of strokes, for pictures that no browser draws.
//!
//! A picture made here has to look the same on every machine, and machines differ in their fonts. So
//! there is a small one of our own: each letter is a handful of lines and curves on a grid of 16 × 16,
//! drawn with a round pen.

use crate::raster::Pieces;

/// Heights on the grid: the line that letters stand on, and how much of the type size a step is.
const BASE: f64 = 4.0;
const STEP: f64 = 0.068;

/// Room after each letter, in steps: lines of a letter and of the next must not run into each other.
const APART: f64 = 0.3;

/// How superscripts are made of digits: their size, and how far they are raised.
const RAISED: (f64, f64) = (0.62, 5.0);

/// Letter, width, and strokes. A stroke is a list of points, each a digit across and a digit up in
/// base 16; with `~` it is a curve through its points, and a single point is a dot. Letters stand at
/// height 4 and reach up to b (small) or e (capitals); tails reach down to 0.
const LETTERS: &[(char, u8, &str)] = &[
    (' ', 4, ""),
    ('0', 8, "~4e6d7b77654425171b2d4e"),
    ('1', 8, "2c4e44"),
    ('2', 8, "~1b2d4e6d7b6914 1474"),
    ('3', 8, "~1c2d4e6d7b6a49 ~49687765442516"),
    ('4', 8, "545e1777"),
    ('5', 8, "6e2e19 ~194a697765442516"),
    ('6', 8, "~6d4e2d1a1725446577694a2917"),
    ('7', 8, "1e7e34"),
    ('8', 8, "~4e6d6b492b2d4e ~496876654425162849"),
    ('9', 8, "~254465787b6d4e2d1b2948697b"),
    ('A', 10, "145e94 3979"),
    ('B', 8, "141e4e 1949 1444 ~4e6d6b49 ~4968766544"),
    ('C', 9, "~8c7d5e3d1b1735547586"),
    ('D', 9, "4e1e1444 ~4e7d8b877544"),
    ('E', 8, "7e1e1474 1969"),
    ('F', 8, "7e1e14 1969"),
    ('G', 10, "~8c7d5e3d1b1735547586 868959"),
    ('H', 9, "141e 848e 1989"),
    ('I', 4, "242e"),
    ('J', 7, "5e57 ~57453415"),
    ('K', 8, "141e 7e18 3a74"),
    ('L', 7, "1e1464"),
    ('M', 10, "141e579e94"),
    ('N', 9, "141e848e"),
    ('O', 10, "~5e7d9b97755435171b3d5e"),
    ('P', 8, "141e4e 1848 ~4e6d7b6948"),
    ('Q', 10, "~5e7d9b97755435171b3d5e 6793"),
    ('R', 8, "141e4e 1848 ~4e6d7b6948 4874"),
    ('S', 8, "~7c6d4e2d1b2a49687765442516"),
    ('T', 8, "0e8e 4e44"),
    ('U', 8, "1e17 ~1725446577 777e"),
    ('V', 9, "0e448e"),
    ('W', 12, "1e346e94be"),
    ('X', 9, "1e84 8e14"),
    ('Y', 8, "0e498e 4944"),
    ('Z', 9, "1e8e1484"),
    ('a', 8, "~795b3b1916345476 7b74"),
    ('b', 8, "1e14 ~193b5b7976543416"),
    ('c', 7, "~6a4b2a1817254465"),
    ('d', 8, "7e74 ~795b3b1916345476"),
    ('e', 8, "1878 ~786a4b2a1817254465"),
    ('f', 5, "~5e4e3d3b 3b34 1b5b"),
    ('g', 8, "~795b3b1916345476 7b73 ~73614021"),
    ('h', 7, "1e14 ~193b5b69 6964"),
    ('i', 4, "2b24 2e"),
    ('j', 4, "2b22 ~221000 2e"),
    ('k', 7, "1e14 176b 3964"),
    ('l', 4, "2e24"),
    ('m', 10, "1b14 ~192b4b59 5954 ~596b8b99 9994"),
    ('n', 7, "1b14 ~193b5b69 6964"),
    ('o', 8, "~4b6a787765442517182a4b"),
    ('p', 8, "1b10 ~193b5b7976543416"),
    ('q', 8, "7b70 ~795b3b1916345476"),
    ('r', 5, "1b14 ~182a4b5b"),
    ('s', 7, "~6a4b2b19285766543415"),
    ('t', 6, "3e36 ~364454 1b5b"),
    ('u', 7, "1b16 ~16244466 6b64"),
    ('v', 7, "0b346b"),
    ('w', 10, "1b345b749b"),
    ('x', 7, "1b64 6b14"),
    ('y', 7, "0b34 6b342110"),
    ('z', 7, "1b6b1464"),
    ('.', 4, "24"),
    (',', 4, "2412"),
    (':', 4, "24 2a"),
    (';', 4, "2412 2a"),
    ('!', 4, "2e27 24"),
    ('?', 7, "~1c2d4e6d6b49 4947 44"),
    ('-', 6, "1848"),
    ('+', 8, "1878 4b45"),
    ('=', 8, "1a7a 1676"),
    ('/', 7, "136e"),
    ('\\', 7, "1e63"),
    ('|', 4, "2e22"),
    ('(', 5, "~4f2c192643"),
    (')', 5, "~1f3c493613"),
    ('[', 5, "4f1f1343"),
    (']', 5, "1f4f4313"),
    ('{', 5, "4f3f3a19383343"),
    ('}', 5, "1f2f2a49282313"),
    ('<', 8, "7b1875"),
    ('>', 8, "1b7815"),
    ('*', 8, "4e48 1d79 7d19"),
    ('%', 10, "248e ~2e3d3c2b1c1d2e ~87969584757687"),
    ('&', 10, "~943b3d4e5d5b281625446588"),
    ('#', 9, "344e 647e 1b8b 1787"),
    ('_', 8, "1373"),
    ('\'', 4, "2e2b"),
    ('’', 4, "2e1b"),
    ('"', 6, "2e2b 4e4b"),
    ('`', 5, "2e3c"),
    ('^', 8, "1b4e7b"),
    ('~', 8, "~182939586879"),
    ('@', 11, "~796a4a38466678 ~7a7696a99c6e3d19356384"),
    ('α', 8, "~7b563416193b5974"),
    ('γ', 8, "1b44 7b4440"),
    ('δ', 8, "~6d4e2d3b697765442517294a69"),
    ('ε', 7, "~6a4b2a2848 ~4817153465"),
    ('κ', 7, "1b14 6b17 3964"),
    ('λ', 8, "1e2e74 4914"),
    ('μ', 7, "1b10 ~16244466 6b64"),
    ('ν', 7, "0b346b"),
    ('ρ', 8, "~182a4b6a787765442517 1810"),
    ('σ', 8, "~4b6a787765442517182a4b 4b8b"),
    ('τ', 7, "1b6b 3b36 ~364454"),
    ('χ', 8, "1b70 7b10"),
    ('Δ', 10, "145e9414"),
    ('Σ', 9, "8e1e591484"),
    ('·', 4, "28"),
    ('×', 8, "2b65 6b25"),
    ('–', 8, "1878"),
    ('−', 8, "1878"),
    ('—', 12, "18b8"),
    ('≤', 8, "7d1976 1474"),
    ('≥', 8, "1d7916 1474"),
    ('≈', 8, "~1a2b3b5a6a7b ~162737566677"),
    ('→', 11, "18a8 7ba875"),
    ('√', 9, "18355e8e"),
    ('…', 12, "24 64 a4"),
    ('‖', 7, "2e22 5e52"),
    ('⟨', 5, "4f1943"),
    ('⟩', 5, "1f4913"),
    ('∞', 12, "~684a2a182646688aaab8a68668"),
];

/// What stands for a letter that is not here.
const UNKNOWN: (char, u8, &str) = ('\u{fffd}', 8, "141e7e7414");

const SUPERSCRIPTS: &[(char, char)] = &[
    ('⁰', '0'),
    ('¹', '1'),
    ('²', '2'),
    ('³', '3'),
    ('⁴', '4'),
    ('⁵', '5'),
    ('⁶', '6'),
    ('⁷', '7'),
    ('⁸', '8'),
    ('⁹', '9'),
    ('⁻', '−'),
    ('ⁿ', 'n'),
];

/// A letter, and whether it is raised.
fn find(letter: char) -> (&'static (char, u8, &'static str), bool) {
    let below = SUPERSCRIPTS.iter().find(|(raised, _)| *raised == letter);
    let plain = below.map_or(letter, |(_, plain)| *plain);
    (LETTERS.iter().find(|known| known.0 == plain).unwrap_or(&UNKNOWN), below.is_some())
}

/// How wide a text is, in pixels, at a type size in pixels.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let width = |letter: char| {
        let (found, raised) = find(letter);
        (f64::from(found.1) + APART) * if raised { RAISED.0 } else { 1.0 }
    };
    text.chars().map(width).sum::<f64>() * STEP * size
}

/// The lines of a text that starts at `(x, y)`, where y grows downwards and is where letters stand.
pub(crate) fn strokes(text: &str, size: f64, x: f64, y: f64) -> Pieces {
    let mut pieces = Vec::new();
    let mut across = 0.0;
    for letter in text.chars() {
        let (&(_, width, strokes), raised) = find(letter);
        let (scale, lift) = if raised { RAISED } else { (1.0, 0.0) };
        for stroke in strokes.split_whitespace() {
            let (smooth, digits) =
                stroke.strip_prefix('~').map_or((false, stroke), |digits| (true, digits));
            let points: Vec<[f64; 2]> = points(digits)
                .map(|[right, up]| {
                    let (right, up) = (across + scale * right, lift + scale * (up - BASE));
                    [x + STEP * size * right, y - STEP * size * up]
                })
                .collect();
            pieces.push(if smooth { curve(&points) } else { points });
        }
        across += scale * (f64::from(width) + APART);
    }
    pieces
}

fn points(digits: &str) -> impl Iterator<Item = [f64; 2]> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map_or(0.0, f64::from);
    digits.as_bytes().chunks_exact(2).map(move |pair| [digit(pair[0]), digit(pair[1])])
}

/// A smooth curve through points (Catmull and Rom's), which is closed if it ends where it starts.
fn curve(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    const STEPS: u32 = 6;
    let last = points.len() - 1;
    let closed = points[0] == points[last];
    let mut drawn = vec![points[0]];
    for at in 0..last {
        let before = match (at, closed) {
            (0, true) => last - 1,
            _ => at.saturating_sub(1),
        };
        let after = if at + 2 > last && closed { 1 } else { last.min(at + 2) };
        let [a, b, c, d] = [points[before], points[at], points[at + 1], points[after]];
        for step in 1..=STEPS {
            let t = f64::from(step) / f64::from(STEPS);
            let along = |k: usize| {
                let slope = [(c[k] - a[k]) / 2.0, (d[k] - b[k]) / 2.0];
                let bend = c[k] - b[k];
                b[k] + t
                    * (slope[0]
                        + t * ((3.0 * bend - 2.0 * slope[0] - slope[1])
                            + t * (slope[0] + slope[1] - 2.0 * bend)))
            };
            drawn.push([along(0), along(1)]);
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_well_formed_and_there_is_one_of_each() {
        for (at, (letter, width, strokes)) in LETTERS.iter().enumerate() {
            assert!(LETTERS[..at].iter().all(|other| other.0 != *letter), "{letter} twice");
            for stroke in strokes.split(' ').filter(|stroke| !stroke.is_empty()) {
                let digits = stroke.trim_start_matches('~');
                assert!(digits.len() % 2 == 0 && digits.len() >= 2, "{letter}: {stroke}");
                assert!(digits.chars().all(|d| d.is_ascii_hexdigit()), "{letter}: {stroke}");
                assert!(
                    points(digits).all(|[x, _]| x <= f64::from(*width)),
                    "{letter} is wider than it says"
                );
            }
        }
        for plain in SUPERSCRIPTS.iter().map(|pair| pair.1) {
            assert_eq!(find(plain).0.0, plain);
        }
    }

    #[test]
    fn printable_ascii_is_there_but_for_the_dollar() {
        let missing: String = (' '..='~').filter(|&c| find(c).0.0 != c).collect();
        assert_eq!(missing, "$");
    }

    #[test]
    fn texts_are_as_wide_as_layouts_take_them_for() {
        // `picture.rs` reckons with 7.2 pixels for a letter of 13 pixels, for any font.
        for text in ["Effective passes", "bcfw+gap+pairwise+cache", "10⁻³", "λ = 0.001"] {
            let share = width(text, 13.0) / (7.2 * text.chars().count() as f64);
            assert!((0.6..=1.05).contains(&share), "{text}: {share}");
        }
    }

    #[test]
    fn curves_go_through_their_points() {
        let points = [[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]];
        let drawn = curve(&points);
        assert_eq!([drawn[0], drawn[6], drawn[12]], points);
    }
}
