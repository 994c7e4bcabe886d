//! Long work on a thread of its own, while the thread that Python called on listens to ctrl-C and
//! reports progress.

use crate::error::{WorkError, value_error};
use maxmargin::Interrupt;
use maxmargin::observe::{Control, Record};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How often signals are looked at while nothing else happens.
const PATIENCE: Duration = Duration::from_millis(50);

/// A row of the trace, to be answered with whether to go on.
struct Note {
    row: Record,
    answer: Sender<Control>,
}

/// The worker's end of the line to Python.
pub(crate) struct Reporter {
    notes: Sender<Note>,
    wanted: bool,
}

impl Reporter {
    /// Tells Python of a row, if it wants to know, and waits for its answer: a run that is stopped by
    /// its caller stops at the same row every time.
    pub(crate) fn tell(&self, row: &Record) -> Control {
        if !self.wanted {
            return Control::Continue;
        }
        let (answer, answered) = channel();
        match self.notes.send(Note { row: row.clone(), answer }) {
            Ok(()) => answered.recv().unwrap_or(Control::Stop),
            Err(_) => Control::Stop,
        }
    }
}

/// Runs `work` with Python's lock released. The first ctrl-C raises its interrupt, so that it can end in
/// an orderly way; another one, or an exception of the callback, comes back as the error.
pub(crate) fn supervised<R: Send>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    interrupt: &Interrupt,
    work: impl FnOnce(&Reporter) -> Result<R, WorkError> + Send,
) -> PyResult<R> {
    let (notes, received) = channel();
    let received = Mutex::new(received);
    let wanted = callback.is_some();
    let mut failure = None;
    let result = std::thread::scope(|scope| {
        // The thread stays known to Python while it works without its lock. Otherwise every call of a method in
        // Python would introduce it and forget it again, which takes longer than the call.
        let worker = scope.spawn(move || {
            Python::attach(|py| py.detach(move || work(&Reporter { notes, wanted })))
        });
        let mut pressed = false;
        loop {
            match py.detach(|| wait(&received)) {
                Ok(note) => {
                    let control = match callback.map(|callback| call(callback, &note.row)) {
                        Some(Ok(control)) => control,
                        // A ctrl-C that has reached the callback is a ctrl-C like any other.
                        Some(Err(error))
                            if !pressed && error.is_instance_of::<PyKeyboardInterrupt>(py) =>
                        {
                            interrupt.raise();
                            pressed = true;
                            Control::Continue
                        }
                        Some(Err(error)) => {
                            failure.get_or_insert(error);
                            Control::Stop
                        }
                        None => Control::Continue,
                    };
                    // A worker that no longer waits has come to its end.
                    let _ = note.answer.send(control);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if let Err(error) = py.check_signals() {
                interrupt.raise();
                if pressed || !error.is_instance_of::<PyKeyboardInterrupt>(py) {
                    failure.get_or_insert(error);
                }
                pressed = true;
            }
        }
        py.detach(|| worker.join())
    });
    match (failure, result) {
        (Some(failure), _) => Err(failure),
        (None, Ok(result)) => result.map_err(value_error),
        (None, Err(_)) => Err(PyRuntimeError::new_err("the training has panicked; this is a bug")),
    }
}

fn wait(notes: &Mutex<Receiver<Note>>) -> Result<Note, RecvTimeoutError> {
    match notes.lock() {
        Ok(notes) => notes.recv_timeout(PATIENCE),
        Err(_) => Err(RecvTimeoutError::Disconnected),
    }
}

/// Python's answer to a row: `False` stops.
fn call(callback: &Bound<'_, PyAny>, row: &Record) -> PyResult<Control> {
    let row = crate::history::row(callback.py(), row)?;
    let answer = callback.call1((row,))?;
    let stop = answer.extract::<bool>().is_ok_and(|go_on| !go_on);
    Ok(if stop { Control::Stop } else { Control::Continue })
}
