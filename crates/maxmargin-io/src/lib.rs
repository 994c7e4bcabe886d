//! Reads data and writes models. The crate has readers and writers for sequence data and factor graphs, built-in
//! data sets, names, fingerprints and safe files. It also turns data into models.
//!
//! Data flow in one direction. A [`Source`] is the input as the user named it. It opens as a
//! [reader](ReadSequences), which returns one [`RawSequence`] after the other in *name form*: labels and attributes
//! are text. Then
//!
//! * [`read_training`] numbers the labels and attributes and returns a [`Dataset`] in index form,
//! * [`read_with`] looks up the names in the alphabets of a trained model and returns [`EvalData`],
//! * [`Mapping`] does the same for one sequence at a time, so that prediction can follow standard
//!   input.
//!
//! For rows of LIBSVM's formats, and for single tokens of sequences, [`read_rows`], [`read_rows_with`] and
//! [`RowMapping`] do the same.
//!
//! ```
//! use maxmargin_io::{LabelRule, Source, read_training, read_with};
//!
//! let train = read_training(Source::resolve("ocr-small")?.open(None)?)?;
//! let test = Source::resolve("ocr-small:test")?.open(None)?;
//! let test = read_with(test, &train.labels, &train.attributes, LabelRule::Count)?;
//! assert_eq!((train.sequences.len(), test.sequences.len()), (626, 6251));
//! # Ok::<(), maxmargin_io::DataError>(())
//! ```
//!
//! Factor graphs are similar: [`FactorGraphReader`] returns one [`RawFactorGraph`] after the other, and
//! [`read_factor_graphs`] or [`read_factor_graphs_with`] convert them to index form. [`read_alignments`] reads
//! aligned sentences, and [`AlignmentFeatures`] computes the features of their words.
//!
//! All kinds of models are trained in the same way. [`Examples`] are data of any kind in index form.
//! [`Spec::problem`] makes a [`BuiltProblem`] of them, which any solver accepts. [`Training::train`] returns a
//! [`Model`]. [`Spec::errors`] measures its weights, and [`Model::verify`] checks it on the data.

mod alignment;
mod answers;
mod atomic;
mod bias;

mod builtin;
mod checkpoint;
pub mod chunking;
mod claim;
mod columns;
mod constant;
mod contradictions;
mod converted;
mod crfsuite;
mod dataset;
mod defaults;
mod error;
mod error_counts;
mod examples;
mod factor_graph;
mod fields;
mod fingerprint;
mod format;
mod groups;
mod guess;
mod held_out;
mod in_order;
mod kept_lines;
mod lambda;
mod libsvm;
mod lines;
mod mapping;
mod model;
mod names;
mod number;
mod numbered;
pub mod ocr;
mod origin;
mod outcome;
mod path_file;
mod path_text;
mod pieces;
mod pose;
mod predict;
mod predictions;
mod problem;
mod problem_role;
mod prune;
mod reader;
mod rows;
mod seen_names;
mod segments;
mod sequence;
mod side_by_side;
mod solved;
mod source;
mod spec;
mod standardise;
mod suggest;
mod superpixels;
mod svm_hmm;
mod template;
mod training;
mod transition_scale;
mod verify;
mod write_error;

pub use alignment::{
    AlignmentFeatures, AlignmentReader, Alignments, RawAlignment, WordCounts,
    alignment_fingerprint, read_alignments, write_alignment,
};
pub use answers::{Answering, Asked, answer_examples, answer_sequences};
pub use atomic::{SaveError, atomic_write};
pub use bias::{BiasSums, bias_value};

pub use builtin::{Builtin, Part, builtin, builtins};
pub use checkpoint::{CheckpointFileError, load_checkpoint, save_checkpoint};
pub use claim::Claim;
pub use columns::{BuiltInTemplate, ColumnsReader, UnknownTemplate};
pub use constant::{CONSTANT, with_constant};
pub use converted::save_converted;
pub use crfsuite::{CrfsuiteReader, write_crfsuite};
pub use dataset::{Dataset, read_by_name, read_training, read_training_on};
pub use defaults::{LabelPairs, default_settings};
pub use error::{DataError, Place};
pub use error_counts::{ErrorCounts, Nouns, Wrong};
pub use examples::Examples;
pub use factor_graph::{
    FactorGraphDataset, FactorGraphEvalData, FactorGraphNames, FactorGraphReader, RawFactor,
    RawFactorGraph, RawVariable, TieError, read_factor_graphs, read_factor_graphs_with,
    write_factor_graph,
};
pub use fingerprint::{Fingerprint, FingerprintError, Fingerprinter};
pub use format::{Format, UnknownFormat};
pub use guess::guess_format;
pub use held_out::HeldOut;
pub use kept_lines::KeptLines;
pub use lambda::{LambdaError, LambdaSearch, LambdaSource, Measure};
pub use libsvm::{LibsvmReader, write_libsvm};
pub use lines::Lines;
pub use mapping::{EvalData, LabelRule, Mapping, UNKNOWN_LABEL, Unknown, read_with};
pub use model::{Model, ModelError, ModelMeta};
pub use names::Names;
pub use origin::Origin;
pub use outcome::{Outcome, SoftOutcome, SoftRounds};
pub use path_file::{FromPath, PathFile, PathMeta};
pub use path_text::{path_of, path_text};
pub use pieces::Pieces;
pub use pose::{
    Joint, Pose, PoseKinds, PoseSimulation, SimulatedPoses, lsp_joints, lsp_parents, lsp_torso,
    pose_fingerprint, read_poses,
};
pub use predict::{ChainPredictor, RowScorer, alignment_scores};
pub use predictions::write_predictions;
pub use problem::{BuiltProblem, ProblemError};
pub use problem_role::{InputWeights, ProblemRole};
pub use prune::{Prune, PruneError, Pruning};
pub use reader::{EachSequence, ReadSequences, open_reader, open_row_reader};
pub use rows::{EvalRows, RowData, RowMapping, read_rows, read_rows_on, read_rows_with};
pub use seen_names::SeenNames;
pub use segments::{SegmentDataset, SegmentTags, TagNames, cut_into_segments, segment_fingerprint};
pub use sequence::{RawSequence, RawToken};
pub use side_by_side::{map_side_by_side, thread_count};
pub use source::Source;
pub use spec::{
    BinarySpec, ChainSpec, FactorGraphSpec, FactorTraining, KernelSpec, MatchingSpec,
    MulticlassSpec, MultilabelSpec, PottsSpec, Rescaling, SegmentSpec, SoftSpec, Spec, TreeSpec,
    WeightGroup,
};
pub use standardise::Scaling;
pub use suggest::suggest;
pub use superpixels::{SuperpixelFeatures, SuperpixelImage, Superpixels, read_superpixels};
pub use svm_hmm::{SvmHmmReader, write_svm_hmm};
pub use template::{Template, TemplateReader};
pub use training::{Round, Training, TrainingPlan};
pub use transition_scale::transition_scale;
pub use verify::{Verdict, VerifyError};
pub use write_error::WriteError;

/// The code of the package's own README, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
