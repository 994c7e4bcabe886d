//! The best subset of about twenty variables, by trying all subsets.
//!
//! To maximise Σᵢ cᵢ xᵢ + Σ_{ij} c_ij xᵢ xⱼ over xᵢ ∈ {0, 1}, the variables are split into two halves.
//! The scores of all subsets of the lower half form a row. Switching on a variable of the upper half adds
//! another row to it, that of its terms with the lower half. So the work is one addition and one
//! comparison per subset, several at a time. Rows are only added, from the highest variable down, so no
//! sum is undone.

/// The largest number of variables. The work doubles with each.
pub const MOST_VARIABLES: usize = 26;

/// The number of values that are handled together, so that their maxima stay in registers.
const LANES: usize = 8;

/// Enumerates subsets. It reuses its memory.
///
/// ```
/// use maxmargin::inference::algorithms::Subsets;
///
/// // Three things that are good, but only one at a time.
/// let pairs = [(0, 1), (0, 2), (1, 2)];
/// let (value, set) = Subsets::default().maximise(&[1.0, 2.0, 1.5], &pairs, &[-3.0; 3]);
/// assert_eq!((value, set), (2.0, 0b010));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Subsets {
    /// c_ij, both ways.
    matrix: Vec<f64>,
    /// Scores of the subsets of the lower half.
    low: Vec<f64>,
    /// Scores of the subsets of the upper half.
    high: Vec<f64>,
    /// For each variable of the upper half, its terms with the subsets of the lower half.
    cross: Vec<f64>,
    /// A row for each lowest variable of the upper half that is on.
    rows: Vec<f64>,
}

impl Subsets {
    /// Returns the largest value of Σᵢ `linear`ᵢ xᵢ + Σ `quadratic`ₚ xᵢ xⱼ with (i, j) = `pairs`ₚ, and
    /// the set of variables that are 1, as bits. Pairs may be repeated. No number may be NaN.
    ///
    /// ```
    /// let mut subsets = maxmargin::inference::algorithms::Subsets::default();
    /// assert_eq!(subsets.maximise(&[-1.0, -1.0, 0.5], &[(0, 1)], &[2.5]), (1.0, 0b111));
    /// ```
    ///
    /// # Panics
    /// If there are more than [`MOST_VARIABLES`], if a pair contains a variable that does not exist or
    /// one variable twice, or if `quadratic` is shorter than `pairs`.
    pub fn maximise(
        &mut self,
        linear: &[f64],
        pairs: &[(u32, u32)],
        quadratic: &[f64],
    ) -> (f64, u32) {
        let n = linear.len();
        assert!(n <= MOST_VARIABLES, "{n} variables are too many to try all subsets");
        self.fill_matrix(n, pairs, quadratic);
        // The lower half is the larger one, so that rows are long.
        let lower = n.div_ceil(2);
        let (upper, width) = (n - lower, 1usize << lower);
        // Scores of the subsets of each half, and terms between the halves.
        fill_subsets(&mut self.low, &linear[..lower], |i, j| self.matrix[i * n + j]);
        let shifted = |i: usize, j: usize| self.matrix[(lower + i) * n + lower + j];
        fill_subsets(&mut self.high, &linear[lower..], shifted);
        self.cross.clear();
        for k in lower..n {
            push_sums(&mut self.cross, &self.matrix[k * n..k * n + lower]);
        }
        self.rows.clear();
        self.rows.resize(upper * width, 0.0);

        // Try all subsets of the upper half, each with all subsets of the lower half.
        let mut best = (largest(&self.low), 0);
        for set in 1..1usize << upper {
            let lowest = set.trailing_zeros() as usize;
            let value = self.high[set] + self.fill_row(set, lowest, width);
            if value > best.0 {
                best = (value, set);
            }
        }
        let (value, set) = best;
        (value, self.best_lower(set, width) | (set as u32) << lower)
    }

    fn fill_matrix(&mut self, n: usize, pairs: &[(u32, u32)], quadratic: &[f64]) {
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        for (&(i, j), c) in pairs.iter().zip(&quadratic[..pairs.len()]) {
            let (i, j) = (i as usize, j as usize);
            assert!(i != j && i < n && j < n, "({i}, {j}) is no pair of {n} variables");
            self.matrix[i * n + j] += c;
            self.matrix[j * n + i] += c;
        }
    }

    /// Computes the row of a set of the upper half from that of the set without its lowest variable, and
    /// returns its largest entry.
    fn fill_row(&mut self, set: usize, lowest: usize, width: usize) -> f64 {
        let cross = &self.cross[lowest * width..(lowest + 1) * width];
        let rest = set & (set - 1);
        // The set without its lowest variable came before, and its row is still there: the sets in
        // between have lower variables, so their rows are elsewhere.
        let (rows, parents) = self.rows.split_at_mut((lowest + 1) * width);
        let parent = match rest {
            0 => &self.low[..],
            _ => &parents[(rest.trailing_zeros() as usize - lowest - 1) * width..][..width],
        };
        if lowest == 0 {
            return largest_sum(parent, cross); // no other set comes from this one
        }
        let row = &mut rows[lowest * width..];
        row.iter_mut().zip(parent).zip(cross).for_each(|((sum, a), b)| *sum = a + b);
        largest(row)
    }

    /// The best set of the lower half that goes with a set of the upper half.
    fn best_lower(&mut self, set: usize, width: usize) -> u32 {
        // Compute the same sums in the same order as before.
        for k in (0..usize::BITS as usize).rev().filter(|k| set >> k & 1 == 1) {
            let cross = &self.cross[k * width..(k + 1) * width];
            self.low.iter_mut().zip(cross).for_each(|(sum, term)| *sum += term);
        }
        super::topology::argmax(&self.low).0 as u32
    }
}

/// Computes the scores of all subsets of a few variables.
fn fill_subsets(scores: &mut Vec<f64>, linear: &[f64], c: impl Fn(usize, usize) -> f64) {
    scores.clear();
    scores.push(0.0);
    let mut terms = Vec::with_capacity(1 << linear.len() >> 1);
    for (i, one) in linear.iter().enumerate() {
        terms.clear();
        terms.push(*one);
        for j in 0..i {
            let term = c(i, j);
            terms.extend_from_within(..);
            terms[1 << j..].iter_mut().for_each(|sum| *sum += term);
        }
        let size = scores.len();
        scores.extend_from_within(..);
        scores[size..].iter_mut().zip(&terms).for_each(|(score, term)| *score += term);
    }
}

/// Appends the sums of all subsets of `terms`.
fn push_sums(sums: &mut Vec<f64>, terms: &[f64]) {
    let start = sums.len();
    sums.push(0.0);
    for term in terms {
        let size = sums.len();
        sums.extend_from_within(start..);
        sums[size..].iter_mut().for_each(|sum| *sum += term);
    }
}

#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

fn largest(row: &[f64]) -> f64 {
    let (groups, rest) = row.as_chunks::<LANES>();
    let mut best = [f64::NEG_INFINITY; LANES];
    for group in groups {
        best.iter_mut().zip(group).for_each(|(best, x)| *best = larger(*best, *x));
    }
    best.iter().chain(rest).copied().fold(f64::NEG_INFINITY, larger)
}

/// The largest entry of the sum of two rows.
fn largest_sum(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut best = [f64::NEG_INFINITY; LANES];
    for (a, b) in a.iter().zip(b) {
        for ((best, a), b) in best.iter_mut().zip(a).zip(b) {
            *best = larger(*best, a + b);
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a + b);
    best.iter().copied().chain(rest).fold(f64::NEG_INFINITY, larger)
}
