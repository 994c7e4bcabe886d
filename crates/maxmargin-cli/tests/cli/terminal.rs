//! What a person sees on a terminal: a pseudo-terminal, whose bytes a terminal emulator turns into a screen.

use crate::common::Desk;
use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

/// The sizes of terminals that are tried, as rows and columns.
const SIZES: [(u16, u16); 2] = [(24, 80), (40, 120)];

/// No line may be wider.
const WIDTH: usize = 79;

/// More lines than any test prints.
const SCROLLBACK: usize = 2000;

/// A command on a terminal of its own.
struct Session {
    child: Child,
    from: File,
    terminal: vt100::Parser,
    bytes: Vec<u8>,
    /// All that has ever stood on the line of the cursor before the cursor went back to its beginning.
    lines: Vec<String>,
}

/// What is left when the command has ended.
struct Seen {
    code: Option<i32>,
    /// All lines, those that have scrolled away too.
    text: Vec<String>,
    live: Vec<String>,
    bytes: Vec<u8>,
    is_cursor_hidden: bool,
}

impl Session {
    /// Begins a command with its output, and perhaps its input, at a terminal.
    fn new(mut command: Command, (rows, columns): (u16, u16)) -> Self {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let end = || Stdio::from(pty.slave.try_clone().unwrap());
        let child = command.stdout(end()).stderr(end()).spawn().unwrap();
        // Reading ends when the last of these ends is closed, which should be that of the child.
        drop((command, pty.slave));
        let terminal = vt100::Parser::new(rows, columns, SCROLLBACK);
        let from = File::from(pty.master);
        Self { child, from, terminal, bytes: Vec::new(), lines: Vec::new() }
    }

    /// Reads until the command ends or `wanted` has been shown on a line; whether it has.
    fn read_until(&mut self, wanted: &str) -> bool {
        self.read_till(|own| own.lines.iter().any(|line| line.contains(wanted)))
    }

    /// Reads until the command ends or it is `enough`; whether it is.
    fn read_till(&mut self, enough: impl Fn(&Self) -> bool) -> bool {
        let mut buffer = [0; 4096];
        loop {
            // When the last end is closed, Linux answers with an error.
            let count = self.from.read(&mut buffer).unwrap_or(0);
            if count == 0 {
                return false;
            }
            for &byte in &buffer[..count] {
                self.see(byte);
            }
            if enough(self) {
                return true;
            }
        }
    }

    fn see(&mut self, byte: u8) {
        if byte == b'\r' || byte == b'\n' {
            let screen = self.terminal.screen();
            let (row, _) = screen.cursor_position();
            let columns = screen.size().1;
            assert!(!screen.row_wrapped(row), "{:?}", screen.contents());
            self.lines.push(screen.rows(0, columns).nth(usize::from(row)).unwrap());
        }
        self.bytes.push(byte);
        self.terminal.process(&[byte]);
    }

    fn end(mut self) -> Seen {
        self.read_till(|_| false);
        let code = self.child.wait().unwrap().code();
        let Self { mut terminal, bytes, lines, .. } = self;
        let (rows, columns) = terminal.screen().size();
        let is_cursor_hidden = terminal.screen().hide_cursor();
        terminal.screen_mut().set_scrollback(SCROLLBACK);
        let mut text: Vec<String> = Vec::new();
        // One line after the other, from the first that has scrolled away.
        for back in (1..=terminal.screen().scrollback()).rev() {
            terminal.screen_mut().set_scrollback(back);
            text.extend(terminal.screen().rows(0, columns).next());
        }
        terminal.screen_mut().set_scrollback(0);
        text.extend(terminal.screen().rows(0, columns).take(usize::from(rows)));
        text.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
        text.truncate(text.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1));
        let live = lines.into_iter().filter(|line| is_live(line)).collect();
        Seen { code, text, live, bytes, is_cursor_hidden }
    }
}

/// Whether a line begins as only live lines do.
fn is_live(line: &str) -> bool {
    line.starts_with(|c| ('\u{2800}'..='\u{28ff}').contains(&c))
}

impl Seen {
    /// What holds of every command on every terminal.
    fn check(&self, colour: bool) {
        self.check_ended(colour, 0);
    }

    /// The same for a command that ends with another status.
    fn check_ended(&self, colour: bool, code: i32) {
        assert_eq!(self.code, Some(code), "{:#?}", self.text);
        assert!(!self.is_cursor_hidden);
        for line in self.text.iter().chain(&self.live) {
            assert!(line.chars().count() <= WIDTH, "{line:?} in {:#?}", self.text);
        }
        for line in &self.text {
            assert!(!is_live(line) && !line.contains('░'), "{line:?} is left of a live line");
        }
        assert!(!self.live.is_empty(), "there was no live line");
        let codes = self.bytes.windows(2).filter(|two| two == b"\x1b[").count();
        let erasing = self.bytes.windows(3).filter(|three| three == b"\x1b[K").count();
        assert_eq!(codes > erasing, colour, "colour");
    }

