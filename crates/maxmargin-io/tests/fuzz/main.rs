//! Every reader of bytes on thousands of mutated samples: no panic, no abort, no disagreement.
//!
//! The targets are those of `fuzz/`, where libFuzzer looks for new samples. Here the samples of `corpus` are mutated by
//! a generator of our own, so that the same bytes are tried on every machine. For longer runs:
//!
//! ```text
//! MAXMARGIN_EXECUTIONS=10000000 cargo test -p maxmargin-io --test fuzz models -- --nocapture
//! MAXMARGIN_SEED=17 …    # other mutations
//! ```
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

mod mutate;
mod targets;

use mutate::Mutator;
use std::path::Path;

/// Executions of an ordinary test run, of targets that are fast and of those that train.
const MANY: u64 = 4_000;
const FEW: u64 = 300;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}, which is no number")))
}

/// The samples of a target, in the order of their names.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus").join(name);
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Tells which bytes a target was given when it failed.
struct Witness<'a>(&'a str, u64, &'a [u8]);

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Self(name, execution, bytes) = self;
            let text: String = bytes
                .iter()
                .flat_map(|byte| std::ascii::escape_default(*byte))
                .map(char::from)
                .collect();
            eprintln!("{name}, execution {execution}: b\"{text}\"");
        }
    }
}

fn run(name: &str) {
    let (_, target, is_fast) =
        targets::TARGETS.into_iter().find(|target| target.0 == name).unwrap();
    let executions = number("MAXMARGIN_EXECUTIONS").unwrap_or(if is_fast { MANY } else { FEW });
    let samples = corpus(name);
    assert!(!samples.is_empty());
    let mut mutator = Mutator::new(number("MAXMARGIN_SEED").unwrap_or(1));
    for execution in 0..executions {
        let bytes = match samples.get(execution as usize) {
            Some(sample) => sample.clone(),
            None => mutator.mutate(&samples),
        };
        let witness = Witness(name, execution, &bytes);
        target(witness.2);
        if executions > 100_000 && execution % (executions / 10) == 0 {
            eprintln!("{name}: {execution} of {executions}");
        }
    }
}

macro_rules! tests {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                run(stringify!($name));
            }
        )*

        #[test]
        fn every_target_has_a_test() {
            let all: Vec<&str> = targets::TARGETS.iter().map(|target| target.0).collect();
            assert_eq!(all, [$(stringify!($name)),*]);
        }
    };
}

tests! { readers templates settings tensors models paths checkpoints converted agreement }

#[test]
fn unchanged_checkpoints_of_every_method_go_on_to_the_same_bits() {
    targets::resume_unchanged();
}

#[test]
fn agreement_is_asked_of_every_kind_in_every_way() {
    let mut trained = std::collections::BTreeMap::<_, u32>::new();
    for number in 0..2_000u64 {
        if let Some(came) = targets::agree(&number.to_le_bytes()) {
            *trained.entry(came).or_default() += 1;
        }
    }
    eprintln!("{trained:?}");
    for kind in targets::tasks::KINDS {
        for way in targets::agreement::WAYS {
            // The path of soft constraints is a grid, at each λ of which the problem is another one.
            let is_grid = way == "path" && kind == "soft multilabel";
            assert!(is_grid || trained.contains_key(&(kind, way)), "{kind}: {way}");
        }
    }
    assert!(trained.values().sum::<u32>() > 1_000);
}
