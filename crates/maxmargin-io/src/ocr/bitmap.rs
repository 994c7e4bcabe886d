//! The pixels of a letter.

use maxmargin::model::Row;

/// Rows of pixels of a letter.
///
/// ```
/// assert_eq!(maxmargin_io::ocr::ROWS, 16);
/// ```
pub const ROWS: usize = 16;

/// Columns of pixels of a letter.
///
/// ```
/// assert_eq!(maxmargin_io::ocr::COLUMNS, 8);
/// ```
pub const COLUMNS: usize = 8;

/// The picture of a letter, 16 × 8 pixels in black and white.
///
/// ```
/// use maxmargin_io::ocr::Bitmap;
///
/// let letter = Bitmap::from_hex("0c000000000000000010101010302020").unwrap();
/// assert!(letter.is_black(0, 4) && !letter.is_black(0, 0));
/// assert_eq!(Bitmap::from_pixels(letter.pixels()), letter);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Bitmap {
    /// One byte per row; the most significant bit is on the left.
    rows: [u8; ROWS],
}

impl Bitmap {
    /// Reads 32 hexadecimal digits, two per row.
    ///
    /// ```
    /// use maxmargin_io::ocr::Bitmap;
    /// assert_eq!(Bitmap::from_hex("00"), None);
    /// ```
    pub fn from_hex(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 2 * ROWS {
            return None;
        }
        let mut rows = [0; ROWS];
        for (row, pair) in rows.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |c: u8| char::from(c).to_digit(16);
            *row = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Some(Self { rows })
    }

    /// The picture whose black pixels are given by their attribute indices, `8 · row + column`.
    /// Others are ignored.
    ///
    /// ```
    /// use maxmargin_io::ocr::Bitmap;
    /// assert!(Bitmap::from_pixels([9]).is_black(1, 1));
    /// ```
    pub fn from_pixels(pixels: impl IntoIterator<Item = u32>) -> Self {
        let mut rows = [0; ROWS];
        for pixel in pixels {
            if let Some(row) = rows.get_mut(pixel as usize / COLUMNS) {
                *row |= 0x80 >> (pixel as usize % COLUMNS);
            }
        }
        Self { rows }
    }

    /// The picture of a token of OCR data: the attributes that are not 0 are black.
    ///
    /// ```
    /// use maxmargin_io::{builtin, ocr::Bitmap, read_training};
    ///
    /// let data = read_training(builtin("ocr-small").unwrap().train())?;
    /// let letter = Bitmap::from_token(&data.sequences.sequence(0).token(0));
    /// assert!(letter.is_black(3, 1));
    /// # Ok::<(), maxmargin_io::DataError>(())
    /// ```
    pub fn from_token(token: &Row<'_>) -> Self {
        Self::from_pixels(token.pairs().filter(|&(_, value)| value != 0.0).map(|(pixel, _)| pixel))
    }

    /// The attribute indices of the black pixels, in increasing order.
    ///
    /// ```
    /// use maxmargin_io::ocr::Bitmap;
    /// assert_eq!(Bitmap::from_pixels([100, 3]).pixels().collect::<Vec<_>>(), [3, 100]);
    /// ```
    pub fn pixels(self) -> impl Iterator<Item = u32> {
        (0..(ROWS * COLUMNS) as u32)
            .filter(move |&i| self.is_black(i as usize / COLUMNS, i as usize % COLUMNS))
    }

    /// Whether a pixel is black; pixels outside the picture are white.
    ///
    /// ```
    /// assert!(!maxmargin_io::ocr::Bitmap::default().is_black(0, 0));
    /// ```
    pub fn is_black(self, row: usize, column: usize) -> bool {
        column < COLUMNS && self.rows.get(row).is_some_and(|bits| bits & (0x80 >> column) != 0)
    }
}

/// Draws the letters of a word side by side: 8 lines of half blocks, each line with two rows of
/// pixels.
///
/// ```
/// use maxmargin_io::ocr::{Bitmap, draw_word};
///
/// let letter = Bitmap::from_hex("00000000001818000018181818181800").unwrap();
/// let lines = draw_word(&[letter, letter]);
/// let lines: Vec<&str> = lines.lines().collect();
/// assert_eq!(lines.len(), 8);
/// assert_eq!(lines[2], "   ▄▄       ▄▄   ");
/// assert_eq!(lines[5], "   ██       ██   ");
/// ```
pub fn draw_word(letters: &[Bitmap]) -> String {
    let mut picture = String::new();
    for row in (0..ROWS).step_by(2) {
        for (i, letter) in letters.iter().enumerate() {
            if i > 0 {
                picture.push(' ');
            }
            picture.extend((0..COLUMNS).map(|column| {
                match (letter.is_black(row, column), letter.is_black(row + 1, column)) {
                    (false, false) => ' ',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (true, true) => '█',
                }
            }));
        }
        picture.push('\n');
    }
    picture
}
