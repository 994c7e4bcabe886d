//! Finding λ: given, by the scale of features and losses, or by the errors on data held out.

use crate::args::{Lambda, SettingsArgs};
use crate::kind::Labelled;
use crate::report::LambdaCurve;
use crate::screen::{Interrupted, Screen, on_ctrl_c};
use anyhow::{Result, bail};
use maxmargin::{LambdaScale, Settings};
use maxmargin_io::{LambdaError, LambdaSearch, LambdaSource, Measure, Training, TrainingPlan};
use maxmargin_report::{format_number, format_significant};

/// The rule by which λ is to be found: that of the option, or a number in the settings.
pub(super) fn rule(args: &SettingsArgs, settings: &Settings) -> Lambda {
    args.lambda.or(settings.lambda.map(Lambda::Value)).unwrap_or(Lambda::Scale)
}

/// What finding λ needs.
pub(super) struct Finding<'a> {
    pub(super) rule: Lambda,
    /// The measure that `--measure` names.
    pub(super) measure: Option<Measure>,
    pub(super) plan: &'a TrainingPlan,
    pub(super) data: &'a Training,
    pub(super) validation: Option<&'a Labelled>,
    pub(super) settings: &'a Settings,
    pub(super) screen: &'a Screen,
}

impl Finding<'_> {
    /// Refuses a measure that has no meaning here.
    fn check_measure(&self) -> Result<()> {
        let Some(measure) = self.measure else { return Ok(()) };
        if self.rule != Lambda::Auto {
            bail!("--measure has no meaning here: only --lambda auto chooses lambda by a measure");
        }
        if let Some(what) = measure.misfit(&self.data.spec) {
            bail!("--measure {measure} is for {what}, not for {}", self.data.spec.kind());
        }
        Ok(())
    }

    /// Finds λ, and says where it comes from.
    pub(super) fn find(&self) -> Result<(f64, LambdaSource)> {
        self.check_measure()?;
        let n = self.data.examples.len();
        Ok(match self.rule {
            Lambda::Value(lambda) => (lambda, LambdaSource::Given),
            Lambda::PerExample => (1.0 / n.max(1) as f64, LambdaSource::PerExample),
            Lambda::Scale => {
                self.screen.busy("finding lambda");
                let scale = self.data.scale_lambda(&self.plan.bounds, self.settings.seed)?;
                self.screen.say(scale_in_words(&scale, self.data));
                (scale.lambda, LambdaSource::Scale(scale))
            }
            Lambda::Auto => {
                let (lambda, search) = self.choose()?;
                (lambda, LambdaSource::Auto(search))
            }
        })
    }

    /// Chooses λ by the error on validation data, or on parts of the examples.
    fn choose(&self) -> Result<(f64, LambdaSearch)> {
        let Self { plan, data, settings, screen, .. } = *self;
        let interrupt = on_ctrl_c(screen)?;
        let measure = self.measure.unwrap_or_else(|| Measure::of(&data.spec, &data.origin.labels));
        let validation = self.validation.map(|own| &own.examples);
        let what = error_name(measure);
        screen.busy("choosing lambda");
        let mut count = 0;
        let watch = |tried: &maxmargin::TriedLambda| {
            count += 1;
            screen.tell(format!("{count} tried, the last {}", format_significant(tried.lambda, 3)));
            let lambda = format_significant(tried.lambda, 4);
            screen.say(format!("lambda {lambda:>10}   {what} {:.4}", tried.error));
        };
        let found =
            data.choose_lambda(&plan.bounds, validation, measure, settings, &interrupt, watch);
        screen.done();
        let examples = data.spec.nouns().examples;
        let (lambda, search) = match found {
            Err(LambdaError::TooFew) => {
                bail!("--lambda auto needs at least two {examples}, or --validation DATA")
            }
            Err(error @ LambdaError::Interrupted) => bail!(Interrupted(error.to_string())),
            other => other?,
        };
        let (tried, on) = (search.curve.len(), held_out_in_words(search.folds, examples));
        let shown = format_significant(lambda, 5);
        screen.say(format!("lambda auto: {shown}, the best of {tried} by {measure} on {on}"));
        Ok((lambda, search))
    }
}

/// What a search has tried, for the page, if there was one.
pub(super) fn curve(source: Option<&LambdaSource>, chosen: Option<f64>) -> Option<LambdaCurve> {
    let (Some(LambdaSource::Auto(search)), Some(chosen)) = (source, chosen) else { return None };
    let measure = format!("{} on data held out", error_name(search.measure));
    let points = search.curve.iter().map(|tried| (tried.lambda, tried.error)).collect();
    Some(LambdaCurve { measure, points, chosen })
}

/// What a measure is as an error.
fn error_name(measure: Measure) -> String {
    match measure {
        Measure::Error | Measure::Aer => measure.to_string(),
        Measure::Subset => "share of wrong examples".to_owned(),
        other => format!("1 - {other}"),
    }
}

/// What errors were measured on, for people.
fn held_out_in_words(folds: usize, examples: &str) -> String {
    match folds {
        0 => "the validation data".to_owned(),
        1 => format!("a tenth of the {examples}, held out"),
        folds => format!("the {examples}, held out in {folds} parts"),
    }
}

/// Where a λ by the scale comes from, for people.
fn scale_in_words(scale: &LambdaScale, data: &Training) -> String {
    let (n, examples) = (data.examples.len(), data.spec.nouns().examples);
    let (lambda, length) = (short(scale.lambda), short(scale.length * scale.spread));
    format!("lambda {lambda} by scale: a change of loss 1 has length² {length}, {n} {examples}")
}

/// A number in at most five digits.
pub(super) fn short(value: f64) -> String {
    if (1e-3..1e5).contains(&value) { format_number(value) } else { format!("{value:.3e}") }
}
