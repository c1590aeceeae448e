//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Search and manage the memory of your coding agents
///
/// The daemon `graphitid` follows the transcripts that agents write, and turns each finished
/// session into a summary that can be searched. This program asks it.
#[derive(Debug, Parser)]
#[command(name = "graphiti", version, max_term_width = 100, propagate_version = true)]
#[command(after_help = ENVIRONMENT)]
pub(crate) struct Cli {
    /// What to do; the status when missing
    #[command(subcommand)]
    pub(crate) command: Option<Command>,

    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub(crate) color: Color,
}

/// What can be set from outside.
const ENVIRONMENT: &str = "Environment:
  GRAPHITI_HOME     Where everything is kept [default: ~/.graphiti]
  GRAPHITI_TIMEOUT  Seconds that the daemon may be silent before it is told to hang [default: 10]
  NO_COLOR          Use no colours";

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what the daemon is doing and how much it knows
    Status(Status),
    /// List sessions, the latest first
    List(List),
    /// Show one session: its summary, or its messages
    Show(Show),
    /// Search messages and summaries
    Search(Search),
    /// Search what is true: decisions, fixed errors, settings, failing tests, what is left open
    Facts(Facts),
    /// Show what the last sessions in a project leave to the next one
    Handoff(Handoff),
    /// Close a session and make its summary now
    Close(Close),
    /// List sessions that have no summary yet
    Unindexed(Unindexed),
    /// Show what asking models took, and what was saved
    Usage(Usage),
    /// Show and correct what is known of tools
    Tools(Tools),
    /// Show and check the prompts that models are asked with
    Prompts(Prompts),
    /// Hand an event of an agent's over to the daemon: its hook runs this
    ///
    /// Reads the JSON that the agent writes to its hooks on standard input. Returns at once, and
    /// without an error, whatever happens.
    Hook,
    /// Index sessions of the past that have no summary yet
    ///
    /// Without --run it only tells what it would do. It may be interrupted and run again: no
    /// session is indexed twice.
    Sync(Sync),
    /// Write all summaries into files
    ///
    /// `graphiti import` takes them in on another machine.
    Export(Export),
    /// Take in what `export` wrote on another machine
    ///
    /// What is here already stays as it is, so that it may be done again. Of an export with something
    /// broken in it nothing is taken in.
    Import(Import),
    /// Take sessions out of the memory, everywhere
    ///
    /// Without --run it only tells what would go. What is forgotten stays so: its transcript is
    /// not read again, whatever is written to it, until --undo. The transcript itself stays. Without
    /// anything else it lists what was forgotten.
    Forget(Forget),
    /// Let an agent's program use the memory: a server of the Model Context Protocol on standard
    /// input and output
    Mcp(Mcp),
    /// Make your agents call graphiti: their hooks and their tools
    Setup(Setup),
    /// Run the daemon as a service: from login on, and again when it fails
    #[command(subcommand)]
    Service(ServiceAction),
    /// Start the daemon in the background
    Up,
    /// Bring back what can be read of a damaged database
    ///
    /// Looks through the database, makes it anew when something in it cannot be read, and brings
    /// back what is missing of those that the daemon moved aside as damaged. The daemon is stopped
    /// for it and started again.
    Repair(Repair),
    /// Redact again what was stored or exported under older rules
    ///
    /// Without --run it only tells what would change. It goes over everything that is kept, the logs
    /// among it, and rids the disk of what was replaced: the database is written anew, and the search
    /// index made anew. It may be interrupted and run again. The daemon is stopped for it and
    /// started again. With files it does the same to these.
    Redact(Redact),
    /// Say what is wrong, and what to do about it
    ///
    /// Fails when something does not work; what could be better is no failure.
    Doctor(Doctor),
    /// Print the folder of the plugin for Claude Code, which does what `setup` does there
    ///
    /// The plugin also has the commands /graphiti:recall and /graphiti:handoff, and tells the agent when to search.
    /// Either have the plugin or let `setup` change the settings, not both.
    ClaudePluginPath,
    /// Make the daemon read its configuration again
    Reload,
    /// Stop the daemon
    Stop(Stop),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page
    Man,
}

/// Which project is meant.
#[derive(Debug, Default, Args)]
pub(crate) struct Project {
    /// Only this project: its directory (`.` for this one) or its eight-digit namespace
    #[arg(long, short, value_name = "DIR")]
    pub(crate) project: Option<String>,
}

