//! Real data that may not be given away with the program, read where they lie beside it.
//!
//! A test whose files are absent counts as ignored, and says so.
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

mod alignments;
mod conll2000;
mod graphs;
mod rows;

use libtest_mimic::{Arguments, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A file of the shared data.
fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name)
}

/// A test that needs some of these files.
fn test(name: &str, files: &[&str], run: fn()) -> Trial {
    let absent = files.iter().find(|file| !shared(file).is_file());
    if let Some(file) = absent {
        eprintln!("ignored: {name} needs {file}, which is absent");
    }
    let run = move || {
        run();
        Ok(())
    };
    Trial::test(name, run).with_ignored_flag(absent.is_some())
}

fn main() -> ExitCode {
    let tests = vec![
        test(
            "conll2000::the_template_of_chunking_is_the_reader_of_chunking",
            &["conll2000_train.txt.gz"],
            conll2000::the_template_of_chunking_is_the_reader_of_chunking,
        ),
        test(
            "conll2000::the_counts_are_those_of_crfsuite",
            &["conll2000_train.txt.gz", "conll2000_test.txt.gz"],
            conll2000::the_counts_are_those_of_crfsuite,
        ),
        test(
            "conll2000::written_as_crfsuite_the_data_are_the_same",
            &["conll2000_test.txt.gz"],
            conll2000::written_as_crfsuite_the_data_are_the_same,
        ),
        test("rows::yeast", &["yeast_train.svm.gz", "yeast_test.svm.gz"], rows::yeast),
        test(
            "rows::reuters",
            &["reuters21578_train.svm.gz", "reuters21578_test.svm.gz"],
            rows::reuters,
        ),
        test("graphs::horses", &["weizmann_horses_superpixels.txt.gz"], graphs::horses),
        test("graphs::poses", &["lsp_joints.tsv.gz"], graphs::poses),
        test(
            "alignments::hansards",
            &["align_enfr_hansards.tsv.gz", "align_enfr_hansards_trial.tsv.gz"],
            alignments::hansards,
        ),
        test("alignments::czenali", &["align_encs_czenali.tsv.gz"], alignments::czenali),
    ];
    libtest_mimic::run(&Arguments::from_args(), tests).exit_code()
}
