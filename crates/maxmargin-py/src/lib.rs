//! The native half of the Python package `maxmargin`: data in, trained models out, with Python's lock
//! released while anything takes time.
//!
//! What users see is written in Python on top of this (`python/maxmargin`); nothing here is meant to
//! be called by them. Structured arguments (a [`Spec`](maxmargin_io::Spec),
//! [`Settings`](maxmargin::Settings)) come as JSON, in the form in which model files keep them, so that
//! unknown names are refused in one place.

mod alphabet;
mod arrays;
mod columns;
mod coordinator;
mod decode;
mod dicts;
mod dual;
mod error;
mod examples;
mod factor_graphs;
mod fit;
mod history;
mod joint;
mod kernel_map;
mod labels;
mod model;
mod oracle;
mod pairs;
mod path;
mod potts;
mod predict;
mod read;
mod recent;
mod report;
mod rows;
mod segments;
mod sequences;
mod session;
mod shard;
mod structure;
mod supervise;
mod trees;
mod verify;

/// The extension module.
#[pyo3::pymodule(name = "_maxmargin", gil_used = false)]
mod native {
    #[pymodule_export]
    use crate::alphabet::Alphabet;
    #[pymodule_export]
    use crate::coordinator::{Coordinator, fingerprint_files, fingerprint_of, model_of_shards};
    #[pymodule_export]
    use crate::decode::{
        decode_assignments, decode_chains, decode_cuts, decode_graphs, decode_potts,
    };
    #[pymodule_export]
    use crate::dual::Dual;
    #[pymodule_export]
    use crate::factor_graphs::FactorGraphData;
    #[pymodule_export]
    use crate::fit::{fit, follow_path, label_pairs};
    #[pymodule_export]
    use crate::joint::{fit_joint_kernel, verify_joint_kernel};
    #[pymodule_export]
    use crate::kernel_map::KernelMap;
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::pairs::{PairData, read_sentence_pairs};
    #[pymodule_export]
    use crate::path::Path;
    #[pymodule_export]
    use crate::potts::{PottsData, read_images};
    #[pymodule_export]
    use crate::read::{chunk_counts, read_columns, read_rows, read_sequences};
    #[pymodule_export]
    use crate::rows::{RowData, bias_of_sums};
    #[pymodule_export]
    use crate::segments::{SegmentData, segments_of_tags, tags_of_segments};
    #[pymodule_export]
    use crate::sequences::SequenceData;
    #[pymodule_export]
    use crate::shard::Shard;
    #[pymodule_export]
    use crate::structure::{
        check_structure, choose_structure_lambda, fit_structure, follow_structure_path,
        structure_report, verify_structure, write_page,
    };
    #[pymodule_export]
    use crate::trees::TreeData;
}
