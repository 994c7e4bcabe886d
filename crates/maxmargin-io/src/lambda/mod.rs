//! Ways to find λ: as a given number, from the scale of features and losses, or by a search on held-out data.

mod measure;
mod search;
mod spread;

pub use measure::Measure;
pub use search::LambdaSearch;
pub(crate) use spread::Moments;

use crate::held_out::HeldOut;
use crate::problem::ProblemError;
use crate::spec::FactorTraining;
use crate::training::Training;
use maxmargin::{GroupBounds, LambdaScale, TrainError, scale_lambda};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The scale of about this many examples is close enough to the scale of all.
const SAMPLE: usize = 500;

/// Where the λ of a model comes from.
///
/// ```
/// use maxmargin_io::LambdaSource;
///
/// assert_eq!(LambdaSource::Given.name(), "given");
/// assert_eq!(serde_json::to_string(&LambdaSource::PerExample)?, r#"{"rule":"1/n"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "rule")]
pub enum LambdaSource {
    /// It was given as a number.
    #[serde(rename = "given")]
    Given,
    /// It is 1/n, as in the papers.
    #[serde(rename = "1/n")]
    PerExample,
    /// It follows from the scale of features and losses; see [`maxmargin::scale_lambda`].
    #[serde(rename = "scale")]
    Scale(LambdaScale),
    /// It was chosen by its errors on held-out data; see [`Training::choose_lambda`].
    #[serde(rename = "auto")]
    Auto(LambdaSearch),
}

impl LambdaSource {
    /// The name of the rule, as options write it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::PerExample => "1/n",
            Self::Scale(_) => "scale",
            Self::Auto(_) => "auto",
        }
    }
}

/// Why λ could not be found.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LambdaError {
    /// Examples or bounds that do not fit the specification.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// A problem that cannot be trained.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// There are no examples that could be held out.
    #[error("to choose lambda takes at least two examples, or data of their own to validate on")]
    TooFew,
    /// The search was interrupted.
    #[error("interrupted while lambda was being chosen")]
    Interrupted,
}

impl Training {
    /// The λ that fits the scale of features and losses of about 500 examples, which are drawn with `seed`; see
    /// [`maxmargin::scale_lambda`]. The length of attributes is that which remains after centring.
    ///
    /// # Errors
    /// Examples or bounds that do not fit the specification.
    pub fn scale_lambda(
        &self,
        bounds: &GroupBounds,
        seed: u64,
    ) -> Result<LambdaScale, LambdaError> {
        let n = self.examples.len().max(1);
        let mut spec = self.spec.clone();
        // A soft problem is made for one λ, which is not known yet. Its features and losses do not depend on it.
        if spec.soft().is_some()
            && let Some(training) = spec.training_mut()
        {
            *training = FactorTraining::Decoding;
        }
        let one_in = n.div_ceil(SAMPLE);
        let drawn = (one_in > 1).then(|| HeldOut { seed, one_in }.marks(n));
        let sample = match &drawn {
            Some(drawn) => self.examples.select(|i| drawn[i]),
            None => self.examples.clone(),
        };
        let share = sample.len() as f64 / n as f64;
        let spread = if spec.kernel().is_some() { 1.0 } else { spread::spread(&sample) };
        // Squares that overflow say nothing about the spread.
        let spread = if spread.is_normal() && spread > 0.0 { spread } else { 1.0 };
        let problem = spec.problem(sample, bounds)?;
        let found = scale_lambda(problem.blocks(), seed)?;
        Ok(LambdaScale { lambda: found.lambda * share * spread, spread, ..found })
    }
}

#[cfg(test)]
mod tests;
