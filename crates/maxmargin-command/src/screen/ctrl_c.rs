//! What ctrl-C does.

use super::{Screen, live};
use anyhow::{Context as _, Result, anyhow};
use maxmargin::Interrupt;
use std::fmt;
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// There is one ctrl-C for the whole program, whoever asks for it.
static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();

/// Whether somebody ends the work in good order when the interrupt is raised.
static IS_HEARD: AtomicBool = AtomicBool::new(false);

/// What the handler says, if it may say anything.
static SCREEN: OnceLock<Screen> = OnceLock::new();

/// The exit status of a program that ctrl-C has ended, also if it has saved its results before: 128 and the
/// number of the signal, as shells have it.
const INTERRUPTED: u8 = 130;

/// The first ctrl-C ends the training with a model, within about a second; the second ends the program.
///
/// # Errors
/// The operating system does not let the program listen.
pub fn on_ctrl_c(screen: &Screen) -> Result<Interrupt> {
    let interrupt = listen()?;
    SCREEN.get_or_init(|| screen.clone());
    IS_HEARD.store(true, Ordering::SeqCst);
    Ok(interrupt)
}

/// Whether the work is to end.
pub(super) fn is_raised() -> bool {
    INTERRUPT.get().is_some_and(Interrupt::is_raised)
}

/// The exit status of a command: its own, unless ctrl-C has cut the command short.
pub(crate) fn exit_status(own: ExitCode) -> ExitCode {
    if is_raised() { ExitCode::from(INTERRUPTED) } else { own }
}

/// The error of a command that ctrl-C has ended before it had a result.
#[derive(Debug)]
pub(crate) struct Interrupted(pub(crate) String);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Interrupted {}

/// Until a training listens, ctrl-C ends the program, but not with half a live line on the terminal.
pub(super) fn leave_a_clean_line() {
    // Whoever cannot listen dies by the signal, which is no worse than without a live line.
    let _ = listen();
}

fn listen() -> Result<Interrupt> {
    static LISTENS: OnceLock<Result<(), String>> = OnceLock::new();
    let interrupt = INTERRUPT.get_or_init(Interrupt::new).clone();
    let handle = interrupt.clone();
    let set = || ctrlc::set_handler(move || raise(&handle)).map_err(|error| error.to_string());
    let listens = LISTENS.get_or_init(set).clone();
    listens.map_err(|error| anyhow!(error)).context("cannot listen for ctrl-C")?;
    Ok(interrupt)
}

fn raise(interrupt: &Interrupt) {
    // A terminal throws away what is written while it handles the key.
    std::thread::sleep(Duration::from_millis(20));
    if interrupt.is_raised() || !IS_HEARD.load(Ordering::SeqCst) {
        live::clear();
        std::process::exit(INTERRUPTED.into());
    }
    interrupt.raise();
    if let Some(screen) = SCREEN.get() {
        screen.say("interrupted: computing the certificate (again to quit at once)");
    }
}
