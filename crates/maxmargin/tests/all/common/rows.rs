//! Random small multiclass and binary problems, and dense versions of everything about them from the
//! formulas.

use super::problems::{Enumerated, EnumeratedBlock};
use super::{dot, minus};
use maxmargin::model::LabelledRows;
use maxmargin::model::binary::{Binary, BinaryShape};
use maxmargin::model::multiclass::{ClassLoss, CostMatrix, Multiclass, MulticlassShape};
use proptest::collection::vec;
use proptest::prelude::*;

/// Labelled rows before they become a problem, in the simplest form.
#[derive(Debug, Clone)]
pub struct RowsCase {
    pub classes: usize,
    pub attributes: usize,
    pub bias: Option<f64>,
    /// Costs by true and by predicted class. `None` means 0/1 loss.
    pub costs: Option<Vec<Vec<f64>>>,
    pub rows: Vec<CaseRow>,
}

#[derive(Debug, Clone)]
pub struct CaseRow {
    pub weight: f64,
    pub attributes: Vec<(u32, f64)>,
    pub label: u32,
}

impl RowsCase {
    pub fn data(&self) -> LabelledRows {
        let mut data = LabelledRows::new();
        for row in &self.rows {
            data.push(row.attributes.iter().copied(), &[row.label], row.weight).unwrap();
        }
        data
    }

    pub fn multiclass(&self) -> Multiclass {
        let (classes, attributes, bias) = (self.classes, self.attributes, self.bias);
        let loss = match &self.costs {
            None => ClassLoss::ZeroOne,
            Some(rows) => ClassLoss::Costs(CostMatrix::new(rows.clone()).unwrap()),
        };
        let shape = MulticlassShape { classes, attributes, bias };
        Multiclass::new(shape, self.data(), loss).unwrap()
    }

    /// Label 0 against all others.
    pub fn binary(&self) -> Binary {
        let shape = BinaryShape { attributes: self.attributes, bias: self.bias };
        Binary::new(shape, self.data(), 0).unwrap()
    }

    /// The row as a dense vector, the bias last.
    pub fn x(&self, i: usize) -> Vec<f64> {
        let mut x = vec![0.0; self.attributes];
        self.rows[i].attributes.iter().for_each(|&(a, value)| x[a as usize] += value);
        x.extend(self.bias);
        x
    }

    pub fn loss(&self, i: usize, y: usize) -> f64 {
        let truth = self.rows[i].label as usize;
        self.costs.as_ref().map_or(f64::from(y != truth), |costs| costs[truth][y])
    }

    /// φ(x, y) of the multiclass problem, attribute by attribute with the classes side by side.
    pub fn phi(&self, i: usize, y: usize) -> Vec<f64> {
        let class = |k: usize| f64::from(k == y);
        self.x(i).iter().flat_map(|x| (0..self.classes).map(move |k| x * class(k))).collect()
    }

    pub fn sign(&self, i: usize) -> f64 {
        if self.rows[i].label == 0 { 1.0 } else { -1.0 }
    }

    /// The multiclass problem with every ψ and loss written out.
    pub fn enumerate(&self) -> Enumerated {
        let block = |i: usize| {
            let truth = self.phi(i, self.rows[i].label as usize);
            let corner = |y: usize| (minus(&truth, &self.phi(i, y)), self.loss(i, y));
            EnumeratedBlock {
                weight: self.rows[i].weight,
                corners: (0..self.classes).map(corner).collect(),
            }
        };
        let dim = self.x(0).len() * self.classes;
        Enumerated { dim, blocks: (0..self.rows.len()).map(block).collect() }
    }

    /// The binary problem with every ψ and loss written out. Corner 0 is the truth, and ψ(−yᵢ) = yᵢxᵢ.
    pub fn enumerate_binary(&self) -> Enumerated {
        let block = |i: usize| {
            let psi: Vec<f64> = self.x(i).iter().map(|x| self.sign(i) * x).collect();
            let corners = vec![(vec![0.0; psi.len()], 0.0), (psi, 1.0)];
            EnumeratedBlock { weight: self.rows[i].weight, corners }
        };
        let dim = self.x(0).len();
        Enumerated { dim, blocks: (0..self.rows.len()).map(block).collect() }
    }

    /// LIBLINEAR's objective for C, from its papers: ½‖w‖² + C Σ cᵢ·hinge.
    pub fn liblinear(&self, c: f64, w: &[f64], binary: bool) -> f64 {
        let hinge = |i: usize| match binary {
            true => (1.0 - self.sign(i) * dot(w, &self.x(i))).max(0.0),
            false => {
                let score = |y: usize| dot(w, &self.phi(i, y));
                let truth = self.rows[i].label as usize;
                let values = (0..self.classes).map(|y| self.loss(i, y) + score(y) - score(truth));
                values.fold(f64::NEG_INFINITY, f64::max)
            }
        };
        let risk: f64 = (0..self.rows.len()).map(|i| self.rows[i].weight * hinge(i)).sum();
        0.5 * dot(w, w) + c * risk
    }
}

fn costs(classes: usize) -> impl Strategy<Value = Option<Vec<Vec<f64>>>> {
    let cost = prop_oneof![1 => Just(0.0), 4 => 0.1..3.0f64];
    let matrix = vec(vec(cost, classes), classes).prop_map(|mut rows| {
        rows.iter_mut().enumerate().for_each(|(class, row)| row[class] = 0.0);
        rows
    });
    prop_oneof![Just(None), matrix.prop_map(Some)]
}

/// Any small case: empty rows, repeated attributes, ties, unused classes, every loss, with and
/// without bias and weights.
pub fn any_rows(classes: std::ops::RangeInclusive<usize>) -> impl Strategy<Value = RowsCase> {
    let bias = prop_oneof![Just(None), (0.1..3.0f64).prop_map(Some)];
    (classes, 1usize..=5, bias, any::<[bool; 2]>()).prop_flat_map(
        |(classes, attributes, bias, [ones, weighted])| {
            let value = match ones {
                true => Just(1.0).boxed(),
                false => prop_oneof![Just(1.0), Just(0.0), -2.0..2.0f64, -2.0..2.0f64].boxed(),
            };
            let weight = if weighted { (0.1..3.0f64).boxed() } else { Just(1.0).boxed() };
            let list = vec((0..attributes as u32, value), 0..=5);
            let row = (weight, list, 0..classes as u32)
                .prop_map(|(weight, attributes, label)| CaseRow { weight, attributes, label });
            (Just((classes, attributes, bias)), costs(classes), vec(row, 1..=8)).prop_map(
                |((classes, attributes, bias), costs, rows)| RowsCase {
                    classes,
                    attributes,
                    bias,
                    costs,
                    rows,
                },
            )
        },
    )
}
