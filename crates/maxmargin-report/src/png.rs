//! PNG files: small pictures in `data:` addresses, and large ones.
//!
//! The small ones have a palette as small as the picture allows and are not compressed, which needs
//! no library; a letter of 8 × 16 black and white pixels takes some 170 characters.

use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write as _;

use crate::palette::{ABSENT, NEGATIVE, POSITIVE};
use crate::sections::Shade;

/// The largest absolute value among the finite ones.
pub(crate) fn extent<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    values.into_iter().map(|value| value.abs()).filter(|size| size.is_finite()).fold(0.0, f64::max)
}

/// The `data:` address of a picture of `rows` × `columns` pixels. The colours let the paper shine
/// through, so they suit light and dark pages.
pub(crate) fn data_address(
    rows: usize,
    columns: usize,
    value: impl Fn(usize, usize) -> f64,
    shade: Shade,
    extent: f64,
) -> String {
    let mut palette: Vec<[u8; 4]> = Vec::new();
    let mut indices = vec![0u8; rows * columns];
    let mut place = std::collections::HashMap::new();
    for row in 0..rows {
        for column in 0..columns {
            let colour = colour(value(row, column), shade, extent);
            let index = *place.entry(colour).or_insert_with(|| {
                palette.push(colour);
                palette.len() - 1
            });
            // `colour` has at most 255 answers.
            indices[row * columns + column] = index.min(255) as u8;
        }
    }
    let depth: usize = match palette.len() {
        0..=2 => 1,
        3..=4 => 2,
        5..=16 => 4,
        _ => 8,
    };
    let mut lines = Vec::with_capacity(rows * (1 + (columns * depth).div_ceil(8)));
    for row in 0..rows {
        lines.push(0);
        let pixels = &indices[row * columns..(row + 1) * columns];
        for group in pixels.chunks(8 / depth) {
            let mut byte = 0u8;
            for (at, index) in group.iter().enumerate() {
                byte |= index << (8 - depth * (at + 1));
            }
            lines.push(byte);
        }
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend_from_slice(&(columns as u32).to_be_bytes());
    header.extend_from_slice(&(rows as u32).to_be_bytes());
    header.extend_from_slice(&[depth as u8, 3, 0, 0, 0]);
    chunk(&mut file, b"IHDR", &header);
    let colours: Vec<u8> =
        palette.iter().flat_map(|colour| [colour[0], colour[1], colour[2]]).collect();
    chunk(&mut file, b"PLTE", &colours);
    let alphas: Vec<u8> = palette.iter().map(|colour| colour[3]).collect();
    chunk(&mut file, b"tRNS", &alphas);
    chunk(&mut file, b"IDAT", &stored(&lines));
    chunk(&mut file, b"IEND", &[]);
    format!("data:image/png;base64,{}", base64(&file))
}

/// A file with the pixels of a picture, row by row, compressed.
pub(crate) fn file(width: usize, pixels: &[[u8; 3]]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(3 * pixels.len() + pixels.len() / width.max(1));
    for row in pixels.chunks(width.max(1)) {
        lines.push(0);
        lines.extend(row.iter().flatten());
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend_from_slice(&(width as u32).to_be_bytes());
    header.extend_from_slice(&((pixels.len() / width.max(1)) as u32).to_be_bytes());
    header.extend_from_slice(&[8, 2, 0, 0, 0]);
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"IDAT", &compressed(&lines));
    chunk(&mut file, b"IEND", &[]);
    file
}

/// A zlib stream; nothing can go wrong in memory, but should it, the stream is not compressed.
fn compressed(data: &[u8]) -> Vec<u8> {
    let mut to = ZlibEncoder::new(Vec::new(), Compression::default());
    to.write_all(data).and_then(|()| to.finish()).unwrap_or_else(|_| stored(data))
}

/// At most 126 levels on each side of zero, so that a palette always suffices.
fn colour(value: f64, shade: Shade, extent: f64) -> [u8; 4] {
    if !value.is_finite() {
        return if shade == Shade::Ink { [0, 0, 0, 0] } else { ABSENT };
    }
    let share = if extent > 0.0 { (value / extent).clamp(-1.0, 1.0) } else { 0.0 };
    let level = (share * 126.0).round();
    let alpha = (level.abs() / 126.0 * 255.0).round() as u8;
    match shade {
        _ if level == 0.0 => [0, 0, 0, 0],
        Shade::Ink if level < 0.0 => [0, 0, 0, 0],
        Shade::Ink => [0, 0, 0, alpha],
        Shade::Diverging => {
            let [r, g, b] = if level > 0.0 { POSITIVE } else { NEGATIVE };
            [r, g, b, alpha]
        }
    }
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    file.extend_from_slice(&(data.len() as u32).to_be_bytes());
    let start = file.len();
    file.extend_from_slice(kind);
    file.extend_from_slice(data);
    let mut crc = u32::MAX;
    for &byte in &file[start..] {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 };
        }
    }
    file.extend_from_slice(&(!crc).to_be_bytes());
}

/// A zlib stream of stored blocks.
fn stored(data: &[u8]) -> Vec<u8> {
    let mut stream = vec![0x78, 0x01];
    let blocks = data.len().div_ceil(0xffff).max(1);
    for index in 0..blocks {
        let block = &data[index * 0xffff..data.len().min((index + 1) * 0xffff)];
        let length = block.len() as u16;
        stream.push(u8::from(index + 1 == blocks));
        stream.extend_from_slice(&length.to_le_bytes());
        stream.extend_from_slice(&(!length).to_le_bytes());
        stream.extend_from_slice(block);
    }
    let (mut a, mut b) = (1u32, 0u32);
    for &byte in data {
        a = (a + u32::from(byte)) % 65521;
        b = (b + a) % 65521;
    }
    stream.extend_from_slice(&((b << 16) | a).to_be_bytes());
    stream
}

pub(crate) fn base64(data: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(data.len().div_ceil(3) * 4);
    for group in data.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = (byte(0) << 16) | (byte(1) << 8) | byte(2);
        for at in 0..4 {
            if at <= group.len() {
                text.push(char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_standard() {
        for (data, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(data.as_bytes()), text);
        }
    }

    #[test]
    fn checksums() {
        let mut file = Vec::new();
        chunk(&mut file, b"IEND", &[]);
        assert_eq!(file, [0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82]);
        assert_eq!(stored(b"Wikipedia")[2 + 5 + 9..], [0x11, 0xe6, 0x03, 0x98]);
        let long = stored(&vec![7; 70_000]);
        assert_eq!(long.len(), 2 + 5 + 65_535 + 5 + 4_465 + 4);
    }

    #[test]
    fn palettes_stay_small() {
        let ramp = |_: usize, column: usize| column as f64 - 5_000.0;
        let address = data_address(1, 10_001, ramp, Shade::Diverging, 5_000.0);
        assert!(address.starts_with("data:image/png;base64,iVBORw0KGgo"));
        let black = data_address(16, 8, |row, _| (row % 2) as f64, Shade::Ink, 1.0);
        assert!(black.len() < 220, "{}", black.len());
    }
}