    fn shows(&self, wanted: &str) {
        let shown = self.live.iter().any(|line| line.contains(wanted));
        assert!(shown, "{wanted:?} is never on a live line: {:#?}", self.live);
    }

    /// The rows of a table under a line with `head` in it: lines that begin with a number.
    fn rows(&self, head: &str) -> Vec<&str> {
        let after = self.text.iter().position(|line| line.contains(head)).unwrap() + 1;
        let is_row = |line: &&String| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        let rows = self.text[after..].iter().skip_while(|line| !is_row(line));
        rows.take_while(is_row).map(String::as_str).collect()
    }
}

fn command(desk: &Desk, arguments: &str, colour: bool) -> Command {
    let mut command = desk.command(arguments);
    command.env("TERM", "xterm-256color").env("NO_COLOR", if colour { "" } else { "1" });
    command
}

/// Runs a command on terminals of all sizes, with and without colour.
fn on_all_terminals(desk: &Desk, arguments: &str, look: impl Fn(&Seen)) {
    for size in SIZES {
        for colour in [true, false] {
            let seen = Session::new(command(desk, arguments, colour), size).end();
            seen.check(colour);
            look(&seen);
        }
    }
}

#[test]
fn a_training_has_a_whole_table_and_one_live_line() {
    let desk = Desk::new();
    let limits = "--solver bcfw --tolerance 0 --max-passes 40 --gap-every 1";
    let train = format!("train ocr-small {limits} --test ocr-small -o x.model --report r.html");
    on_all_terminals(&desk, &train, |seen| {
        let rows = seen.rows("oracle calls");
        assert!(rows.len() > 10, "{rows:#?}");
        for row in &rows {
            assert_eq!(row.split_whitespace().count(), 8, "{row}");
        }
        for wanted in
            ["reading ocr-small", "training", "pass 1, gap ", "left", "testing", "x.model"]
        {
            seen.shows(wanted);
        }
        assert_eq!(seen.text.last().unwrap(), "model written to x.model");
    });
}

#[test]
fn the_table_is_the_same_with_and_without_a_terminal() {
    let desk = Desk::new();
    let train = "train pets.crf --solver fw --tolerance 1e-3 --threads 1 -o x.model";
    let seen = Session::new(command(&desk, train, false), SIZES[0]).end();
    let run = desk.run(train).ok();
    let head = "oracle calls";
    let without: Vec<&str> = run.stderr.lines().collect();
    let untimed = |line: &str| line.split("  0.").next().unwrap_or_default().to_owned();
    for row in seen.rows(head) {
        assert!(without.iter().any(|line| untimed(line) == untimed(row)), "{row}: {without:#?}");
    }
    assert!(!run.stderr.contains('\r') && !run.stderr.contains('\x1b'), "{}", run.stderr);
}

#[test]
fn the_search_for_lambda_is_seen() {
    let desk = Desk::new();
    on_all_terminals(&desk, "train ocr-small --lambda auto -o x.model --max-passes 5", |seen| {
        seen.shows("choosing lambda");
    });
}

#[test]
fn paths_and_grids_are_seen() {
    let desk = Desk::new();
    on_all_terminals(&desk, "path ocr-small --epsilon 1 -o x.model", |seen| {
        seen.shows("path: 2 done, lambda ");
        let rows = seen.rows("lambda        gap");
        let (last, rows) = rows.split_last().unwrap();
        // How many rows are not shown stands below them.
        let is_row = |row: &&&str| !row.contains("more breakpoints lie between these");
        let rows: Vec<_> = rows.iter().filter(is_row).collect();
        assert!(rows.len() > 3 && rows.iter().all(|row| row.ends_with('–')), "{rows:#?}");
        assert!(last.contains("breakpoints: the duality gap is at most"), "{last}");
    });
    let grid = "path pets.crf --grid warm-dual --lambda-max 1 --lambda-min 0.1 -o y.model";
    let seen = Session::new(command(&desk, grid, true), SIZES[0]).end();
    seen.check(true);
    seen.shows("grid: 2 done, lambda ");
}

#[test]
fn comparisons_are_counted() {
    let desk = Desk::new();
    for size in SIZES {
        for colour in [true, false] {
            let out = format!("--out c{}{colour}", size.0);
            let methods = "--methods bcfw,fw --seeds 2 --budget 5";
            let compare = format!("compare pets.crf {methods} {out} -q");
            let seen = Session::new(command(&desk, &compare, colour), size).end();
            assert!(seen.live.is_empty() && seen.text.is_empty(), "it is to be quiet");
            std::fs::remove_dir_all(desk.path(&out[6..])).unwrap();
            // Its tables are wider.
            let compare = format!("compare pets.crf {methods} {out} --json");
            let seen = Session::new(command(&desk, &compare, colour), size).end();
            seen.check(colour);
            seen.shows("░ 0 of 4 runs: bcfw");
            seen.shows("3 of 4 runs: fw");
        }
    }
}

