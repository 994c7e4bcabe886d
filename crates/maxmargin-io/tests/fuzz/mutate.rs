//! Mutations of samples, the same for the same seed.

/// Pieces that mean something to some reader.
const WORDS: [&[u8]; 40] = [
    b"\n",
    b"\n\n",
    b"\t",
    b" ",
    b":",
    b",",
    b"-",
    b"=",
    b"#",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"0",
    b"1",
    b"-1",
    b"1e308",
    b"1e-320",
    b"nan",
    b"inf",
    b"18446744073709551615",
    b"9223372036854775808",
    b"4294967296",
    b"0.5",
    b"%x[0,0]",
    b"U01:",
    b"B",
    b"qid:1",
    b"@weight:2",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\0",
    b"\r\n",
    b"\"states\": 3",
    b"\"truth\": 0",
    b"G a train 1 1 1 0",
    b"\xe2\x80\xae",
    b"\x1f\x8b",
];

/// A generator of mutated samples.
pub(crate) struct Mutator(u64);

impl Mutator {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Marsaglia's xorshift64*.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 16) as usize % bound.max(1)
    }

    /// One of the samples with a few changes.
    pub(crate) fn mutate(&mut self, samples: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = samples[self.below(samples.len())].clone();
        for _ in 0..1 + self.below(4) {
            self.change(&mut bytes, samples);
        }
        bytes.truncate(1 << 16);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, samples: &[Vec<u8>]) {
        let at = self.below(bytes.len() + 1);
        let end = (at + 1 + self.below(16)).min(bytes.len());
        match self.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
            1 if at < bytes.len() => bytes[at] = self.next() as u8,
            2 => drop(bytes.drain(at.min(end)..end)),
            3 => {
                let piece = bytes[at.min(end)..end].to_vec();
                let place = self.below(bytes.len() + 1);
                bytes.splice(place..place, piece);
            }
            4 => {
                let other = &samples[self.below(samples.len())];
                let from = self.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            5 => {
                let number = self.next().to_le_bytes();
                let place = at.min(bytes.len());
                bytes.splice(place..place, number);
            }
            _ => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(at..at, word.iter().copied());
            }
        }
    }
}
