//! Decoding of semi-Markov chains: the best segments that cover a sequence.

use super::data::Segment;

/// Dynamic programming over the places where segments end. It reuses its memory.
///
/// The best score of the first t tokens, if their last segment has the label y, is
///
/// ```text
/// V(t, y) = max_l  score(t − l, l, y) + (if t = l then 0 else max_z V(t − l, z) + transition(z, y))
/// ```
#[derive(Debug, Clone, Default)]
pub(super) struct SegmentSearch {
    /// V(t, y), at t · labels + y.
    values: Vec<f64>,
    /// The length of the last segment behind V(t, y).
    lengths: Vec<u32>,
    /// max_z V(t, z) + transition(z, y), and the z behind it, at t · labels + y.
    entries: Vec<(f64, u32)>,
}

/// The scores of a sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentScores<'a> {
    /// Number of tokens.
    pub(super) tokens: usize,
    pub(super) labels: usize,
    pub(super) longest: usize,
    /// The score of each segment, at (start · longest + length − 1) · labels + label.
    pub(super) segments: &'a [f64],
    /// The score of each pair of neighbouring labels, at first · labels + second.
    pub(super) transitions: &'a [f64],
}

impl SegmentSearch {
    /// Writes the best segments to `best`.
    ///
    /// If a score is not finite, the result is some list of segments that cover the sequence.
    pub(super) fn run(&mut self, scores: SegmentScores<'_>, best: &mut Vec<Segment>) {
        self.forward(scores);
        self.trace(scores.tokens, scores.labels, best);
    }

    /// The score of the best segments that give each token each label, at t · labels + y.
    ///
    /// With the best score B(t, y) of the tokens from t on, if a segment of the label y ends there, a segment is
    /// in segments of the score (entry at its start) + (its own score) + B(its end, y) at best. All its tokens
    /// have its label.
    pub(super) fn max_marginals(&mut self, scores: SegmentScores<'_>) -> Vec<f64> {
        let SegmentScores { tokens, labels, longest, segments, transitions } = scores;
        self.forward(scores);
        let mut after = vec![0.0; (tokens + 1) * labels];
        let mut found = vec![f64::NEG_INFINITY; tokens * labels];
        // The best score of the tokens from `start` on, by the label of the first segment.
        let mut first = vec![0.0; labels];
        for start in (0..tokens).rev() {
            for (y, best) in first.iter_mut().enumerate() {
                *best = f64::NEG_INFINITY;
                let entry = if start == 0 { 0.0 } else { self.entries[start * labels + y].0 };
                for length in 1..=longest.min(tokens - start) {
                    let own = segments[(start * longest + length - 1) * labels + y];
                    let value = own + after[(start + length) * labels + y];
                    *best = best.max(value);
                    for t in start..start + length {
                        let known = &mut found[t * labels + y];
                        *known = known.max(entry + value);
                    }
                }
            }
            for z in 0..labels {
                let next = (0..labels).map(|y| transitions[z * labels + y] + first[y]);
                after[start * labels + z] = next.fold(f64::NEG_INFINITY, f64::max);
            }
        }
        found
    }

    /// Finds the values of all places.
    fn forward(&mut self, scores: SegmentScores<'_>) {
        let SegmentScores { tokens, labels, longest, .. } = scores;
        self.values.clear();
        self.values.resize((tokens + 1) * labels, f64::NEG_INFINITY);
        self.lengths.clear();
        self.lengths.resize((tokens + 1) * labels, 1);
        self.entries.clear();
        self.entries.resize((tokens + 1) * labels, (0.0, 0));
        for end in 1..=tokens {
            for length in 1..=longest.min(end) {
                self.extend(scores, end, length);
            }
            if end < tokens {
                self.enter(scores, end);
            }
        }
    }

    /// Considers all segments of this length that end at `end`.
    fn extend(&mut self, scores: SegmentScores<'_>, end: usize, length: usize) {
        let SegmentScores { labels, longest, segments, .. } = scores;
        let start = end - length;
        let own = &segments[(start * longest + length - 1) * labels..][..labels];
        let entries = &self.entries[start * labels..][..labels];
        let values = &mut self.values[end * labels..][..labels];
        let lengths = &mut self.lengths[end * labels..][..labels];
        for (y, &score) in own.iter().enumerate() {
            let value = score + if start == 0 { 0.0 } else { entries[y].0 };
            if value > values[y] {
                values[y] = value;
                lengths[y] = length as u32;
            }
        }
    }

    /// Finds the best label before each label of a segment that starts at `start`.
    fn enter(&mut self, scores: SegmentScores<'_>, start: usize) {
        let SegmentScores { labels, transitions, .. } = scores;
        for y in 0..labels {
            let mut best = (f64::NEG_INFINITY, 0);
            for z in 0..labels {
                let value = self.values[start * labels + z] + transitions[z * labels + y];
                if value > best.0 {
                    best = (value, z as u32);
                }
            }
            self.entries[start * labels + y] = best;
        }
    }

    /// Follows the best choices back from the end.
    fn trace(&self, tokens: usize, labels: usize, best: &mut Vec<Segment>) {
        best.clear();
        let last = &self.values[tokens * labels..];
        let mut label = 0;
        for (y, value) in last.iter().enumerate() {
            if *value > last[label] {
                label = y;
            }
        }
        let mut end = tokens;
        while end > 0 {
            let length = self.lengths[end * labels + label];
            best.push(Segment { length, label: label as u32 });
            end -= length as usize;
            label = self.entries[end * labels + label].1 as usize;
        }
        best.reverse();
    }
}
