//! The command line: commands, options and their help texts.

mod daemon;
mod exclusions;
mod history;
mod models;
mod search;
mod sessions;
mod share;
mod transfer;

use std::{ffi::OsString, iter};

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    error::{ContextKind, ContextValue, ErrorKind},
};

pub(crate) use self::{
    daemon::{
        Completions, Doctor, Mcp, Repair, ServiceAction, Setup, SetupEmbeddings, SetupWhat, Stop,
    },
    history::{Blame, Fix, Log, StatsBy, StatsOptions},
    models::{Prompts, PromptsCommand, Tools, ToolsCommand, UsageOptions},
    search::{FILTERS, Facts, Remember, SearchOptions},
    sessions::{Close, Handoff, List, Resume, Show, Status, Sync, Unindexed, ViewOptions},
    share::{Share, ShareCommand, ShareProject},
    transfer::{ExportFormat, ExportOptions, Forget, Import, Redact},
};

/// Search and manage the memory of your coding agents
///
/// The daemon `graphitid` follows the transcripts that agents write, and turns each finished
/// session into a searchable summary. This program sends requests to the daemon.
#[derive(Debug, Parser)]
#[command(name = "graphiti", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = ENVIRONMENT)]
pub(crate) struct Cli {
    /// The command to run [default: status]
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

impl Cli {
    /// Parses the arguments without the name of the program.
    pub(crate) fn parse_arguments(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
        let arguments = exclusions::moved_behind_options(arguments);
        Cli::try_parse_from(iter::once(OsString::from("graphiti")).chain(arguments))
    }
}

/// Returns the command that does what an unknown command of another name may be meant to do.
pub(crate) fn hint(error: &clap::Error) -> Option<&'static str> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    match error.get(ContextKind::InvalidSubcommand)? {
        ContextValue::String(name) => match name.as_str() {
            "config" => Some("The program graphitid has this command: graphitid config --help"),
            "hooks" | "install" => Some("The hooks of agents are set up with: graphiti setup"),
            _ => None,
        },
        _ => None,
    }
}

