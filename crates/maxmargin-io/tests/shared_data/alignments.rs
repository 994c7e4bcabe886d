//! Word alignments as they were counted when they were made.

use crate::shared;
use maxmargin::model::matching::Gold;
use maxmargin_io::{Lines, read_alignments};

/// Reads the pairs of a file, and counts its sure and possible links.
fn counts(name: &str) -> (usize, usize, usize) {
    let all = read_alignments(Lines::open(shared(name)).unwrap()).unwrap();
    let count = |gold| all.iter().map(|pair| pair.of_kind(gold).len()).sum();
    (all.len(), count(Gold::Sure), count(Gold::Possible))
}

pub(crate) fn hansards() {
    assert_eq!(counts("align_enfr_hansards.tsv.gz"), (447, 4038, 13_400));
    assert_eq!(counts("align_enfr_hansards_trial.tsv.gz").0, 37);
}

pub(crate) fn czenali() {
    assert_eq!(counts("align_encs_czenali.tsv.gz"), (2500, 44_292, 0));
}
