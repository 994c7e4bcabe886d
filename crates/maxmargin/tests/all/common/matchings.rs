//! Random small matchings, and dense versions of everything about them.

use super::minus;
use super::problems::{Enumerated, EnumeratedBlock};
use maxmargin::Rng;
use maxmargin::model::matching::{Gold, LinkLoss, Matching, MatchingShape, Pairs};
use proptest::prelude::*;

/// Random pairs.
#[derive(Debug, Clone)]
pub struct MatchingCase {
    pub shape: MatchingShape,
    pub loss: LinkLoss,
    pub data: Pairs,
}

pub fn any_matchings() -> impl Strategy<Value = MatchingCase> {
    let most = (1usize..3, 1usize..3);
    (any::<u64>(), most, 1usize..5, any::<bool>(), any::<bool>()).prop_map(
        |(seed, (most_per_row, most_per_column), attributes, weighted, normalise)| {
            let mut rng = Rng::new(seed);
            let mut data = Pairs::new();
            for _ in 0..1 + rng.below(4) {
                let (rows, columns) = (rng.below(4) as u32, rng.below(4) as u32);
                for at in 0..rows * columns {
                    if rng.below(5) == 0 {
                        continue; // no candidate
                    }
                    let gold = [Gold::Wrong, Gold::Wrong, Gold::Possible, Gold::Sure][rng.below(4)];
                    let mut features = Vec::new();
                    for attribute in 0..attributes as u32 {
                        if rng.below(3) > 0 {
                            features.push((attribute, rng.below(5) as f64 / 2.0 - 1.0));
                        }
                    }
                    let weight = if weighted { 0.5 * rng.below(4) as f64 } else { 1.0 };
                    data.push_weighted_link(at / columns, at % columns, features, gold, weight)
                        .unwrap();
                }
                data.end_pair(rows, columns, if weighted { 0.5 + rng.unit_f64() } else { 1.0 })
                    .unwrap();
            }
            let shape = MatchingShape { attributes, most_per_row, most_per_column };
            let loss =
                LinkLoss { wrong: 1.0, missing: if weighted { 2.5 } else { 1.0 }, normalise };
            MatchingCase { shape, loss, data }
        },
    )
}

impl MatchingCase {
    pub fn build(&self) -> Matching {
        Matching::new(self.shape, self.data.clone(), self.loss).unwrap()
    }

    pub fn truth(&self, i: usize) -> Vec<u32> {
        self.data.pair(i).of_kind(Gold::Sure).map(|k| k as u32).collect()
    }

    /// All sets of links within the bounds.
    pub fn outputs(&self, i: usize) -> Vec<Vec<u32>> {
        let pair = self.data.pair(i);
        let sets = (0u32..1 << pair.links().len())
            .map(|set| (0..pair.links().len() as u32).filter(|k| set >> k & 1 == 1).collect());
        let within = |set: &Vec<u32>| {
            let ends = |side: usize, at: u32| {
                let end =
                    |k: &&u32| [pair.link(**k as usize).0, pair.link(**k as usize).1][side] == at;
                set.iter().filter(end).count()
            };
            (0..pair.rows()).all(|r| ends(0, r) <= self.shape.most_per_row)
                && (0..pair.columns()).all(|c| ends(1, c) <= self.shape.most_per_column)
        };
        sets.filter(within).collect()
    }

    pub fn phi(&self, i: usize, y: &[u32]) -> Vec<f64> {
        let mut phi = vec![0.0; self.shape.attributes];
        for &k in y {
            let row = self.data.pair(i).attributes(k as usize);
            row.pairs().for_each(|(a, value)| phi[a as usize] += value);
        }
        phi
    }

    pub fn loss(&self, i: usize, y: &[u32]) -> f64 {
        let pair = self.data.pair(i);
        let cost = |k: usize| {
            let on = y.contains(&(k as u32));
            pair.link_weight(k)
                * match pair.gold(k) {
                    Gold::Wrong if on => self.loss.wrong,
                    Gold::Sure if !on => self.loss.missing,
                    _ => 0.0,
                }
        };
        let total: f64 = (0..pair.links().len()).map(cost).sum();
        let sure = self.truth(i).len().max(1) as f64;
        if self.loss.normalise { total / sure } else { total }
    }

    pub fn enumerate(&self) -> Enumerated {
        let block = |i: usize| {
            let truth = self.truth(i);
            let mut outputs = self.outputs(i);
            if !outputs.contains(&truth) {
                outputs.push(truth.clone());
            }
            let corner =
                |y: &Vec<u32>| (minus(&self.phi(i, &truth), &self.phi(i, y)), self.loss(i, y));
            EnumeratedBlock {
                weight: self.data.weight(i),
                corners: outputs.iter().map(corner).collect(),
            }
        };
        Enumerated { dim: self.shape.attributes, blocks: (0..self.data.len()).map(block).collect() }
    }
}
