//! The `maxmargin` command.

fn main() -> std::process::ExitCode {
    maxmargin_cli::main()
}