const ENVIRONMENT: &str = "Environment:
  GRAPHITI_HOME     Folder of the database, the settings and the logs [default: ~/.graphiti]
  GRAPHITI_TIMEOUT  Seconds to wait for an answer before the daemon is reported as hanging [default: 10]
  NO_COLOR          Disable colours";

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// On terminals, in files and in pipes
    Always,
    /// Never, not even on a terminal
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what the daemon is doing and how much it has stored
    Status(Status),
    /// List sessions, latest first
    ///
    /// MSGS counts the prompts of the user and the replies of the model. `graphiti show --messages`
    /// also numbers each call of a tool and its result. A session whose folder is not known has the
    /// project `-`.
    List(List),
    /// Show one session: its summary, or its messages
    Show(Show),
    /// Resume a session: start its agent in its directory
    ///
    /// If several sessions match, you choose one on a terminal. If the transcript of the session is
    /// gone, the agent can be started with the handoff of its project as the first prompt.
    Resume(Resume),
    /// Search messages and summaries
    #[command(after_help = FILTERS)]
    Search(SearchOptions),
    /// Search facts: decisions, fixed errors, settings, failing tests, open tasks
    ///
    /// A fact is `verified` if the transcript proves it: by a test or command that succeeded, a
    /// file that was written, or the words of the user. A `hypothesis` is only a statement of the
    /// agent. A `refuted` fact was proven wrong, or marked with --wrong.
    Facts(Facts),
    /// Remember what you want agents to do from now on
    ///
    /// Agents get the text at the start of each session of the project, until you withdraw it with
    /// `graphiti forget --fact`.
    Remember(Remember),
    /// Show which sessions changed a file, and why
    ///
    /// With a line, shows only sessions whose edits contain the text of the line. Latest first.
    Blame(Blame),
    /// Show how an error was solved before
    ///
    /// Paths, numbers and ids in the error do not matter. Without ERROR, reads standard input:
    /// `make 2>&1 | graphiti fix`.
    Fix(Fix),
    /// Show what happened, day by day
    Log(Log),
    /// Show the work of agents in numbers: sessions, time, files, tests, errors and cost
    ///
    /// Time is counted without pauses of more than five minutes. Time, tests, errors and cost of
    /// imported sessions are not known. Days are in UTC. The cost is computed from the tokens in
    /// the transcripts and the published prices of the models.
    Stats(StatsOptions),
    /// Show what the next session in a project needs to know from the last sessions
    Handoff(Handoff),
    /// Close a session and summarize it now
    Close(Close),
    /// Open a page in the browser that shows the whole memory
    ///
    /// The daemon serves the page to this machine only. It stops serving the page after a quarter
    /// of an hour without use, but keeps running itself. The address works once, and only for the
    /// browser that opens it first.
    View(ViewOptions),
    /// List sessions that have no summary yet
    Unindexed(Unindexed),
    /// Show the calls, tokens and cost of model requests, and which requests were avoided
    Usage(UsageOptions),
    /// Show and correct how tools are classified
    Tools(Tools),
    /// Show and check the prompts that are sent to models
    Prompts(Prompts),
    /// Forward an agent's hook event to the daemon
    ///
    /// Agents run this command from their hooks. It reads the event as JSON from standard input and
    /// always exits with 0. If the setting hooks.async_indexing is false, the hooks of a session's
    /// end and of a compaction wait for the summary.
    Hook {
        /// The agent, which determines the form of the event and of the answer [default: claude]
        agent: Option<OsString>,
    },
    /// Index earlier sessions that have no summary yet
    ///
    /// Without --run, only shows what would be done. The command can be interrupted and run again:
    /// no session is indexed twice.
    Sync(Sync),
    /// Export all summaries to files
    ///
    /// `graphiti import` reads these files on another machine. With --html, the folder gets pages
    /// for a browser: start at index.html.
    ///
    /// Give each project or each backup a folder of its own: after the new files are written, the
    /// files `episodes/*.md` of earlier exports are removed if this export does not contain their
    /// episodes. Otherwise an import would restore sessions that were forgotten. This applies to
    /// both formats.
    Export(ExportOptions),
    /// Import the files that `export` wrote on another machine
    ///
    /// A session with a transcript on this machine is not changed. An imported session is replaced
    /// only by a newer version, so the import can be repeated. If a file of an export is damaged or
    /// an episode is invalid, nothing is imported; with --follow, such a file is skipped instead.
    Import(Import),
    /// Share the memory of projects with your team, or with other machines of yours
    ///
    /// Summaries, entities and facts of the projects that you choose are sent to a graph on FalkorDB
    /// or Neo4j. Graphiti (github.com/getzep/graphiti) can read this graph. Other projects are not
    /// shared.
    Share(Share),
    /// Remove sessions from the memory
    ///
    /// Without --run, only shows what would be removed. A forgotten session is not imported again,
    /// even if its transcript grows, until you run --undo. Its transcript file is kept. Texts of
    /// `remember`, imported sessions and sessions without a transcript cannot be restored.
    /// --project does not select texts that you remembered with --everywhere. Without arguments,
    /// lists the forgotten sessions.
    Forget(Forget),
    /// Run a Model Context Protocol server on standard input and output
    Mcp(Mcp),
    /// Add graphiti's hooks and tools to the settings of your agents
    Setup(Setup),
    /// Manage the daemon as a service that starts at login and restarts after a failure
    #[command(subcommand)]
    Service(ServiceAction),
    /// Start the daemon in the background
    #[command(alias = "start")]
    Up,
    /// Recover the readable records of a damaged database
    ///
    /// Checks the database and rebuilds it if any record cannot be read. Then recovers missing
    /// records from databases that the daemon set aside as damaged. Stops the daemon and starts it
    /// again afterwards.
    Repair(Repair),
    /// Apply the current redaction rules to stored or exported text
    ///
    /// Without --run, only shows what would change. Covers the database and the logs. The database
    /// and the search index are rebuilt, so that replaced text is also removed from disk. The
    /// command can be interrupted and run again. The daemon is stopped while the database is read,
    /// also without --run, and is started again afterwards. With files as arguments, redacts these
    /// files instead.
    Redact(Redact),
    /// Check the installation and show how to fix problems
    ///
    /// Exits with 1 if something does not work. Warnings do not change the exit code.
    Doctor(Doctor),
    /// Write the Claude Code plugin to graphiti's home and print its folder
    ///
    /// The plugin replaces `graphiti setup` for Claude Code. It adds the commands /graphiti:recall
    /// and /graphiti:handoff and instructs the agent when to search. Use either the plugin or
    /// `setup`, not both.
    ClaudePluginPath,
    /// Reload the daemon's configuration
    Reload,
    /// Stop the running daemon
    Stop(Stop),
    /// Print a shell completion script
    Completions(Completions),
    /// Print the manual page
    Man,
}

/// Parses a number of results.
fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(error) => Err(format!("must be a whole number ({error})")),
    }
}

/// Selects a project.
#[derive(Debug, Default, Args)]
pub(crate) struct Project {
    /// Only this project: a directory in it (`.` for this one), its remote (also `owner/name`), its
    /// name, or its namespace (`project_namespace` in `graphiti list --json`). Begin the path of a
    /// removed directory with `./` or `/`, so that it is not taken for a remote
    #[arg(long, short, value_name = "DIR")]
    pub(crate) project: Option<String>,
}

/// The output format.
#[derive(Debug, Default, Args)]
pub(crate) struct Output {
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_is_another_name_of_up() {
        let cli = Cli::try_parse_from(["graphiti", "start"]).unwrap();
        assert!(matches!(cli.command, Some(Command::Up)));
    }

    #[test]
    fn commands_of_other_programs_are_explained() {
        let hint = |name: &str| hint(&Cli::try_parse_from(["graphiti", name]).unwrap_err());
        assert!(hint("config").unwrap().contains("graphitid config"));
        assert!(hint("hooks").unwrap().contains("graphiti setup"));
        assert_eq!(hint("serach"), None);
        let option = Cli::try_parse_from(["graphiti", "list", "--config"]).unwrap_err();
        assert_eq!(super::hint(&option), None);
    }

    #[test]
    fn a_limit_of_zero_is_rejected_where_it_would_hide_all_results() {
        for command in
            [&["search", "x"][..], &["facts"], &["fix", "x"], &["log"], &["blame", "x"], &["show"]]
        {
            let limit =
                |number| Cli::try_parse_from([&["graphiti"], command, &["-n", number]].concat());
            let error = limit("0").unwrap_err().to_string();
            assert!(error.contains("must be at least 1"), "{command:?}: {error}");
            assert!(limit("1").is_ok(), "{command:?}");
        }
        assert!(Cli::try_parse_from(["graphiti", "list", "-n", "0"]).is_ok());
    }
}
