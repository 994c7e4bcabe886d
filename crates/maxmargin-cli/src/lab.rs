//! What `maxmargin-lab` uses of this program: races of `compare`, data that are read by the options of a command line,
//! and files and words as the program writes them. It changes whenever the program does.

pub use crate::args::{CompareArgs, ModelArgs, TalkArgs, format_parser};
pub use crate::commands::compare::curves::{AtLambda, Group, Spread, by_lambda};
pub use crate::commands::compare::method::{ALL, Method};
pub use crate::commands::compare::page::{convergence, figures, sections};
pub use crate::commands::compare::runner::{Row, Run};
pub use crate::commands::compare::{Comparison, compare_what_applies};
pub use crate::commands::{make_folder, on_ctrl_c, print, print_json, write_figures, write_file};
pub use crate::kind::UseProblem;
pub use crate::output::check as check_files;
pub use crate::screen::Screen;

use crate::commands::errors_in_words;
use crate::kind::{
    self, AnyTraining, Kind, MultilabelKind, ProblemRole, Training, Vocabulary, with_training,
};
use anyhow::{Result, anyhow, bail};
use maxmargin::evaluate::SequenceErrors;
use maxmargin::model::LabelledRows;
use maxmargin::model::soft::SoftGraph;
use maxmargin::{Problem, Settings, Solution};
use maxmargin_io::{
    Fingerprint, Format, LabelRule, Model, MultilabelSpec, Rescaling, SoftSpec, Spec,
};

/// Training data of any kind.
pub struct TrainingData(AnyTraining);

impl TrainingData {
    /// Reads the training data of a comparison.
    ///
    /// # Errors
    /// The data cannot be read, or options do not fit them.
    pub fn read(args: &CompareArgs) -> Result<Self> {
        kind::read_training(&args.data, args.format, &args.model).map(Self)
    }

    /// What is learned from them.
    pub fn spec(&self) -> Spec {
        with_training!(&self.0, data => data.spec.clone().into())
    }

    /// What tells the data from others.
    pub fn fingerprint(&self) -> Fingerprint {
        with_training!(&self.0, data => data.origin.fingerprint)
    }

    /// Builds the problem, for `user` to work on.
    ///
    /// # Errors
    /// The data make no problem, or `user` fails.
    pub fn with_problem<U: UseProblem>(self, user: U) -> Result<U::Result> {
        fn go<K: Kind, U: UseProblem>(data: Training<K>, user: U) -> Result<U::Result> {
            K::with_problem(&data.spec, data.examples, None, user)
        }
        with_training!(self.0, data => go(data, user))
    }
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
        let AnyTraining::Multilabel(data) =
            kind::read_training(&args.data, args.format, &args.model)?
        else {
            bail!("{}: these are no sets of labels", args.data);
        };
        let test = args.test.as_deref().unwrap_or(&args.data);
        let names = Vocabulary::of_origin(&data.origin);
        let test = MultilabelKind::read(&names, &data.spec, test, args.format, LabelRule::Count)?;
        Ok(Self {
            train: (data.examples, data.origin.fingerprint),
            test: (test.examples, test.fingerprint),
            spec: data.spec,
        })
    }
}

/// The share of labels that weights get wrong.
pub fn label_set_error(spec: &MultilabelSpec, w: &[f64], data: &LabelledRows) -> f64 {
    MultilabelKind::errors(spec, w, data).hamming()
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
    pub test: Option<(SequenceErrors, String)>,
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
        let training = kind::read_training(self.data, self.format, self.model)?;
        with_training!(training, data => self.train_on(data, settings, method))
    }

    fn train_on<K: Kind>(
        &self,
        data: Training<K>,
        settings: &Settings,
        method: impl FnOnce(&SoftGraph) -> Result<Solution>,
    ) -> Result<Trained> {
        let Training { examples, origin, spec } = data;
        let mut relaxed: Spec = spec.clone().into();
        let Some(training) = relaxed.training_mut() else {
            bail!("{}: sets of labels or factor graphs are needed", self.data);
        };
        let n = K::count(&examples);
        let lambda = self.lambda.unwrap_or(1.0 / n.max(1) as f64);
        *training = SoftSpec { lambda, ..SoftSpec::new(1.0) }.into();
        let relaxed = K::Spec::try_from(relaxed).map_err(|_| anyhow!("another kind of model"))?;
        let names = Vocabulary::of_origin(&origin);
        let read = |test| K::read(&names, &spec, test, self.format, LabelRule::Count);
        let test = self.test.map(read).transpose()?;
        let solution = K::with_problem(&relaxed, examples, None, OnSoftGraph(method))?;
        let errors = test.map(|test| K::errors(&spec, &solution.weights, &test.examples));
        let test = errors.map(|errors| (errors, errors_in_words::<K>(&errors)));
        let what = K::describe(&spec);
        let mut model = Model::new(origin, spec, settings.clone(), solution);
        model.dual = None;
        model.meta.n = n;
        Ok(Trained { model, what, test })
    }
}

/// A method that works on a problem with soft constraints.
struct OnSoftGraph<F>(F);

impl<T, F: FnOnce(&SoftGraph) -> Result<T>> UseProblem for OnSoftGraph<F> {
    type Result = T;

    fn go_with<P: Problem>(self, _: &P, beside: ProblemRole<'_>) -> Result<T> {
        match beside {
            ProblemRole::Soft(problem) => self.0(problem),
            _ => bail!("this is no problem with soft constraints"),
        }
    }
}
