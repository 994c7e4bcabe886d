//! A decoder of chains finds what enumerating all labellings finds.

use crate::common::cases;
use maxmargin::model::chain::{ChainDecoder, ChainShape, Rules, Sequences};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Debug, Clone)]
struct Case {
    shape: ChainShape,
    w: Vec<f64>,
    length: usize,
    rules: Rules,
    fixed: Vec<(usize, u32)>,
}

/// Weights with ties, zeros and huge values, rules of all kinds, and known labels.
fn any_case() -> impl Strategy<Value = Case> {
    (1usize..=3, 1usize..=4, any::<bool>()).prop_flat_map(|(labels, length, transition)| {
        let mut shape = ChainShape::new(labels, length);
        shape.groups.transition = transition;
        let number = prop_oneof![-3..3i32, Just(1_000_000)].prop_map(|x| 0.5 * f64::from(x));
        let label = 0..labels as u32;
        let pair = (label.clone(), label.clone());
        let rules = (vec(pair, 0..4), vec(label.clone(), 0..2), vec(label.clone(), 0..2));
        let fixed = vec((0..length, label), 0..2);
        (vec(number, shape.dim()), rules, fixed).prop_map(move |(w, rules, fixed)| {
            let (pairs, begins, ends) = rules;
            let mut rules = Rules::new(labels);
            for (a, b) in pairs {
                rules = rules.forbid(a, b);
            }
            for label in begins {
                rules = rules.forbid_beginning(label);
            }
            for label in ends {
                rules = rules.forbid_end(label);
            }
            Case { shape, w, length, rules, fixed }
        })
    })
}

impl Case {
    fn data(&self) -> Sequences {
        let mut data = Sequences::new();
        for t in 0..self.length {
            data.push_token([(t as u32, 1.0)], 0).unwrap();
        }
        data.end_sequence(1.0).unwrap();
        data
    }

    /// All labellings that keep the rules, with their scores from the definition.
    fn allowed(&self) -> Vec<(f64, Vec<u32>)> {
        let (k, shape, w) = (self.shape.labels as u32, &self.shape, &self.w);
        let mut all = vec![Vec::new()];
        for _ in 0..self.length {
            let longer = |y: &Vec<u32>| {
                let y = y.clone();
                (0..k).map(move |label| [y.clone(), vec![label]].concat())
            };
            all = all.iter().flat_map(longer).collect();
        }
        let (first, last) = (0, self.length - 1);
        all.retain(|y| {
            self.rules.may_begin(y[first])
                && self.rules.may_end(y[last])
                && y.windows(2).all(|pair| self.rules.allows(pair[0], pair[1]))
                && self.fixed.iter().all(|&(t, label)| y[t] == label)
        });
        let at = |range: std::ops::Range<usize>, at: usize| w[range.start + at];
        let score = |y: &Vec<u32>| {
            let y: Vec<usize> = y.iter().map(|&label| label as usize).collect();
            let k = shape.labels;
            let nodes = y.iter().enumerate();
            let nodes = nodes.map(|(t, &y)| at(shape.emission(), t * k + y) + at(shape.bias(), y));
            let pairs = y.windows(2).map(|pair| match shape.groups.transition {
                true => at(shape.transition(), pair[0] * k + pair[1]),
                false => 0.0,
            });
            let ends = at(shape.first(), y[first]) + at(shape.last(), y[last]);
            nodes.sum::<f64>() + pairs.sum::<f64>() + ends
        };
        all.into_iter().map(|y| (score(&y), y)).collect()
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_decoder_finds_what_enumeration_finds(case in any_case()) {
        let (data, mut all) = (case.data(), case.allowed());
        let mut decoder = ChainDecoder::new(&case.shape, &case.w).with_rules(&case.rules);
        decoder.fill(data.sequence(0));
        case.fixed.iter().for_each(|&(t, label)| decoder.fix(t, label));
        all.sort_by(|a, b| b.0.total_cmp(&a.0));

        let best = decoder.best();
        prop_assert_eq!(best, all.first().map(|found| found.0));
        if best.is_some() {
            prop_assert!(all.iter().any(|(s, y)| Some(*s) == best && y == decoder.labels()));
        }

        let n = 5;
        let paths = decoder.n_best(n);
        prop_assert_eq!(paths.len(), all.len().min(n));
        for (at, path) in paths.iter().enumerate() {
            prop_assert_eq!(path.score, all[at].0, "rank {}", at);
            prop_assert!(all.contains(&(path.score, path.labels.clone())));
            prop_assert!(paths[..at].iter().all(|other| other.labels != path.labels));
        }

        let k = case.shape.labels;
        let (marginals, margins) = (decoder.max_marginals(), decoder.margins());
        for t in 0..case.length {
            let through = |y: usize| {
                let paths = all.iter().filter(|(_, path)| path[t] as usize == y);
                paths.map(|found| found.0).fold(f64::NEG_INFINITY, f64::max)
            };
            let row: Vec<f64> = (0..k).map(through).collect();
            prop_assert_eq!(&marginals[t * k..(t + 1) * k], row.as_slice());
            if best.is_some() {
                let mut sorted = row;
                sorted.sort_by(|a, b| b.total_cmp(a));
                let second = sorted.get(1).copied().unwrap_or(f64::NEG_INFINITY);
                prop_assert_eq!(margins[t], sorted[0] - second);
            }
        }
    }

    #[test]
    fn without_rules_the_best_labelling_is_found(case in any_case()) {
        let (data, free) = (case.data(), Rules::new(case.shape.labels));
        let case = Case { rules: free, fixed: Vec::new(), ..case };
        let mut decoder = ChainDecoder::new(&case.shape, &case.w);
        decoder.fill(data.sequence(0));
        let best = case.allowed().iter().map(|found| found.0).fold(f64::NEG_INFINITY, f64::max);
        prop_assert_eq!(decoder.best(), Some(best));
        prop_assert_eq!(decoder.n_best(1)[0].score, best);
    }
}
