//! `train … --cluster ENGINE`: training on a cluster, for which the Python package is called with all arguments.

use anyhow::{Context as _, Result, bail};
use std::ffi::{OsStr, OsString};
use std::process::{Command, ExitCode, Stdio};

/// The variable of the environment that names another interpreter.
const VARIABLE: &str = "MAXMARGIN_PYTHON";

/// A program that ends with status 0 if the package is there.
const IS_THERE: &str = "import importlib.util, sys; \
    sys.exit(importlib.util.find_spec('maxmargin') is None \
    or importlib.util.find_spec('maxmargin.distributed') is None)";

/// Whether arguments, the first of which is the name of the command, ask for a cluster.
pub(crate) fn is_asked_for(arguments: &[OsString]) -> bool {
    let is_option = |argument: &OsString| {
        let text = argument.to_string_lossy();
        text == "--cluster" || text.starts_with("--cluster=")
    };
    let ours = arguments.iter().take_while(|argument| *argument != "--");
    arguments.get(1).is_some_and(|verb| verb == "train") && ours.skip(2).any(is_option)
}

/// Lets the Python package do what the arguments ask for, and returns its exit code.
pub(crate) fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let default = if cfg!(windows) { "python" } else { "python3" };
    let python = std::env::var_os(VARIABLE).unwrap_or_else(|| default.into());
    check(&python)?;
    let mut command = Command::new(&python);
    let status = command.args(["-m", "maxmargin"]).args(&arguments[1..]).status();
    let status = status.with_context(|| format!("{} cannot be run", python.display()))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

fn check(python: &OsStr) -> Result<()> {
    let name = python.display();
    let asked = Command::new(python).args(["-c", IS_THERE]).stderr(Stdio::null()).status();
    match asked {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => bail!(
            "--cluster needs the Python package, which {name} does not find\n\
             hint: {name} -m pip install 'maxmargin[ray]', or name another interpreter in {VARIABLE}"
        ),
        Err(error) => bail!(
            "--cluster needs Python and its package maxmargin; {name} cannot be run: {error}\n\
             hint: name the interpreter in {VARIABLE}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_train_knows_clusters() {
        let asks = |line: &str| {
            is_asked_for(&line.split(' ').map(OsString::from).collect::<Vec<OsString>>())
        };
        assert!(asks("maxmargin train part-* --cluster ray"));
        assert!(asks("maxmargin train --cluster=dask://host:8786 a.txt"));
        for line in ["maxmargin", "maxmargin train a", "maxmargin path a --cluster ray"] {
            assert!(!asks(line), "{line}");
        }
        assert!(!asks("maxmargin train --clusters ray"));
        assert!(!asks("maxmargin train -- --cluster"));
    }
}
