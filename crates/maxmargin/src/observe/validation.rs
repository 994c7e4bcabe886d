//! How well a result did on held-out data.

/// How well a result does on held-out data.
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
    /// The validation error of the result: the least one of the run with
    /// [patience](crate::Settings::patience), otherwise the last one.
    pub error: f64,
    /// The pass after which the result stood.
    pub pass: u64,
    /// How often the error was measured.
    pub checks: u64,
}
