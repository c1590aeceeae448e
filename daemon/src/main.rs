//! `graphitid`: the daemon.

use std::process::ExitCode;

fn main() -> ExitCode {
    let logging =
        graphitid::logging::Logging { level: "debug".to_owned(), file: None, max_bytes: 10 << 20 };
    drop(graphitid::logging::start(&logging));
    let home = graphiti_proto::endpoint::home().expect("home");
    match graphitid::app::run(&graphitid::app::Options { home }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("graphitid: {error:#}");
            ExitCode::FAILURE
        }
    }
}
