//! DLPW as a run like others: rows that observers know, and a solution in the end.

use super::dlpw::{DlpwRow, DlpwSettings, dlpw_watched};
use super::problem::{SoftError, SoftGraph};
use crate::certificate::Certificate;
use crate::dual::DualPoint;
use crate::observe::Status;
use crate::observe::{Control, Record, StepSizes, Totals};
use crate::problem::quality::Quality;
use crate::run::{Interrupt, Solution};
use crate::settings::Settings;

/// Trains by [DLPW](super::dlpw()), at a temperature if its maxima are to be soft. Of the settings it uses the
/// seed and the limits on passes and seconds.
///
/// There is no dual point and no proof: the certificate states the hard objective, and 0 as its lower
/// bound. Rows have the hard objective as the [other objective](Record::second).
///
/// ```
/// # use maxmargin::doc::soft_pictures;
/// use maxmargin::model::soft::train_dlpw;
/// use maxmargin::observe::Control;
/// use maxmargin::{Interrupt, Settings, Status};
///
/// let (settings, interrupt) = (Settings::default(), Interrupt::new());
/// let found = train_dlpw(&soft_pictures(0.05), None, &settings, &interrupt, |row| {
///     if row.pass == 3 { Control::Stop } else { Control::Continue }
/// })?;
/// assert_eq!((found.status, found.totals.passes), (Status::Stopped, 3));
/// assert!(found.dual.blocks.is_empty());
/// # Ok::<(), maxmargin::model::soft::SoftError>(())
/// ```
///
/// # Errors
/// A temperature that is not positive, or no passes at all.
pub fn train_dlpw(
    problem: &SoftGraph,
    temperature: Option<f64>,
    settings: &Settings,
    interrupt: &Interrupt,
    mut watch: impl FnMut(&Record) -> Control,
) -> Result<Solution, SoftError> {
    let (epochs, max_seconds) = (settings.max_passes, settings.max_seconds);
    let own = DlpwSettings { epochs, max_seconds, temperature, seed: settings.seed };
    let mut stopped = false;
    let found = dlpw_watched(problem, &own, |row| {
        stopped = watch(&record(row)) == Control::Stop;
        if stopped || interrupt.is_raised() { Control::Stop } else { Control::Continue }
    })?;
    let none = SoftError::NotPositive { name: "the number of passes", value: 0.0 };
    let last = found.history.last().ok_or(none)?;
    let (lambda, primal) = (problem.lambda(), last.hard_objective);
    let quality = Quality::UpperBound;
    Ok(Solution {
        weights: found.weights,
        dual: DualPoint { blocks: Vec::new() },
        lambda,
        certificate: Certificate { lambda, primal, dual: 0.0, gap: primal, quality },
        status: match last.epoch < epochs {
            false => Status::MaxPasses,
            true if interrupt.is_raised() => Status::Interrupted,
            true if stopped => Status::Stopped,
            true => Status::MaxSeconds,
        },
        totals: Totals { passes: last.epoch, seconds: last.seconds, ..Totals::default() },
        choice: None,
        validation: None,
        warnings: Vec::new(),
    })
}

fn record(row: &DlpwRow) -> Record {
    Record {
        pass: row.epoch,
        visits: 0,
        oracle_calls: 0,
        effective_passes: row.epoch as f64,
        seconds: row.seconds,
        oracle_seconds: 0.0,
        gap_seconds: 0.0,
        dual: 0.0,
        iterate_dual: None,
        average_dual: None,
        primal: None,
        gap: None,
        estimate: None,
        second: Some(row.hard_objective),
        validation: None,
        steps: StepSizes::default(),
        drift: None,
        cache: None,
    }
}
