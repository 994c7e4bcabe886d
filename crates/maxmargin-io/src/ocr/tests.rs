use std::io::Cursor;

use proptest::prelude::*;

use super::*;

const I: &str = "0c000000000000000010101010302020";

fn read(text: &str) -> Result<Vec<RawSequence>, String> {
    let lines = Lines::from_reader("f.tsv", Cursor::new(text.replace("{I}", I))).unwrap();
    let mut reader = OcrReader::new(lines);
    let mut list = Vec::new();
    let mut sequence = RawSequence::new();
    while reader.read(&mut sequence).map_err(|e| e.to_string())? {
        list.push(sequence.clone());
    }
    Ok(list)
}

#[test]
fn words_and_letters() {
    let list = read("#word\n3\t1\ti\t0\t{I}\n3\t2\tz\t0\t{I}\n\n1\t5\t\t2\t{I}\n").unwrap();
    assert_eq!(list.iter().map(RawSequence::id).collect::<Vec<_>>(), [Some(3), Some(1)]);
    assert_eq!((list[0].token(1).label(), list[1].token(0).label()), (Some("z"), None));
    assert_eq!((list[0].token(1).line(), list[0].token(1).label_column()), (3, 5));
    let names: Vec<_> = list[0].token(0).attributes().map(|(name, _)| name).collect();
    assert_eq!(names[..3], ["p0_4", "p0_5", "p9_3"]);
    // The names lead to the attributes and from there to the picture.
    let attributes = attributes();
    let pixels = names.iter().filter_map(|name| attributes.get(name));
    assert_eq!(Bitmap::from_pixels(pixels), Bitmap::from_hex(I).unwrap());
}

#[test]
fn golden_errors() {
    for (text, message) in [
        ("x", "1:1: expected the number of the word, which is a whole number, found `x`"),
        ("1", "1:2: expected the position of the letter, which is a whole number, found nothing"),
        ("1\t1\tA\t0\t{I}", "1:5: expected a letter from a to z, found `A`"),
        ("1\t1\tä\t0\t{I}", "1:5: expected a letter from a to z, found `ä`"),
        (
            "1\t1\ta\t-\t{I}",
            "1:7: expected the fold of the word, which is a whole number, found `-`",
        ),
        ("1\t1\ta\t0\t00ff", "1:9: expected the pixels as 32 hexadecimal digits, found `00ff`"),
        (
            "1\t1\ta\t0\t0c00000000000000001010101030202x",
            "1:9: expected the pixels as 32 hexadecimal digits, found `0c00000000000000001010101030202x`",
        ),
        ("1\t1\ta\t0\t{I}\t1", "1:42: expected five columns between tabs, found `1`"),
        ("1\t1\ta\t0\t{I}\n1\t1\ta\t0\t{I}", "2:3: expected a position after 1, found `1`"),
        (
            "1\t1\ta\t0\t{I}\n1\t2\ta\t3\t{I}",
            "2:7: expected the fold 0 of the word's other letters, found `3`",
        ),
        (
            "1\t1\ta\t0\t{I}\n2\t1\ta\t0\t{I}\n1\t2\ta\t0\t{I}",
            "3:1: expected a new word, found word 1 again, which began in line 1; \
             the lines of a sequence have to be together",
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), format!("f.tsv:{message}"), "{text:?}");
    }
}

#[test]
fn a_letter_is_drawn_upright() {
    let d = Bitmap::from_hex("0040607058682c26321272d69cb9ef00").unwrap();
    let expected = [
        " ▄      ",
        " ██▄    ",
        " █▄▀█   ",
        "  █ ▀█▄ ",
        "  ▀█  █ ",
        "▄█▀█ ▄█ ",
        "█ ▄██▀ ▄",
        "▀▀▀ ▀▀▀▀",
    ];
    assert_eq!(draw_word(&[d]).lines().collect::<Vec<_>>(), expected);
}

proptest! {
    #[test]
    fn pixels_and_pictures_go_both_ways(bits in any::<u128>()) {
        let bitmap = Bitmap::from_hex(&format!("{bits:032x}")).unwrap();
        prop_assert_eq!(bitmap.pixels().count() as u32, bits.count_ones());
        prop_assert_eq!(Bitmap::from_pixels(bitmap.pixels()), bitmap);
    }
}
