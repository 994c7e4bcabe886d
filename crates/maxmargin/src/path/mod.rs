//! The regularization path: weights that are ε-good for *every* λ, from finitely many solutions.
//!
//! If λ falls to ρλ while w stays (and the mass on outputs other than the truth is scaled by ρ), the dual
//! scales with λ and the gap grows by exactly (1 − ρ)Δ, where Δ = ℓ − λ‖w‖². So a solution with gap g at λ
//! is ε-good down to ρλ with ρ = 1 − (ε − g)/Δ, and there the next one is trained from a warm start. If Δ ≤
//! ε − g, it is ε-good for all smaller λ, and the path ends. A breakpoint keeps its certificate and Δ, so
//! primal, dual and gap at any λ cost no oracle call; above the first breakpoint convexity bounds the gap.
//!
//! The heuristic path uses the last known gaps gᵢ of the blocks instead of g and needs no exact passes.
//! They follow λ by gᵢ ← gᵢ + (1 − ρ)δᵢ, where Δ = Σ δᵢ. Its breakpoints are certified like all others,
//! by an exact pass that does not count as its work and from which it learns nothing.
//!
//! Exact paths do not start a solution from the block gaps that they know: each solution then stops sooner,
//! nearer to κε, and the path takes more breakpoints and more calls in all
//! (`benchmarks/results/2026-11-15-path.md`).

mod breakpoints;
mod choose;
mod follow;
mod grid;
mod record;
mod scale;
mod settings;
mod side_by_side;
mod start;

pub use breakpoints::{Breakpoint, Path, PathKind};
pub use choose::{HeldOutError, LambdaChoice, LambdaFold, TriedLambda, choose_lambda};
pub use follow::{regularization_path, regularization_path_with};
pub use grid::{lambda_grid, lambda_grid_with};
pub use scale::{LambdaScale, scale_lambda};
pub use settings::{GridSettings, GridStart, PathSettings};
