//! The code of the documents, compiled and run as tests. It stands in a crate that is not published, since a package
//! cannot read files outside its folder.

#[doc = include_str!("../../../README.md")]
struct Readme;
#[doc = include_str!("../../../docs/how-to/tag-sequences.md")]
struct Chains;
#[doc = include_str!("../../../docs/how-to/cut-sequences.md")]
struct Segments;
#[doc = include_str!("../../../docs/how-to/factor-graphs.md")]
struct FactorGraph;
#[doc = include_str!("../../../docs/how-to/classify-rows.md")]
struct Multiclass;
#[doc = include_str!("../../../docs/how-to/use-kernels.md")]
struct Kernels;
#[doc = include_str!("../../../docs/how-to/segment-images.md")]
struct Graphs;
#[doc = include_str!("../../../docs/how-to/label-sets.md")]
struct Multilabel;
#[doc = include_str!("../../../docs/how-to/find-poses.md")]
struct Trees;
#[doc = include_str!("../../../docs/how-to/other-functions.md")]
struct Product;
#[doc = include_str!("../../../docs/explanation/methods.md")]
struct Methods;
#[doc = include_str!("../../../docs/how-to/own-oracle-rust.md")]
struct OwnOracle;
#[doc = include_str!("../../../docs/how-to/align-sentences.md")]
struct Matchings;
#[doc = include_str!("../../../docs/how-to/embed-a-model.md")]
struct Embedding;