#[test]
fn predictions_and_checks_of_them_are_seen() {
    let desk = Desk::with_model("--tolerance 1e-3");
    on_all_terminals(&desk, "predict pets.model pets.crf -o labels.txt", |seen| {
        seen.shows("labelling pets.crf: ");
        assert!(seen.text.is_empty(), "{:#?}", seen.text);
    });
    on_all_terminals(&desk, "evaluate pets.model pets.crf", |seen| {
        seen.shows("measuring");
        assert!(seen.text[0].starts_with("labels "), "{:#?}", seen.text);
    });
    on_all_terminals(&desk, "verify pets.model pets.crf", |seen| {
        seen.shows("recomputing the certificate");
    });
    // Labels on the terminal are not mixed with anything.
    let seen = Session::new(command(&desk, "predict pets.model tags.hmm", true), SIZES[0]).end();
    assert!(seen.live.is_empty());
}

#[test]
fn errors_and_hints_stand_alone_and_in_colour() {
    let desk = Desk::new();
    desk.write("bad.crf", "DT\tw=the\nNN\n\nVB\n");
    for colour in [true, false] {
        let train = "train pets.crf --label-weight XX=2";
        let seen = Session::new(command(&desk, train, colour), SIZES[0]).end();
        assert_eq!(seen.code, Some(1));
        assert!(seen.text[0].starts_with("error: --label-weight"), "{:#?}", seen.text);
        assert!(seen.text[1].starts_with("hint: "), "{:#?}", seen.text);
        let red = String::from_utf8(seen.bytes).unwrap().contains("\x1b[1;31merror:\x1b[0m ");
        assert_eq!(red, colour);
    }
}

#[test]
fn a_terminal_that_knows_no_codes_gets_none() {
    let desk = Desk::new();
    let mut train = command(&desk, "train pets.crf -o x.model", true);
    train.env("TERM", "dumb");
    let seen = Session::new(train, SIZES[0]).end();
    assert!(seen.live.is_empty() && !seen.bytes.contains(&b'\x1b'));
    assert_eq!(seen.code, Some(0));
}

#[test]
fn a_narrow_terminal_cuts_the_live_line() {
    let desk = Desk::new();
    let train = command(&desk, "train pets.crf -o x.model -q --json", false);
    assert!(Session::new(train, (10, 30)).end().live.is_empty(), "it is to be quiet");
    let mut session = Session::new(command(&desk, "verify x.model pets.crf", false), (10, 30));
    // That a live line would be wrapped is noticed while it is read.
    session.read_until("recomputing");
    drop(session.end());
}

/// The terminal shows `^C`, and the command is told; only shells can make the terminal do both.
fn interrupt(session: &mut Session) {
    session.from.write_all(b"\x03").unwrap();
    // What is written while the terminal handles the key gets lost.
    session.read_till(|own| own.bytes.windows(2).any(|two| two == b"^C"));
    let pid = session.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
}

#[test]
fn ctrl_c_leaves_a_clean_screen_and_a_model() {
    let desk = Desk::new();
    let endless = "train ocr-small --solver bcfw --tolerance 0 --max-passes 100000000 -o x.model";
    let mut session = Session::new(command(&desk, endless, true), SIZES[0]);
    assert!(session.read_until("gap "), "there is no gap on the live line");
    interrupt(&mut session);
    let seen = session.end();
    seen.check_ended(true, 130);
    assert!(String::from_utf8_lossy(&seen.bytes).contains("^C"), "the terminal has shown it");
    assert!(seen.text.iter().all(|line| !line.contains("^C")), "{:#?}", seen.text);
    assert_eq!(seen.text.last().unwrap(), "model written to x.model");
    desk.run("verify x.model ocr-small").ok();
}

/// Before there is anything to certify, it ends the program at once.
#[test]
fn ctrl_c_while_data_are_read_leaves_nothing() {
    let desk = Desk::new();
    let mut command = command(&desk, "train - -o x.model", true);
    // Data that never come.
    command.stdin(Stdio::piped());
    let mut session = Session::new(command, SIZES[0]);
    assert!(session.read_until("reading -"), "there is no live line");
    interrupt(&mut session);
    let seen = session.end();
    assert_eq!((seen.code, seen.text), (Some(130), Vec::<String>::new()));
    assert!(!desk.path("x.model").exists());
}

#[test]
fn help_fits_on_a_terminal() {
    let desk = Desk::new();
    for arguments in ["--help", "train -h", "train --help chain", "help compare all"] {
        for size in SIZES {
            let seen = Session::new(command(&desk, arguments, true), size).end();
            assert_eq!(seen.code, Some(0), "{arguments}");
            for line in &seen.text {
                assert!(line.chars().count() <= WIDTH, "{arguments}: {line}");
            }
            assert!(seen.bytes.contains(&b'\x1b'), "headings are marked");
        }
    }
}
