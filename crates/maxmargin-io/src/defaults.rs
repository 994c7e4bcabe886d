//! The settings that users begin with.
//!
//! The library's own defaults are those of the papers, which its tests and the experiments speak of. The
//! command line and Python begin with settings that mean the same on all data: see
//! `benchmarks/results/2026-11-16-defaults.md`.

use maxmargin::Settings;

/// The gap, as a share of the objective, with which a run has converged.
const TOLERANCE: f64 = 0.01;

/// The settings that the command line and Python begin with.
///
/// ```
/// assert_eq!(maxmargin_io::default_settings().tolerance_text(), "1%");
/// ```
pub fn default_settings() -> Settings {
    Settings { tolerance: 0.0, relative_tolerance: TOLERANCE, ..Settings::default() }
}
