//! The regularization path: weights that are ε-good for *every* λ, by finitely many solutions.
//!
//! As λ falls to ρλ with w kept (and the mass on other outputs than the truth scaled by ρ), the gap
//! grows by exactly (1 − ρ)Δ, where Δ = ℓ − λ‖w‖². So a solution with gap g at λ is ε-good down to
//! ρλ with ρ = 1 − (ε − g)/Δ, and there the next one is trained, warm. Where Δ ≤ ε − g, it is ε-good
//! for all smaller λ, and the path is at its end.
//!
//! The heuristic path does the same with the last known gaps gᵢ of the blocks in place of g, which
//! needs no exact passes. They follow λ by gᵢ ← gᵢ + (1 − ρ)δᵢ, where Δ = Σ δᵢ.

mod breakpoints;
mod choose;
mod follow;
mod grid;
mod record;
mod settings;
mod start;

pub use breakpoints::{Breakpoint, Path, PathKind};
pub use choose::{LambdaChoice, TriedLambda, choose_lambda};
pub use follow::{regularization_path, regularization_path_with};
pub use grid::{lambda_grid, lambda_grid_with};
pub use settings::{GridSettings, GridStart, PathSettings};