/// How the answer is printed.
#[derive(Debug, Default, Args)]
pub(crate) struct Output {
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Default, Args)]
pub(crate) struct Status {
    /// Wait until everything there is has been imported
    #[arg(long)]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Only sessions in this state
    #[arg(long, value_enum)]
    pub(crate) state: Option<State>,
    /// Sessions in which nothing was said, too
    #[arg(long)]
    pub(crate) empty: bool,
    /// At most so many; 0 shows none, only how many there are
    #[arg(long, short = 'n', default_value_t = 20)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// How far a session is.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum State {
    /// Being written to
    Active,
    /// Quiet, but not over
    Inactive,
    /// Being summarised
    Indexing,
    /// Summarised
    Indexed,
    /// Could not be summarised
    Failed,
    /// Over, but not summarised yet
    Unindexed,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The session's id or its beginning, or its episode's id; the session this is run in when
    /// missing
    pub(crate) session: Option<String>,
    /// Show the messages instead of the summary
    #[arg(long, short)]
    pub(crate) messages: bool,
    /// Show overview, topics, decisions, code references and key points
    #[arg(long, short, conflicts_with = "messages")]
    pub(crate) conversation: bool,
    /// Begin with this message
    #[arg(long, default_value_t = 0, requires = "messages")]
    pub(crate) from: u32,
    /// Messages of this sub-agent's file instead of the session's own
    #[arg(long, default_value_t = 0, requires = "messages", value_name = "NUMBER")]
    pub(crate) source: u32,
    /// At most so many messages; 0 shows none
    #[arg(long, short = 'n', default_value_t = 40)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Words, "phrases", prefix*, -not, field:value, or a question
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) project: Project,
    /// Only sessions of this agent
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Only work on this branch
    #[arg(long)]
    pub(crate) branch: Option<String>,
    /// Only what touches this file
    #[arg(long)]
    pub(crate) file: Option<String>,
    /// Only calls of this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only what this side says: user, assistant, tool or recap
    #[arg(long)]
    pub(crate) role: Option<String>,
    /// Only from this day on, such as 2026-03-01
    #[arg(long, value_name = "DATE")]
    pub(crate) after: Option<String>,
    /// Only before this day
    #[arg(long, value_name = "DATE")]
    pub(crate) before: Option<String>,
    /// At most so many sessions; 0 shows none
    #[arg(long, short = 'n', default_value_t = 10)]
    pub(crate) limit: usize,
    /// After so many, the best
    #[arg(long, default_value_t = 0, value_name = "COUNT")]
    pub(crate) offset: usize,
    /// Say why each session ranks where it does
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Facts {
    /// Words, "phrases", prefix*, -not, or a question; the latest facts when missing
    pub(crate) query: Vec<String>,
    #[command(flatten)]
    pub(crate) project: Project,
    /// As things stood at the end of this day, such as 2026-03-01, or at this instant
    #[arg(long, value_name = "DATE")]
    pub(crate) as_of: Option<String>,
    /// What is true no longer, too
    #[arg(long)]
    pub(crate) ended: bool,
    /// Only this kind, such as DECIDED, RESOLVED, SET_TO, FAILS or LEFT_OPEN; may be repeated
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Vec<String>,
    /// At most so many; 0 shows none
    #[arg(long, short = 'n', default_value_t = 10)]
    pub(crate) limit: usize,
    /// Say why each fact ranks where it does
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Handoff {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Of so many sessions, the last ones; 0 shows none
    #[arg(long, short = 'n', default_value_t = 5)]
    pub(crate) sessions: usize,
    /// In at most so many characters
    #[arg(long, default_value_t = 4_000, value_name = "CHARS")]
    pub(crate) max_chars: usize,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Close {
    /// The session's id or its beginning; the session this is run in when missing
    pub(crate) session: Option<String>,
    /// Why, for the record
    #[arg(long, short)]
    pub(crate) reason: Option<String>,
    /// Do not wait for the summary
    #[arg(long)]
    pub(crate) no_wait: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Sync {
    #[command(flatten)]
    pub(crate) project: Project,
    /// Only sessions of the last so many days; 0 for all
    #[arg(long, default_value_t = 7)]
    pub(crate) days: u32,
    /// At most so many sessions, the latest first; 0 for none
    #[arg(long, short = 'n', default_value_t = 100)]
    pub(crate) limit: usize,
    /// Do it
    #[arg(long)]
    pub(crate) run: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// The folder that was exported to, or one of its episodes: `*.jsonl`, `*.md`
    pub(crate) path: std::path::PathBuf,
    /// Tell only what would be taken in
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Forget {
    /// Sessions by their ids or the beginnings of these, or by the ids of their episodes
    pub(crate) sessions: Vec<String>,
    #[command(flatten)]
    pub(crate) project: Project,
    /// Sessions in which something was said on this day or later, such as 2026-03-01
    #[arg(long, value_name = "DATE")]
    pub(crate) after: Option<String>,
    /// Sessions in which something was said before this day
    #[arg(long, value_name = "DATE")]
    pub(crate) before: Option<String>,
    /// Do it
    #[arg(long)]
    pub(crate) run: bool,
    /// Let forgotten sessions come back
    #[arg(long, requires = "sessions", conflicts_with_all = ["project", "after", "before", "run"])]
    pub(crate) undo: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Redact {
    /// Files and folders that `export` wrote, instead of what is kept
    #[arg(value_name = "FILE|FOLDER")]
    pub(crate) exports: Vec<std::path::PathBuf>,
    /// Go over what is there already: what comes in is redacted in any case
    #[arg(long, required = true)]
    pub(crate) again: bool,
    /// Do it
    #[arg(long)]
    pub(crate) run: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The folder to write into
    pub(crate) folder: std::path::PathBuf,
    /// How the summaries are written
    #[arg(long, value_enum, default_value_t = ExportFormat::Markdown)]
    pub(crate) format: ExportFormat,
    #[command(flatten)]
    pub(crate) project: Project,
}

/// How summaries are written to files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Beside the lines a Markdown file each, with where it comes from in front
    Markdown,
    /// One file, a JSON object a line: all that is needed to take them in
    Jsonl,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// When the daemon is down, say so instead of starting it
    #[arg(long)]
    pub(crate) no_start: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Unindexed {
    #[command(flatten)]
    pub(crate) project: Project,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Usage {
    /// So many days, today's included
    #[arg(long, default_value_t = 30)]
    pub(crate) days: u32,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Tools {
    #[command(subcommand)]
    pub(crate) command: ToolsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools that a model or you said something about
    List(Output),
    /// Say what a tool is for; your word holds before any other
    Set {
        /// The tool's name, such as `mcp__linear__get_issue`, or `bash:make` for a command
        tool: String,
        /// create, modify, delete, read, search, execute, configure, communicate, validate or transform
        intent: String,
        /// filesystem, code, database, network, process, version_control, package, documentation, testing, memory or unknown
        #[arg(default_value = "unknown")]
        domain: String,
    },
    /// Take back what you said about a tool
    Unset {
        /// The tool's name
        tool: String,
    },
    /// Print everything that was learned as JSON
    Export,
    /// Take in what was exported
    Import {
        /// The file
        file: std::path::PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Prompts {
    #[command(subcommand)]
    pub(crate) command: PromptsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PromptsCommand {
    /// List the prompts that hold in this directory, and where they come from
    List(Output),
    /// Print a prompt
    Show {
        /// Its name: tool_results, user_messages, agent_messages, session_summary or tool_classification
        kind: String,
    },
    /// Check all prompts that hold here, or a file before you put it in place
    Check {
        /// The file
        file: Option<std::path::PathBuf>,
        /// As which prompt; by the file's name when missing
        #[arg(long, requires = "file")]
        kind: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Stop {
    /// End it at once if it does not stop or answer; what it acknowledged is safe
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Repair the settings of agents that an earlier version wrote, or that name another program
    #[arg(long)]
    pub(crate) fix: bool,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Repair {
    /// Bring back what can be read of this one instead, another home's for instance
    #[arg(value_name = "DATABASE", value_hint = clap::ValueHint::DirPath)]
    pub(crate) database: Option<std::path::PathBuf>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Setup {
    #[command(subcommand)]
    pub(crate) what: Option<SetupWhat>,
    /// Only this agent, whether it is found or not; may be repeated
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(crate::setup::agent_names()))]
    pub(crate) agent: Vec<String>,
    /// The settings of the project in this directory instead of your own
    #[arg(long)]
    pub(crate) project: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Change it without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Do not allow agents to use graphiti's tools without asking
    #[arg(long)]
    pub(crate) no_allow: bool,
    /// Take everything out again
    #[arg(long)]
    pub(crate) remove: bool,
}

/// What else can be set up.
#[derive(Debug, Subcommand)]
pub(crate) enum SetupWhat {
    /// Search by meaning beside words, with a small model that you have in a folder
    ///
    /// Copies the model to graphiti's home and switches it on. A model is a folder with
    /// model.safetensors and tokenizer.json: model2vec's are small and fast, all-MiniLM-L6-v2 and
    /// its like find more. Nothing is downloaded.
    Embeddings(SetupEmbeddings),
}

#[derive(Debug, Args)]
pub(crate) struct SetupEmbeddings {
    /// The model's folder
    #[arg(required_unless_present = "remove")]
    pub(crate) folder: Option<std::path::PathBuf>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Change it without asking
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Search by words alone again, and remove the copy of the model
    #[arg(long, conflicts_with = "folder")]
    pub(crate) remove: bool,
}

/// What becomes of the service.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum ServiceAction {
    /// Put its files in place and start it
    Install,
    /// Stop it and remove its files; what the daemon knows stays
    Uninstall,
    /// Start it
    Start,
    /// Stop it
    Stop,
    /// Show how it is
    Status,
    /// Show the end of its log
    Logs,
}
