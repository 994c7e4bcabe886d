//! `maxmargin man`

use super::figures::make_folder;
use super::train::write_file;
use crate::args::ManArgs;
use crate::help;
use crate::screen::Screen;
use anyhow::Result;
use clap_mangen::Man;
use std::process::ExitCode;

pub(super) fn run(args: &ManArgs) -> Result<ExitCode> {
    make_folder(&args.out)?;
    let mut command = help::command();
    // Gives each verb the name of its page.
    command.build();
    let verbs = command.get_subcommands().filter(|verb| verb.get_name() != "help");
    let pages: Vec<Man> = std::iter::once(&command).chain(verbs).cloned().map(Man::new).collect();
    for page in &pages {
        let mut text = Vec::new();
        page.render(&mut text)?;
        write_file(&args.out.join(page.get_filename()), &text)?;
    }
    let screen = Screen::new(false);
    screen.say(format!("{} pages are in {}", pages.len(), args.out.display()));
    Ok(ExitCode::SUCCESS)
}
