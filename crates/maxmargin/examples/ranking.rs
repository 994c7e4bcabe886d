//! A structure that is in no list: an order. Documents are ranked so that relevant ones come first; the
//! loss is the share of pairs in the wrong order (1 − the area under the ROC curve), the oracle sorts.
//! Run it with `cargo run --release -p maxmargin --example ranking`.

use maxmargin::{Problem, Settings, SparseVec, train};
use rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// By query, ten documents with three features each, of which the first three are relevant.
struct Queries(Vec<[[f64; 3]; 10]>);

const RELEVANT: usize = 3;
const SHARE: f64 = 1.0 / (3.0 * 7.0); // of one pair in all

impl Queries {
    /// Sorts documents by score, of which `handicap` is taken off the relevant ones.
    fn sort(&self, i: usize, w: &[f64], handicap: f64) -> Vec<usize> {
        let score = |d: usize| {
            let score: f64 = self.0[i][d].iter().zip(w).map(|(x, w)| x * w).sum();
            if d < RELEVANT { score - handicap } else { score }
        };
        let mut order: Vec<usize> = (0..10).collect();
        order.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
        order
    }
}

/// Pairs of a relevant document and an irrelevant one that comes before it.
fn wrong(y: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let pairs = (0..y.len()).flat_map(move |at| y[..at].iter().map(move |&q| (y[at], q)));
    pairs.filter(|&(p, q)| p < RELEVANT && q >= RELEVANT)
}

#[rustfmt::skip]
/// A uniform number in [0, 1).
fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

impl Problem for Queries {
    type Output = Vec<usize>;
    type Workspace = ();
    fn examples(&self) -> usize {
        self.0.len()
    }
    fn dim(&self) -> usize {
        3
    }
    fn workspace(&self) {}
    // A wrong pair adds SHARE · (1 − 2⟨w, x_p − x_q⟩) to H, so it is wrong where ⟨w, x_p − x_q⟩ < ½.
    fn oracle(&self, i: usize, w: &[f64], _: &mut (), y: &mut Vec<usize>) {
        *y = self.sort(i, w, 0.5);
    }
    fn decode(&self, i: usize, w: &[f64], _: &mut (), y: &mut Vec<usize>) {
        *y = self.sort(i, w, 0.0);
    }
    fn loss(&self, _: usize, y: &Vec<usize>) -> f64 {
        SHARE * wrong(y).count() as f64
    }
    fn psi(&self, i: usize, y: &Vec<usize>, psi: &mut SparseVec) {
        for (k, (p, q)) in wrong(y).flat_map(|pair| (0..3).map(move |k| (k, pair))) {
            psi.push(k as u64, 2.0 * SHARE * (self.0[i][p][k] - self.0[i][q][k]));
        }
    }
}

fn main() -> Result<(), maxmargin::TrainError> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let hints = [0.5, 0.2, 0.0]; // what a relevant document has more of
    let mut document = |d| hints.map(|hint| unit(&mut rng) + hint * f64::from(d < RELEVANT as u32));
    let queries: Vec<_> = (0..100).map(|_| std::array::from_fn(|d| document(d as u32))).collect();
    let queries = Queries(queries);
    let w = train(&queries, &Settings { lambda: Some(0.01), ..Settings::default() })?.weights;
    let loss: f64 = (0..100).map(|i| queries.loss(i, &queries.sort(i, &w, 0.0))).sum();
    println!("weights {w:.2?}: {loss:.1} % of pairs in the wrong order");
    Ok(())
}
