//! The one live line of the terminal.
//!
//! It belongs to the process, not to a [`Screen`](super::Screen), because whoever prints must know of it: it is
//! cleared away before any text and drawn again below it, in one write, so that no line is ever torn. A thread draws
//! it ten times a second. The cursor is never hidden, so that nothing has to be put right if the process is killed.

use super::activity::Activity;
use super::ctrl_c;
use super::words::{COLUMNS, harmless, painted};
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Between two pictures of the line.
const TICK: Duration = Duration::from_millis(100);

/// Goes to the beginning of the line and clears it.
const ERASE: &str = "\r\x1b[K";

#[derive(Default)]
struct Line {
    activity: Option<Activity>,
    is_shown: bool,
    frame: usize,
    drawn: Option<Instant>,
    has_ticker: bool,
}

static LINE: Mutex<Line> =
    Mutex::new(Line { activity: None, is_shown: false, frame: 0, drawn: None, has_ticker: false });

/// Tells the ticker that there is something to draw.
static BEGUN: Condvar = Condvar::new();

fn line() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether standard error is a terminal on which lines can be drawn.
pub(super) fn is_watched() -> bool {
    static WATCHED: OnceLock<bool> = OnceLock::new();
    *WATCHED.get_or_init(|| io::stderr().is_terminal() && understands_codes())
}

/// Whether the terminal knows the codes of the VT100. On Windows only newer ones do by themselves.
fn understands_codes() -> bool {
    let term = std::env::var_os("TERM");
    match cfg!(windows) {
        true => term.is_some() || std::env::var_os("WT_SESSION").is_some(),
        false => term.is_some_and(|term| !term.is_empty() && term != "dumb"),
    }
}

/// Whether there is to be colour: not if <https://no-color.org> says no.
fn is_coloured() -> bool {
    is_watched() && std::env::var_os("NO_COLOR").is_none_or(|no| no.is_empty())
}

/// Begins to show an activity, in place of the last.
pub(super) fn show(activity: Activity) {
    ctrl_c::leave_a_clean_line();
    let mut line = line();
    line.activity = Some(activity);
    line.draw("");
    if !line.has_ticker {
        line.has_ticker = std::thread::Builder::new().spawn(tick).is_ok();
    }
    drop(line);
    BEGUN.notify_all();
}

/// Changes the activity, which is drawn `at_once` or soon.
pub(super) fn change(at_once: bool, change: impl FnOnce(&mut Activity)) {
    let mut line = line();
    if let Some(activity) = &mut line.activity {
        change(activity);
        if at_once || line.drawn.is_none_or(|drawn| drawn.elapsed() >= TICK) {
            line.draw("");
        }
    }
}

/// Ends the activity and leaves nothing of it behind.
pub(crate) fn clear() {
    let mut line = line();
    line.activity = None;
    line.draw("");
}

/// Writes text to standard error, above the live line. The text ends a line.
pub(super) fn say(text: &str) -> io::Result<()> {
    let text = painted(&harmless(text), is_coloured()).into_owned();
    line().write(&text)
}

/// Has `print` write to standard output, above the live line if that is on the same terminal.
pub(crate) fn print_above<T>(print: impl FnOnce() -> T) -> T {
    let mut line = line();
    if !line.is_shown || !io::stdout().is_terminal() {
        drop(line);
        return print();
    }
    let activity = line.activity.take();
    line.draw("");
    let result = print();
    line.activity = activity;
    line.draw("");
    result
}

/// Draws the line again and again while there is an activity.
fn tick() {
    let mut line = line();
    loop {
        line = BEGUN
            .wait_while(line, |line| line.activity.is_none())
            .unwrap_or_else(PoisonError::into_inner);
        line.frame += 1;
        line.draw("");
        drop(line);
        std::thread::sleep(TICK);
        line = self::line();
    }
}

impl Line {
    /// Nobody is there to be told that standard error is closed.
    fn draw(&mut self, above: &str) {
        let _ = self.write(above);
    }

    /// Writes `above` in place of the line, and the line as it is now below it, all at once.
    fn write(&mut self, above: &str) -> io::Result<()> {
        let mut text = String::new();
        if self.is_shown && (self.activity.is_none() || !above.is_empty()) {
            text.push_str(ERASE);
        }
        text.push_str(above);
        self.is_shown = self.activity.is_some();
        if let Some(activity) = &self.activity {
            let now = Instant::now();
            let line = activity.line(now, self.frame, columns(), is_coloured());
            // The cursor waits at the beginning, where a `^C` of the terminal is drawn over.
            text.push_str(&format!("\r{line}\x1b[K\r"));
            self.drawn = Some(now);
        }
        io::stderr().write_all(text.as_bytes())
    }
}

/// The columns that may be drawn on.
fn columns() -> usize {
    let size = terminal_size::terminal_size_of(io::stderr());
    let all = size.map_or(COLUMNS + 1, |(width, _)| usize::from(width.0));
    all.saturating_sub(1).clamp(1, COLUMNS)
}
