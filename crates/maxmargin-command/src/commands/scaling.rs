//! Attributes in comparable units, where that is asked for or pays.

use crate::args::{ModelArgs, Standardise};
use crate::screen::Screen;
use anyhow::{Result, bail};
use maxmargin::GroupBounds;
use maxmargin_io::{Scaling, Training};

/// Scales the attributes of the examples if that is asked for, or pays; says so, or that it might.
pub(super) fn apply(
    args: &ModelArgs,
    data: &mut Training,
    bounds: &GroupBounds,
    screen: &Screen,
) -> Result<Option<Scaling>> {
    let (when, has_kernel) = (args.standardise, data.spec.kernel().is_some());
    let asked = when == Some(Standardise::Always);
    if asked && has_kernel {
        bail!("--standardise does not go with --kernel, whose inputs are kept as they are");
    }
    if asked && !bounds.is_empty() {
        bail!(
            "--standardise does not go with --lower and --upper, which are bounds of weights in the \
             units of the data"
        );
    }
    let scaling = Scaling::of(&data.examples).map(|own| own.centred(&data.examples, &data.spec));
    let Some(scaling) = scaling.filter(|_| when != Some(Standardise::Never)) else {
        if asked {
            bail!("--standardise is for the attributes of rows and sequences");
        }
        return Ok(None);
    };
    let possible = !has_kernel && bounds.is_empty();
    let ratio = scaling.ratio();
    if asked || possible && scaling.is_needed(&data.examples) {
        if let Some(scaled) = scaling.apply(&data.examples) {
            data.examples = scaled;
            if args.fits_transition_scale() {
                data.fit_transition_scale();
            }
            if args.fits_bias() {
                data.fit_bias();
            }
        }
        if !asked {
            let what = match scaling.centres().len() {
                0 => format!("attributes differ {ratio:.0}-fold in size and are standardised"),
                1 => "an attribute lies far from 0, so that all are standardised".to_owned(),
                far => format!("{far} attributes lie far from 0, so that all are standardised"),
            };
            screen.say(format!("{what}; --standardise never leaves them"));
        }
        return Ok(Some(scaling));
    }
    if possible && scaling.is_wild() && has_real_values(data) {
        screen.say(format!(
            "hint: attributes differ {ratio:.0}-fold in size; --standardise may predict better"
        ));
    }
    Ok(None)
}

/// Refuses to scale where weights are found for many λ or by many methods, and only `train` would scale as well.
pub(super) fn refuse(args: &ModelArgs, verb: &str) -> Result<()> {
    if args.standardise == Some(Standardise::Always) {
        bail!(
            "`{verb}` takes attributes as they are\nhint: `maxmargin train DATA --standardise` scales them"
        );
    }
    Ok(())
}

/// Says that `train` would scale these attributes, where `verb` does not: the same lambda means something else then.
pub(super) fn warn(args: &ModelArgs, data: &Training, screen: &Screen, verb: &str) {
    let has_bounds = !args.lower.is_empty() || !args.upper.is_empty();
    if args.standardise.is_some() || data.spec.kernel().is_some() || has_bounds {
        return;
    }
    let scaling = Scaling::of(&data.examples).map(|own| own.centred(&data.examples, &data.spec));
    if scaling.is_some_and(|scaling| scaling.is_needed(&data.examples)) {
        screen.say(format!(
            "attributes are taken as they are; `train` would standardise them, so that the lambdas of `{verb}` are \
             not those of `train`"
        ));
    }
}

/// Whether any value is neither 0 nor 1.
fn has_real_values(data: &Training) -> bool {
    let is_real =
        |row: maxmargin::model::Row<'_>| row.values.iter().any(|v| *v != 0.0 && *v != 1.0);
    if let Some(rows) = data.examples.rows() {
        return rows.iter().any(|(row, _)| is_real(row));
    }
    let Some(sequences) = data.examples.sequences() else { return false };
    sequences.iter().flat_map(|sequence| sequence.tokens()).any(is_real)
}
