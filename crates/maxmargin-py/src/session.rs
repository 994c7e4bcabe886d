//! A training on a problem of any kind.

use crate::error::WorkError;
use crate::supervise::Reporter;
use maxmargin::observe::{Control, Event, Record};
use maxmargin::{Blocks, DualPoint, Interrupt, Settings, Solution, Trainer};
use maxmargin_io::ProblemRole;

/// The error of the weights of a problem on some data.
pub(crate) type ErrorOf<'a> = Box<dyn FnMut(&[f64], ProblemRole<'_>) -> f64 + Send + 'a>;

/// A training, in one round or in several.
pub(crate) struct Session<'a> {
    pub(crate) settings: Settings,
    pub(crate) error: Option<ErrorOf<'a>>,
    pub(crate) interrupt: Interrupt,
    pub(crate) reporter: &'a Reporter,
    /// Whether a decoder that may be wrong is refused.
    pub(crate) exact: bool,
    /// The rows of its trace so far.
    pub(crate) rows: Vec<Record>,
}

impl Session<'_> {
    /// Trains on a problem, from `start` if it is given.
    pub(crate) fn run(
        &mut self,
        problem: &dyn Blocks,
        role: ProblemRole<'_>,
        start: Option<DualPoint>,
    ) -> Result<Solution, WorkError> {
        if self.exact && !problem.quality().is_exact() {
            return Err(WorkError::NotExact(problem.quality()));
        }
        let (reporter, rows) = (self.reporter, &mut self.rows);
        let mut watch = |event: Event<'_>| match event {
            Event::Pass { record, .. } => {
                rows.push(record.clone());
                reporter.tell(record)
            }
            _ => Control::Continue,
        };
        let mut error = self.error.as_mut().map(|error| move |w: &[f64]| error(w, role));
        let mut trainer = Trainer::new(self.settings.clone())
            .interrupt(self.interrupt.clone())
            .observe(&mut watch);
        if let Some(error) = &mut error {
            trainer = trainer.validate(error);
        }
        if let Some(point) = start {
            trainer = trainer.start_from(point);
        }
        Ok(trainer.train(problem)?)
    }
}
