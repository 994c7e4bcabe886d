//! The `maxmargin` command.

fn main() -> std::process::ExitCode {
    maxmargin_command::main()
}
