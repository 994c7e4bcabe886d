//! What `maxmargin-lab` uses of this program: races of `compare`, data that are read by the options of a command line,
//! and files and words as the program writes them. It changes whenever the program does.

pub use crate::args::{CompareArgs, ModelArgs, TalkArgs, format_parser};
pub use crate::commands::compare::curves::{AtLambda, Group, Spread, by_lambda};
pub use crate::commands::compare::method::{ALL, Method};
pub use crate::commands::compare::page::{convergence, figures, sections};
pub use crate::commands::compare::processor::processor_seconds;
pub use crate::commands::compare::runner::{Row, Run};
pub use crate::commands::compare::{Comparison, compare_what_applies};
pub use crate::commands::{make_folder, print, print_json, write_figures, write_file};
pub use crate::output::check as check_files;
pub use crate::screen::{Screen, on_ctrl_c};

use crate::commands::errors_in_words;
use crate::kind::{self, Vocabulary, kind_of};
use anyhow::{Result, bail};
use maxmargin::model::LabelledRows;
use maxmargin::model::soft::SoftGraph;
use maxmargin::{GroupBounds, Settings, Solution};
use maxmargin_io::{
    ErrorCounts, Examples, Fingerprint, Format, LabelRule, Model, MultilabelSpec, ProblemRole,
    Rescaling, SoftSpec, Spec, Training,
};

/// Reads the training data of a comparison.
///
/// # Errors
/// The data cannot be read, or options do not fit them.
pub fn read_training(args: &CompareArgs) -> Result<Training> {
    kind::read_training(&args.data, args.format, &args.model, args.threads)
}

/// Reads training data by the options of a model.
///
/// # Errors
/// The data cannot be read, or options do not fit them.
pub fn read_training_of(data: &str, format: Option<Format>, model: &ModelArgs) -> Result<Training> {
    kind::read_training(data, format, model, 1)
}

/// Sets of labels to train and to test on.
pub struct LabelSets {
    /// What is learned.
    pub spec: MultilabelSpec,
    /// Training data, and what tells them from others.
    pub train: (LabelledRows, Fingerprint),
    /// Test data, or the training data once more.
    pub test: (LabelledRows, Fingerprint),
}

impl LabelSets {
    /// Reads the data of a comparison.
    ///
    /// # Errors
    /// The data cannot be read, or are no sets of labels.
    pub fn read(args: &CompareArgs) -> Result<Self> {
        let Training { spec, examples, origin } = read_training(args)?;
        let test = args.test.as_deref().unwrap_or(&args.data);
        let names = Vocabulary::of_origin(&origin);
        let test = kind_of(&spec)?.read(&names, test, args.format, LabelRule::Count)?;
        match (spec, examples, test.examples) {
            (Spec::Multilabel(spec), Examples::Rows(train), Examples::Rows(other)) => Ok(Self {
                spec,
                train: (train, origin.fingerprint),
                test: (other, test.fingerprint),
            }),
            _ => bail!("{}: these are no sets of labels", args.data),
        }
    }
}

/// Sets of labels or factor graphs, whose LP relaxation a method of the lab is trained on.
#[derive(Debug, Clone, Copy)]
pub struct Relaxation<'a> {
    /// Training data.
    pub data: &'a str,
    /// Test data, if there are any.
    pub test: Option<&'a str>,
    /// Layout of both.
    pub format: Option<Format>,
    /// What is learned.
    pub model: &'a ModelArgs,
    /// Regularization; 1/n if it is not given.
    pub lambda: Option<f64>,
}

/// What a method of the lab has found.
#[derive(Debug)]
pub struct Trained {
    /// The model, without a dual point: to be used like one that was trained by decoding.
    pub model: Model,
    /// What the model is, in a few words.
    pub what: String,
    /// Errors on the test data, and these in words.
    pub test: Option<(ErrorCounts, String)>,
}

impl Relaxation<'_> {
    /// Reads the data, trains by `method`, which returns weights without messages, and tests them.
    ///
    /// # Errors
    /// The data cannot be read, options do not fit them, or `method` fails.
    pub fn train(
        &self,
        settings: &Settings,
        method: impl FnOnce(&SoftGraph) -> Result<Solution>,
    ) -> Result<Trained> {
        for (given, option) in [
            (self.model.soft.is_given(), "--training and its options"),
            (!self.model.lower.is_empty(), "--lower"),
            (!self.model.upper.is_empty(), "--upper"),
            (self.model.kernel.is_given(), "--kernel"),
            (self.model.rescaling == Rescaling::Slack, "--rescaling slack"),
        ] {
            if given {
                bail!("{option} cannot be given: the method has a problem of its own");
            }
        }
        let Training { examples, origin, spec } =
            kind::read_training(self.data, self.format, self.model, 0)?;
        let mut relaxed = spec.clone();
        let Some(training) = relaxed.training_mut() else {
            bail!("{}: sets of labels or factor graphs are needed", self.data);
        };
        let n = examples.len();
        let lambda = self.lambda.unwrap_or(1.0 / n.max(1) as f64);
        *training = SoftSpec { lambda, ..SoftSpec::new(1.0) }.into();
        let (names, kind) = (Vocabulary::of_origin(&origin), kind_of(&spec)?);
        let read = |test| kind.read(&names, test, self.format, LabelRule::Count);
        let test = self.test.map(read).transpose()?;
        let problem = relaxed.problem(examples, &GroupBounds::default())?;
        let ProblemRole::Soft(soft) = problem.role() else {
            bail!("this is no problem with soft constraints");
        };
        let solution = method(soft)?;
        let errors = test
            .map(|test| spec.errors(&solution.weights, &test.examples, settings.threads))
            .transpose()?;
        let test = errors.map(|errors| (errors, errors_in_words(&errors)));
        let what = kind.describe();
        let mut model = Model::new(origin, spec, settings.clone(), solution);
        model.dual = None;
        model.meta.n = n;
        Ok(Trained { model, what, test })
    }
}
