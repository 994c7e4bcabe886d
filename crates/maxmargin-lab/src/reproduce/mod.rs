//! `maxmargin-lab reproduce`: the experiments of the papers, each a few races and the claims about them.

mod args;
mod bcfw;
mod boxes;
mod claims;
mod claims_file;
mod experiments;
mod gaps;
mod kept;
mod lab;
mod more;
mod paths;
mod soft;
mod variants;

pub(crate) use args::ReproduceArgs;

use anyhow::{Result, bail};
use claims::Findings;
use experiments::{EXPERIMENTS, Experiment};
use lab::{Lab, Place};
use maxmargin_command::lab::{
    Screen, make_folder, on_ctrl_c, print, print_json, write_figures, write_file,
};
use maxmargin_io::thread_count;
use maxmargin_report::{Prose, Report, Table};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) fn run(args: &ReproduceArgs) -> Result<ExitCode> {
    if args.names.is_empty() {
        list(args)?;
        return Ok(ExitCode::SUCCESS);
    }
    let experiments = experiments::named(&args.names)?;
    if let Some(data) = args.data.as_deref().filter(|data| !data.is_dir()) {
        bail!("--data {}: there is no such folder", data.display());
    }
    let screen = Screen::new(args.talk.quiet);
    let desk = Desk { args, screen: &screen, experiments: &experiments };
    let results = desk.run_all()?;
    match (args.talk, &results[..]) {
        (talk, [(_, value, _)]) if talk.json => print_json(value)?,
        (talk, _) if talk.json => {
            let all: Vec<&Value> = results.iter().map(|(_, value, _)| value).collect();
            print_json(&json!({ "experiments": all }))?;
        }
        (talk, _) if talk.quiet => {}
        (_, [(_, _, table)]) => print(table)?,
        _ => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Where some experiments are made.
struct Desk<'a> {
    args: &'a ReproduceArgs,
    screen: &'a Screen,
    experiments: &'a [&'static Experiment],
}

/// The number of an experiment, what it has found for programs, and the same for people.
type Told = (usize, Value, String);

