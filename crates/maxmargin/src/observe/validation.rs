//! The error of a result on held-out data.

/// The error of a result on held-out data, and when it was measured.
///
/// ```
/// # use maxmargin::doc::toy;
/// use maxmargin::{Settings, Trainer};
///
/// // An error that is least at the second check, after four passes.
/// let mut checks = 0;
/// let mut error = |_: &[f64]| { checks += 1; f64::abs(checks as f64 - 2.0) };
/// let settings = Settings {
///     patience: Some(3), gap_every: 2, tolerance: 0.0, ..Settings::default()
/// };
/// let found = Trainer::new(settings).validate(&mut error).train(&toy())?.validation.unwrap();
/// assert_eq!((found.error, found.pass, found.checks), (0.0, 4, 5));
/// # Ok::<(), maxmargin::TrainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Validation {
    /// The validation error of the result: with [patience](crate::Settings::patience) the smallest one of
    /// the run, otherwise the last one.
    pub error: f64,
    /// The pass after which it was measured.
    pub pass: u64,
    /// The number of measurements in the run.
    pub checks: u64,
}
