//! `maxmargin data`

use crate::args::DataArgs;
use anyhow::Result;
use maxmargin::model::chain::ChainShape;
use maxmargin_io::{Builtin, builtins, read_training};
use serde_json::json;
use std::fmt::Write as _;
use std::process::ExitCode;

/// The sizes of a built-in data set, counted.
struct Sizes {
    train: usize,
    test: usize,
    tokens: usize,
    labels: usize,
    features: usize,
}

impl Sizes {
    fn of(builtin: &Builtin) -> Result<Self> {
        let (train, test) = (read_training(builtin.train())?, read_training(builtin.test())?);
        let (labels, attributes) = (train.labels.len(), train.attributes.len());
        Ok(Self {
            train: train.sequences.len(),
            test: test.sequences.len(),
            tokens: train.sequences.tokens(),
            labels,
            features: ChainShape::new(labels, attributes).dim(),
        })
    }
}

pub(super) fn run(args: &DataArgs) -> Result<ExitCode> {
    let mut text = String::new();
    let mut list = Vec::new();
    for builtin in builtins() {
        let s = Sizes::of(builtin)?;
        let _ = writeln!(
            text,
            "{}\n  {}\n  {} training and {} test sequences, {} training tokens, {} labels, {} features\n  \
             test part: {}:test\n  origin: {}\n",
            builtin.name,
            builtin.description,
            s.train,
            s.test,
            s.tokens,
            s.labels,
            s.features,
            builtin.name,
            builtin.origin
        );
        list.push(json!({
            "name": builtin.name, "description": builtin.description, "origin": builtin.origin,
            "train": s.train, "test": s.test, "tokens": s.tokens, "labels": s.labels,
            "features": s.features,
        }));
    }
    match args.json {
        true => super::print_json(&json!({"data": list}))?,
        false => super::print(text.trim_end_matches('\n')).and_then(|()| super::print("\n"))?,
    }
    Ok(ExitCode::SUCCESS)
}