impl Desk<'_> {
    /// Makes all of them, some side by side if that is asked for. One that fails does not hold up the others.
    fn run_all(&self) -> Result<Vec<Told>> {
        let (next, told, failed) =
            (AtomicUsize::new(0), Mutex::new(Vec::new()), Mutex::new(Vec::new()));
        let interrupt = on_ctrl_c(self.screen)?;
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(experiment) = self.experiments.get(at) else { return };
                if interrupt.is_raised() {
                    return;
                }
                let made = self.run_one(experiment);
                match made.and_then(|made| self.gather().map(|()| made)) {
                    Ok((value, table)) => lock(&told).push((at, value, table)),
                    Err(error) => lock(&failed).push((at, error)),
                }
            }
        };
        let jobs = thread_count(self.args.jobs).min(self.experiments.len());
        if jobs <= 1 {
            work();
        } else {
            std::thread::scope(|scope| (0..jobs).for_each(|_| drop(scope.spawn(work))));
        }
        let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.sort_by_key(|(at, _)| *at);
        let all = self.experiments.len();
        for (at, error) in failed.iter().filter(|_| all > 1) {
            self.screen.say(format!("{}: {error:#}", self.experiments[*at].name));
        }
        if interrupt.is_raised() && failed.is_empty() {
            bail!("interrupted; the same command goes on with the others");
        }
        let count = failed.len();
        match failed.into_iter().next() {
            Some((_, error)) if all == 1 || interrupt.is_raised() => return Err(error),
            Some(_) => bail!("{count} of {all} experiments have failed"),
            None => {}
        }
        let mut told = told.into_inner().unwrap_or_else(PoisonError::into_inner);
        told.sort_by_key(|(at, ..)| *at);
        Ok(told)
    }

    /// The folder of all experiments, unless a single one has its own.
    fn root(&self) -> Option<PathBuf> {
        let is_alone = self.experiments.len() == 1;
        match &self.args.out {
            Some(_) if is_alone => None,
            out => Some(out.clone().unwrap_or_else(|| PathBuf::from("reproduce"))),
        }
    }

    fn folder(&self, experiment: &Experiment) -> PathBuf {
        let own = || self.args.out.clone().unwrap_or_default();
        self.root().map_or_else(own, |root| root.join(experiment.name))
    }

    /// Makes an experiment, and writes what it has found.
    fn run_one(&self, experiment: &Experiment) -> Result<(Value, String)> {
        let (args, screen, folder) = (self.args, self.screen, self.folder(experiment));
        make_folder(&folder)?;
        if self.experiments.len() > 1 {
            screen.say(format!("\n{}: {}", experiment.name, experiment.what));
        }
        // An experiment may need runs that another one has made.
        let others: Vec<PathBuf> = match self.root() {
            Some(root) => EXPERIMENTS.iter().map(|other| root.join(other.name)).collect(),
            None => Vec::new(),
        };
        let place = Place { folder: &folder, others: &others, data: args.data.as_deref() };
        let lab = Lab::new(args.quick, args.finished, place, &args.only, screen);
        let findings = (experiment.run)(&lab)?;
        let notes = lab.into_notes();
        let table = table(experiment, args.quick, &findings, &notes);
        write_file(&folder.join("table.md"), table.as_bytes())?;
        let section = claims_file::section(experiment, args.quick, &findings, &notes);
        write_file(&folder.join(claims_file::NAME), section.as_bytes())?;
        let page = page(experiment, &findings, &notes);
        write_file(&folder.join("report.html"), page.to_html().as_bytes())?;
        write_figures(&folder.join("figures"), &findings.figures)?;
        let value = json!({
            "experiment": experiment.name, "paper": experiment.paper, "quick": args.quick,
            "claims": findings.claims, "notes": notes,
        });
        let folder = folder.display();
        screen.say(format!("In {folder}: report.html to look at, table.md, figures, and traces."));
        Ok((value, table))
    }

    /// Brings the claims of all experiments together, as far as they have been made.
    fn gather(&self) -> Result<()> {
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _guard = lock(&ONE_AT_A_TIME);
        let Some(file) = &self.args.claims else { return Ok(()) };
        let sections = EXPERIMENTS.iter().filter_map(|experiment| {
            let own = match self.root() {
                Some(root) => root.join(experiment.name),
                None if self.experiments[0].name == experiment.name => self.folder(experiment),
                None => return None,
            };
            Some((experiment.name, std::fs::read_to_string(own.join(claims_file::NAME)).ok()?))
        });
        let sections: Vec<(&str, String)> = sections.collect();
        let before = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                claims_file::HEAD.to_owned()
            }
            Err(error) => bail!("{}: {error}", file.display()),
        };
        write_file(file, claims_file::with_sections(&before, &sections).as_bytes())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn list(args: &ReproduceArgs) -> Result<()> {
    if args.talk.json {
        let one = |e: &Experiment| json!({"name": e.name, "paper": e.paper, "what": e.what, "hours": e.hours});
        return print_json(
            &json!({"experiments": EXPERIMENTS.iter().map(one).collect::<Vec<_>>()}),
        );
    }
    let mut text = String::new();
    let mut paper = "";
    for experiment in &EXPERIMENTS {
        if experiment.paper != paper {
            paper = experiment.paper;
            let _ = writeln!(text, "{paper}");
        }
        let Experiment { name, what, hours, .. } = experiment;
        let _ = writeln!(text, "  {name:<15} {hours:>4} h  {what}");
    }
    print(&text)
}

/// The claims of the paper beside what was measured, and then all figures.
fn table(experiment: &Experiment, quick: bool, findings: &Findings, notes: &[String]) -> String {
    let mut text = format!("# {}: {}\n\n{}", experiment.name, experiment.what, experiment.paper);
    let speed = if quick { " --quick" } else { "" };
    let _ = writeln!(text, ". `maxmargin-lab reproduce {}{speed}`\n", experiment.name);
    for note in notes {
        let _ = writeln!(text, "- {note}");
    }
    text += &claims_file::rows(findings);
    text.push_str(&findings.details);
    text
}

fn page(experiment: &Experiment, findings: &Findings, notes: &[String]) -> Report {
    let mut told = Prose::new("What was run");
    for note in notes {
        told = told.paragraph(note);
    }
    let mut claims = Table::new("Claims")
        .note("What the paper says, beside what was measured here.")
        .text_column("The paper says")
        .text_column("On")
        .text_column("Holds here")
        .text_column("Measured here");
    for claim in &findings.claims {
        let said = format!("{} ({})", claim.claim, claim.source);
        // What is long comes last: on a phone it is there to be scrolled to.
        let cells = [said, claim.on.clone(), claim.verdict.to_string(), claim.measured.clone()];
        claims = claims.row(cells);
    }
    let mut report = Report::new(format!("{}: {}", experiment.name, experiment.what))
        .subtitle(experiment.paper)
        .footer(format!("maxmargin {}", env!("CARGO_PKG_VERSION")))
        .with(told)
        .with(claims);
    findings.sections.iter().cloned().for_each(|section| report.push(section));
    report
}
