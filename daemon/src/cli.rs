//! The daemon's command line: runs the daemon, or maintains its configuration and its data.

use std::{
    env,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::{Parser, Subcommand};
use graphiti_proto::endpoint;

use crate::{
    app::{self, DaemonOptions, redact::RunMode},
    config::{self, Existing},
    lifecycle::home::HomeError,
};

/// Follow your coding agents' transcripts and make their sessions searchable
///
/// Without a command, the daemon runs until it is stopped. `graphiti` is its client.
#[derive(Debug, Parser)]
#[command(name = "graphitid", version, max_term_width = 100)]
struct Cli {
    /// The command to execute instead of running the daemon
    #[command(subcommand)]
    command: Option<Command>,

    /// The folder for all data of the daemon [default: $GRAPHITI_HOME, else ~/.graphiti]
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write, check or describe the configuration
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Recover the readable records of a damaged database
    ///
    /// Checks the current database, and replaces it by a new one if any record cannot be read. Then
    /// recovers missing records from the damaged databases. The daemon must not be running:
    /// `graphiti repair` stops it and starts it again.
    Repair {
        /// Recover the records of this database, such as the database of another home
        database: Option<PathBuf>,
    },
    /// Apply the current redaction rules to stored or exported text
    ///
    /// Without files, redacts the database, the logs and the waiting events of the home. The daemon
    /// must not be running then: `graphiti redact --again` stops it and starts it again. Without
    /// --run, only shows what would change.
    Redact {
        /// Files and folders of `graphiti export` to redact instead of the home
        exports: Vec<PathBuf>,
        /// Make the changes
        #[arg(long)]
        run: bool,
        /// Print the changes as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Write a configuration file with all defaults and an explanation of each key
    Init {
        /// Replace an existing file, and keep it as graphiti.config.json.old
        #[arg(long)]
        force: bool,
    },
    /// Explain the problems of the configuration, and show all values
    Check {
        /// The file to check [default: graphiti.config.json in this folder, else in the home]
        file: Option<PathBuf>,
    },
    /// Print the JSON schema of the configuration
    Schema,
    /// Show what the daemon would read from a transcript, without storing it
    Try {
        file: PathBuf,
        /// The agent whose format is used [default: a format that claims the file's path]
        #[arg(long, value_name = "NAME")]
        format: Option<String>,
    },
}

/// Runs the command line of the process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(code) => code,
        Err(error) => {
            print_error(&error);
            match error.downcast_ref() {
                Some(HomeError::Taken { .. }) => endpoint::EXIT_HOME_IN_USE.into(),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let home =
        cli.home.or_else(endpoint::home).context("find your home folder; set GRAPHITI_HOME")?;
    let home = std::path::absolute(&home).with_context(|| format!("find {}", home.display()))?;
    let directory = env::current_dir().unwrap_or_else(|_| home.clone());
    let options = DaemonOptions { home, directory };
    match cli.command {
        None => app::run(&options).map(|()| ExitCode::SUCCESS),
        Some(Command::Config(command)) => configure(&command, &options),
        Some(Command::Repair { database }) => {
            app::repair::repair(&options, database.as_deref(), &mut |message| print(message))?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Redact { exports, run, json }) => {
            let mode = if run { RunMode::Run } else { RunMode::Preview };
            redact(&options, &exports, mode, json)
        }
    }
}

fn redact(
    options: &DaemonOptions,
    exports: &[PathBuf],
    mode: RunMode,
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    let shows_progress = io::stderr().is_terminal() && !is_json;
    let mut shown = None;
    let mut show_progress = |done: u64, total: u64| {
        let percent = done * 100 / total.max(1);
        if shows_progress && shown != Some(percent) {
            shown = Some(percent);
            let end = if percent == 100 { "\n" } else { "" };
            // Progress is not essential, so errors are ignored.
            let _ = write!(io::stderr(), "\rRedacting stored text: {percent} %{end}");
        }
    };
    let redacted = match exports {
        [] => app::redact::home(options, mode, &mut show_progress)?,
        exports => app::redact::exports(exports, mode)?,
    };
    if is_json {
        print(&serde_json::to_string_pretty(&redacted).context("print what changes")?);
    } else {
        redacted.lines().iter().for_each(|line| print(line));
    }
    Ok(ExitCode::SUCCESS)
}

fn configure(command: &ConfigCommand, options: &DaemonOptions) -> anyhow::Result<ExitCode> {
    match command {
        ConfigCommand::Init { force } => {
            let existing = if *force { Existing::Replace } else { Existing::Keep };
            let file = config::write_default(&options.home, existing)?;
            print(&format!("{} contains all settings with their defaults.", file.display()));
            Ok(ExitCode::SUCCESS)
        }
        ConfigCommand::Check { file } => {
            let report = config::check(&app::search(options), file.as_deref().map(Path::new));
            print(report.text.trim_end());
            Ok(if report.is_valid { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        ConfigCommand::Try { file, format } => {
            let report = app::trial::try_file(options, file, format.as_deref())?;
            print(report.text.trim_end());
            Ok(if report.is_read { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        ConfigCommand::Schema => {
            print(&serde_json::to_string_pretty(&config::schema()).context("print the schema")?);
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn print(text: &str) {
    // The write fails if the reader has closed the output.
    let _ = writeln!(io::stdout().lock(), "{text}");
}

fn print_error(error: &anyhow::Error) {
    // The write fails if the reader has closed the output.
    let _ = writeln!(io::stderr().lock(), "graphitid: {error:#}");
}
