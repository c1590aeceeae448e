//! `graphitid`: the daemon.

use std::process::ExitCode;

fn main() -> ExitCode {
    graphitid::cli::main()
}
