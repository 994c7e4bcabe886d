//! `maxmargin-lab reproduce`: the experiments of the papers, each a few races and the claims about them.

mod args;
mod bcfw;
mod claims;
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
use lab::Lab;
use maxmargin_cli::lab::{Screen, make_folder, print, print_json, write_figures, write_file};
use maxmargin_report::{Prose, Report, Table};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// An experiment of a paper.
struct Experiment {
    name: &'static str,
    paper: &'static str,
    what: &'static str,
    run: fn(&Lab<'_>) -> Result<Findings>,
}

const REPORT: &str = "Lacoste-Julien, Jaggi, Schmidt, Pletscher 2012";
const BCFW: &str = "Lacoste-Julien, Jaggi, Schmidt, Pletscher 2013";
const GAPS: &str = "Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien 2016";
const SOFT: &str = "Meshi, Srebro, Hazan 2015";

const EXPERIMENTS: [Experiment; 17] = [
    Experiment {
        name: "bcfw12-fig1",
        paper: REPORT,
        what: "fixed steps against line search, stochastic methods against batch ones",
        run: more::report_2012,
    },
    Experiment {
        name: "bcfw-fig1",
        paper: BCFW,
        what: "all methods on OCR at three λ, on chunking with test errors, and on matchings",
        run: bcfw::figure_1,
    },
    Experiment {
        name: "bcfw-table1",
        paper: BCFW,
        what: "oracle calls to ε, for every method",
        run: more::calls_to_gap,
    },
    Experiment {
        name: "gaps-fig1",
        paper: GAPS,
        what: "gap sampling with gaps refreshed every 1, 5, 10, 100 passes and never",
        run: gaps::figure_1,
    },
    Experiment {
        name: "gaps-fig2",
        paper: GAPS,
        what: "the cache at F and ν of all sizes",
        run: gaps::figure_2,
    },
    Experiment {
        name: "gaps-fig3",
        paper: GAPS,
        what: "the eight variants, in short: one λ for each data set",
        run: variants::figure_3,
    },
    Experiment {
        name: "gaps-fig4",
        paper: GAPS,
        what: "path against grid, on horses",
        run: paths::figure_4,
    },
    Experiment {
        name: "gaps-fig5",
        paper: GAPS,
        what: "the eight variants at three λ, on OCR, chunking and horses",
        run: variants::figure_5,
    },
    Experiment {
        name: "gaps-fig6",
        paper: GAPS,
        what: "the eight variants at three λ, on poses",
        run: variants::figure_6,
    },
    Experiment {
        name: "gaps-fig7",
        paper: GAPS,
        what: "paths at several κ, exact and heuristic",
        run: paths::figure_7,
    },
    Experiment {
        name: "gaps-fig8",
        paper: GAPS,
        what: "exact and heuristic path against grids, with two solvers",
        run: paths::figure_8,
    },
    Experiment {
        name: "gaps-rate",
        paper: GAPS,
        what: "the linear rate of pairwise steps at large λ",
        run: more::linear_rate,
    },
    Experiment {
        name: "gaps-directions",
        paper: GAPS,
        what: "pairwise steps against away steps and the best direction",
        run: more::directions,
    },
    Experiment {
        name: "gaps-memory",
        paper: GAPS,
        what: "the memory of active sets and caches",
        run: more::memory,
    },
    Experiment {
        name: "soft-fig1",
        paper: SOFT,
        what: "soft constraints at several ρ: objectives against epochs",
        run: soft::figure_1,
    },
    Experiment {
        name: "soft-fig2",
        paper: SOFT,
        what: "soft constraints against training over linear programs, and DLPW",
        run: soft::figure_2,
    },
    Experiment {
        name: "soft-fig3",
        paper: SOFT,
        what: "how far soft weights are from the optimum, against the number of examples",
        run: soft::figure_3,
    },
];

pub(crate) fn run(args: &ReproduceArgs) -> Result<ExitCode> {
    let Some(name) = &args.name else {
        list(args)?;
        return Ok(ExitCode::SUCCESS);
    };
    let Some(experiment) = EXPERIMENTS.iter().find(|experiment| experiment.name == name) else {
        let known = EXPERIMENTS.map(|experiment| experiment.name).join(", ");
        bail!("{name}: no such experiment\nhint: there are {known}");
    };
    if let Some(data) = args.data.as_deref().filter(|data| !data.is_dir()) {
        bail!("--data {}: there is no such folder", data.display());
    }
    let screen = Screen::new(args.talk.quiet);
    let folder = args.out.clone().unwrap_or_else(|| PathBuf::from("reproduce").join(name));
    make_folder(&folder)?;
    let lab = Lab::new(args.quick, args.data.as_deref(), &args.only, &folder, &screen);
    let findings = (experiment.run)(&lab)?;
    let notes = lab.into_notes();
    let table = table(experiment, args.quick, &findings, &notes);
    write_file(&folder.join("table.md"), table.as_bytes())?;
    let page = page(experiment, &findings, &notes);
    write_file(&folder.join("report.html"), page.to_html().as_bytes())?;
    write_figures(&folder.join("figures"), &findings.figures)?;
    match args.talk {
        talk if talk.json => print_json(&json!({
            "experiment": name, "paper": experiment.paper, "quick": args.quick,
            "claims": findings.claims, "notes": notes,
        }))?,
        talk if talk.quiet => {}
        _ => print(&table)?,
    }
    let folder = folder.display();
    screen.say(format!("In {folder}: report.html to look at, table.md, figures, and traces."));
    Ok(ExitCode::SUCCESS)
}

fn list(args: &ReproduceArgs) -> Result<()> {
    if args.talk.json {
        let one = |e: &Experiment| json!({"name": e.name, "paper": e.paper, "what": e.what});
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
        let _ = writeln!(text, "  {:<15} {}", experiment.name, experiment.what);
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
    text.push_str("\n| The paper says | On | Measured here | Holds here |\n|---|---|---|---|\n");
    for claim in &findings.claims {
        let _ = writeln!(
            text,
            "| {} ({}) | {} | {} | {} |",
            claim.claim, claim.source, claim.on, claim.measured, claim.verdict
        );
    }
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
