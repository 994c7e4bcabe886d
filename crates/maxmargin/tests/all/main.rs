//! The tests of the engine and its models, in one program, because linking thirty programs takes minutes.
//!
//! `cargo test -p maxmargin --test all NAME` runs those of one file.
#![allow(clippy::unwrap_used, reason = "in a test a panic is a failure")]

mod assignment;
mod audits;
mod bad_problems;
mod baselines;
mod batch;
mod block_coordinate;
mod bounds;
mod chain_features;
mod chain_oracles;
mod check_at_start;
mod check_laws;
mod checkpoints;
mod checkpoints_refused;
mod choosing_lambda;
mod common;
mod decoding;
mod determinism;
mod events;
mod expectations;
mod factor_graph;
mod factor_graph_relaxed;
mod false_certificates;
mod feasibility;
mod foreign_points;
mod gap_sampling;
mod graph_inference;
mod grid;
mod identities;
mod inexact_oracles;
mod kernels;
mod layers;
mod matching;
mod max_flow;
mod multilabel;
mod optimum;
mod path;
mod path_bad_problems;
mod path_heuristic;
mod potts;
mod potts_relaxed;
mod product;
mod rows;
mod scale;
mod slack;
mod slack_points;
mod soft;
mod stopping;
mod subgradients;
mod tree_points;
mod trees;
mod validation;
mod wrappers;
