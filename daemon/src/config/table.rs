//! All keys of the file, each with its field in [`Config`], its codec and its help text.

use std::sync::LazyLock;

use serde_json::Value as Json;

use crate::{
    config::{
        Config,
        codec::{
            Bytes, Choice, Codec, CodecContext, CommandCodec, Count, DAYS, DOLLARS, Delays,
            ENV_NAME, Flag, FormatsCodec, GroupCodec, InvalidValue, KeepCodec, Millis, Namespaces,
            OffSeconds, Optional, Path, Paths, PromptCodec, SECONDS, SHARE, Text, Texts,
            ToolsCodec, URL, VectorCodec,
        },
        file::Node,
        log::Level,
    },
    llm::config::{OnUnavailable, ProviderKind},
    llm::embed::config::EmbeddingProvider,
    share::EngineKind,
    summarize::config::Detection,
};

pub(super) struct Field {
    /// The path from the root, separated by dots.
    pub(super) key: &'static str,
    /// A text without line breaks.
    pub(super) help: &'static str,
    access: Box<dyn FieldAccess + Send + Sync>,
}

/// The sections, each with a line of help.
#[rustfmt::skip]
pub(super) const SECTIONS: &[(&str, &str)] = &[
    ("session_tracking", "What graphitid does with the sessions of coding agents"),
    ("session_tracking.filter", "What is stored of a session: true (all), false (nothing), \"name.md\" (a template) or a prompt with {content}"),
    ("session_tracking.summarization", "How a session is summarized"),
    ("session_tracking.summary_prompts", "Prompts for single messages: \"default\", \"name.md\" or a prompt with {content}"),
    ("session_tracking.resilience", "What happens when the model is not available"),
    ("session_tracking.resilience.retry_queue", "The queue of sessions that wait for the model"),
    ("session_tracking.hooks", "The hooks of coding agents"),
    ("session_tracking.mcp", "Which tools agents see over the Model Context Protocol"),
    ("session_tracking.llm", "The model that writes summaries; while the provider is \"none\", no text is sent to a model"),
    ("session_tracking.llm.daily_budget", "Limits per day; null = no limit"),
    ("session_tracking.llm.price", "US dollars per million tokens; null = the known price of the model"),
    ("session_tracking.embeddings", "Vectors in addition to full text"),
    ("session_tracking.share", "A graph that a team or several of your machines share; nothing is \
    shared unless `engine` and `projects` are set"),
    ("session_tracking.log", "The log of graphitid"),
    ("session_tracking.limits", "Limits of disk space, such as \"512 MiB\"; near the limit of the database or the index, the text of the oldest indexed sessions is evicted, then their episodes"),
];

/// Returns all fields, in the order in which they are written.
pub(super) fn fields() -> &'static [Field] {
    static FIELDS: LazyLock<Vec<Field>> = LazyLock::new(table);
    &FIELDS
}

pub(super) fn field(key: &str) -> Option<&'static Field> {
    fields().iter().find(|field| field.key == key)
}

/// Returns the static form of `key` if it is a field or a section.
pub(super) fn known(key: &str) -> Option<&'static str> {
    let section = || SECTIONS.iter().find(|(section, _)| *section == key).map(|(key, _)| *key);
    field(key).map(|field| field.key).or_else(section)
}

/// Keys that determine which programs run, which files are read or written, and where text is sent.
/// These keys are valid only in the user's own file, not in a file of a project.
const GUARDED: &[&str] = &[
    "session_tracking.hooks.socket_path",
    "session_tracking.llm.provider",
    "session_tracking.llm.base_url",
    "session_tracking.llm.api_key_env",
    "session_tracking.llm.api_key_file",
    "session_tracking.llm.api_key_command",
    "session_tracking.llm.command",
    "session_tracking.embeddings.provider",
    "session_tracking.embeddings.base_url",
    "session_tracking.embeddings.api_key_env",
    "session_tracking.embeddings.api_key_file",
    "session_tracking.embeddings.api_key_command",
    "session_tracking.embeddings.path",
    "session_tracking.share.engine",
    "session_tracking.share.url",
    "session_tracking.share.user",
    "session_tracking.share.password_env",
    "session_tracking.share.password_file",
    "session_tracking.share.tls",
    "session_tracking.share.name",
    "session_tracking.share.projects",
    "session_tracking.log.file",
    "session_tracking.summarization.tool_classification_cache",
];

impl Field {
    /// Whether the key is valid only in the user's own file.
    pub(super) fn is_guarded(&self) -> bool {
        GUARDED.contains(&self.key)
    }

    /// Reads `node` into the field in `config`.
    pub(super) fn read(
        &self,
        node: &Node,
        config: &mut Config,
        context: &mut CodecContext<'_>,
    ) -> Result<(), InvalidValue> {
        self.access.read(node, config, context)
    }

    /// Returns the field's value in `config`, in the notation of the file.
    pub(super) fn write(&self, config: &Config) -> Json {
        self.access.write(config)
    }

    /// Describes the valid values, for a message.
    pub(super) fn allowed(&self) -> String {
        self.access.allowed()
    }

    /// Describes the valid values as JSON Schema.
    pub(super) fn schema(&self) -> Json {
        self.access.schema()
    }
}

/// A codec that is bound to a field of [`Config`].
trait FieldAccess {
    fn read(
        &self,
        node: &Node,
        config: &mut Config,
        context: &mut CodecContext<'_>,
    ) -> Result<(), InvalidValue>;
    fn write(&self, config: &Config) -> Json;
    fn allowed(&self) -> String;
    fn schema(&self) -> Json;
}

struct BoundCodec<C: Codec> {
    codec: C,
    get: fn(&Config) -> &C::Item,
    get_mut: fn(&mut Config) -> &mut C::Item,
}

impl<C: Codec> FieldAccess for BoundCodec<C> {
    fn read(
        &self,
        node: &Node,
        config: &mut Config,
        context: &mut CodecContext<'_>,
    ) -> Result<(), InvalidValue> {
        *(self.get_mut)(config) = self.codec.read(node, context)?;
        Ok(())
    }

    fn write(&self, config: &Config) -> Json {
        self.codec.write((self.get)(config))
    }

    fn allowed(&self) -> String {
        self.codec.allowed()
    }

    fn schema(&self) -> Json {
        self.codec.schema()
    }
}

/// Makes a [`Field`] from a key in `session_tracking`, a field of [`Config`], a codec and a help
/// text.
macro_rules! row {
    ($key:literal, $($place:ident).+, $codec:expr, $help:literal) => {
        Field {
            key: concat!("session_tracking.", $key),
            help: $help,
            access: Box::new(BoundCodec {
                codec: $codec,
                get: |config| &config.$($place).+,
                get_mut: |config| &mut config.$($place).+,
            }),
        }
    };
}

const PROVIDER: Choice<ProviderKind> = Choice {
    words: &[
        ("none", ProviderKind::None),
        ("anthropic", ProviderKind::Anthropic),
        ("openai", ProviderKind::OpenAi),
        ("command", ProviderKind::Command),
    ],
};

const EMBEDDING_PROVIDER: Choice<EmbeddingProvider> = Choice {
    words: &[
        ("none", EmbeddingProvider::None),
        ("openai", EmbeddingProvider::OpenAi),
        ("local", EmbeddingProvider::Local),
    ],
};

const ENGINE: Choice<EngineKind> =
    Choice { words: &[("falkordb", EngineKind::FalkorDb), ("neo4j", EngineKind::Neo4j)] };

const DETECTION: Choice<Detection> =
    Choice { words: &[("auto", Detection::Auto), ("manual", Detection::Manual)] };

const ON_UNAVAILABLE: Choice<OnUnavailable> = Choice {
    words: &[
        ("STORE_RAW_AND_RETRY", OnUnavailable::StoreRawAndRetry),
        ("STORE_RAW", OnUnavailable::StoreRaw),
        ("FAIL", OnUnavailable::Fail),
        ("QUEUE_RETRY", OnUnavailable::StoreRawAndRetry),
    ],
};

const LEVEL: Choice<Level> = Choice {
    words: &[
        ("error", Level::Error),
        ("warn", Level::Warn),
        ("info", Level::Info),
        ("debug", Level::Debug),
        ("trace", Level::Trace),
        ("warning", Level::Warn),
        ("critical", Level::Error),
    ],
};

const fn count(min: u32, max: u32, unit: &'static str) -> Count {
    Count { min, max, unit }
}

const fn or_null<C>(inner: C, null: &'static str) -> Optional<C> {
    Optional { inner, null }
}

const fn text(what: &'static str, example: &'static str) -> Text {
    Text::new(what, example)
}

const fn path(example: &'static str) -> Path {
    Path { example }
}

fn table() -> Vec<Field> {
    let mut fields = tracking();
    fields.extend(summaries());
    fields.extend(model());
    fields.extend(connections());
    fields
}

#[rustfmt::skip]
fn tracking() -> Vec<Field> {
    vec![
        row!("enabled", capture.enabled, Flag, "Whether sessions are tracked"),
        row!("watch_directories", capture.watch_directories, Paths { example: "~/.claude/projects" }, "The folders with transcripts that are followed; empty = the folders of all built-in agents; the folders of `watch_formats` are always followed"),
        row!("excluded_paths", capture.excluded_paths, Paths { example: "~/private" }, "Folders of projects and of transcripts that are not tracked, including their subfolders"),
        row!("keep_length_days", capture.keep, or_null(DAYS, "all"), "Maximum age of a transcript to import, in days; null = no limit (Claude Code deletes its transcripts after 30 days by default)"),
        row!("inactivity_timeout", session.inactivity_timeout, OffSeconds, "Seconds without activity after which a session is closed; 0 or null = never"),
        row!("check_interval", session.check_interval, SECONDS, "Seconds without activity after which a session is shown as inactive"),
        row!("auto_summarize", summarize.auto_summarize, Flag, "Whether a model writes the summaries; otherwise they are generated locally from evidence"),
        row!("store_in_graph", graph.store_in_graph, Flag, "Whether episodes are created from sessions; otherwise only the text of sessions can be searched"),
        row!("group_id", api.answers.group_id, or_null(GroupCodec, "the namespace of the project"), "The group_id of every episode, entity and fact in answers; null = the namespace of the project"),
        row!("include_project_path", api.answers.include_project_path, Flag, "Whether the document of an episode contains the path of its project; otherwise, it contains only a hash of the path"),
        row!("cross_project_search", api.answers.cross_project_search, Flag, "Whether a search includes sessions of other projects; with false, agents also cannot request another project"),
        row!("trusted_namespaces", api.answers.trusted_namespaces, or_null(Namespaces, "all projects"), "Namespaces of the other projects that a search includes, as `graphiti list --json` prints them; null = all"),
        row!("query_timeout", api.query_timeout, SECONDS, "Seconds that a query waits for pending sessions to be indexed"),
        row!("watch_formats", capture.watch_formats, FormatsCodec, "Agents that are not built in: a list of objects with name, paths and JSON pointers to role, text, time, session and cwd; `graphitid config try FILE` shows what would be read"),
        row!("filter.tool_calls", capture.filter.tool_calls, Flag, "Whether tool calls and their arguments are stored; false = only the names of tools and the outcomes, so summaries and facts contain no commands, files or commits"),
        row!("filter.tool_content", capture.filter.tool_content, KeepCodec { summary: "default-tool-content.md" }, "What tools returned; false = not stored as messages, but the errors, results of tests and commits in it are used for summaries and facts"),
        row!("filter.user_messages", capture.filter.user_messages, KeepCodec { summary: "default-user-messages.md" }, "What the user wrote; false = not stored, not even in outputs of tools, summaries and facts"),
        row!("filter.agent_messages", capture.filter.agent_messages, KeepCodec { summary: "default-agent-messages.md" }, "What the agent wrote to the user and to other agents; false = not stored, not even in outputs of tools, summaries and facts"),
        row!("hooks.enabled", api.hooks.enabled, Flag, "Whether hook events are processed"),
        row!("hooks.socket_enabled", api.hooks.socket_enabled, Flag, "Whether the daemon listens on a socket"),
        row!("hooks.socket_path", api.hooks.socket_path, or_null(path("~/.graphiti/mcp.sock"), "the default socket"), "The socket; null = mcp.sock in the home folder, or a named pipe on Windows"),
        row!("hooks.hook_timeout", api.hooks.hook_timeout, Millis, "Maximum time that a hook waits for the indexing of its session when async_indexing is false, in milliseconds"),
        row!("hooks.async_indexing", api.hooks.async_indexing, Flag, "Whether a hook returns before its session is indexed"),
        row!("hooks.handoff", api.hooks.handoff, Flag, "Whether a new session starts with a handoff from the last sessions in its project"),
        row!("hooks.handoff_max_chars", api.hooks.handoff_max_chars, count(100, 10_000, "characters"), "Maximum length of the handoff, in characters"),
        row!("hooks.team_handoff", api.hooks.team_handoff, Flag, "Whether the handoff of a shared project also lists the latest sessions of colleagues, with what they left open"),
        row!("hooks.recall", api.hooks.recall, Flag, "Whether errors, decisions and preferences of earlier sessions that clearly match a prompt are added to its context"),
        row!("mcp.tools", api.listed_tools, ToolsCodec, "The tools that agents see: \"core\" (search, read, handoff, facts, remember, close), \"all\", or a list of names; tools that are not listed can be called by their names, too"),
    ]
}

#[rustfmt::skip]
fn summaries() -> Vec<Field> {
    vec![
        row!("summarization.template", summarize.template, or_null(text("a template's name or path", "my-session.md"), "the built-in one"), "The template of session summaries; null = chosen by the activity of the session"),
        row!("summarization.type_detection", summarize.detection, DETECTION, "How the activity of a session is determined: auto = from messages and tool calls, manual = from the activity_vector below"),
        row!("summarization.activity_vector", summarize.activity_vector, or_null(VectorCodec, "none"), "The activity vector of every session when type_detection is manual, such as {\"fixing\": 0.8}"),
        row!("summarization.extraction_threshold", summarize.extraction_threshold, SHARE, "Minimum priority of a field in a summary, from 0 to 1"),
        row!("summarization.include_decisions", summarize.include_decisions, Flag, "Whether summaries include decisions"),
        row!("summarization.include_errors_resolved", summarize.include_errors_resolved, Flag, "Whether summaries include resolved errors"),
        row!("summarization.recap_suffices", summarize.recap_suffices, Flag, "Whether the agent's own summary at the end of a session replaces the model's"),
        row!("summarization.tool_classification_cache", summarize.tool_classification_cache, or_null(path("~/.graphiti/tool_classification_cache.json"), "the default file"), "A file with tool classifications, as `graphiti tools export` prints it, imported at each start; null = tool_classification_cache.json in the home folder"),
        row!("summary_prompts.tool_results", prompt.tool_results, PromptCodec, "The prompt for what tools returned"),
        row!("summary_prompts.user_messages", prompt.user_messages, PromptCodec, "The prompt for what the user wrote"),
        row!("summary_prompts.agent_messages", prompt.agent_messages, PromptCodec, "The prompt for what the agent wrote"),
        row!("summary_prompts.max_summary_chars", prompt.max_summary_chars, count(50, 20_000, "characters"), "Maximum length of the summary of a message, in characters; a message is summarized if it has more bytes than twice this number, a tool result if it has more bytes than eight times this number"),
        row!("summary_prompts.max_per_session", prompt.max_per_session, count(0, 64, "messages"), "Maximum number of messages of a session that a model summarizes; 0 = none"),
    ]
}

#[rustfmt::skip]
fn model() -> Vec<Field> {
    vec![
        row!("llm.provider", llm.provider, PROVIDER, "none, anthropic, openai (also for servers that speak its protocol) or command"),
        row!("llm.model", llm.model, or_null(text("a model's name", "claude-haiku-4-5"), "the provider's default"), "The model; null = the provider's default"),
        row!("llm.base_url", llm.base_url, or_null(URL, "the provider's own"), "The address of the provider; null = its public address"),
        row!("llm.api_key_env", llm.key.env, or_null(ENV_NAME, "the provider's default"), "The environment variable that holds the key; null = the provider's default"),
        row!("llm.api_key_file", llm.key.file, or_null(path("~/.graphiti/api-key"), "none"), "A file that holds the key and that only you can read"),
        row!("llm.api_key_command", llm.key.command, or_null(CommandCodec, "none"), "A program that prints the key, such as [\"pass\", \"show\", \"key\"]"),
        row!("llm.command", llm.command, or_null(CommandCodec, "none"), "The program to run when the provider is command: reads the prompt from standard input, prints the reply"),
        row!("llm.timeout", llm.timeout, SECONDS, "Timeout of one call, in seconds"),
        row!("llm.max_retries", llm.max_retries, count(0, 20, "tries"), "Maximum number of retries of a call, after short pauses; after these retries, the settings of `resilience` apply"),
        row!("llm.concurrency", llm.concurrency, count(1, 64, "calls"), "Maximum number of concurrent calls"),
        row!("llm.context_tokens", llm.context_tokens, count(2_000, 10_000_000, "tokens"), "Size of the model's context, in tokens"),
        row!("llm.daily_budget.calls", llm.daily_budget.calls, or_null(count(0, 1_000_000, "calls"), "no limit"), "Maximum number of calls per day"),
        row!("llm.daily_budget.usd", llm.daily_budget.usd, or_null(DOLLARS, "no limit"), "Maximum cost per day, in US dollars"),
        row!("llm.price.input_per_mtok", llm.price.input_per_mtok, or_null(DOLLARS, "the known price of the model"), "Price of prompt tokens"),
        row!("llm.price.output_per_mtok", llm.price.output_per_mtok, or_null(DOLLARS, "the known price of the model"), "Price of reply tokens"),
        row!("llm.price.cached_per_mtok", llm.price.cached_per_mtok, or_null(DOLLARS, "the known price of the model, or the price of prompt tokens"), "Price of prompt tokens from the provider's cache"),
        row!("resilience.on_llm_unavailable", llm.resilience.on_unavailable, ON_UNAVAILABLE, "STORE_RAW_AND_RETRY = the session gets a summary from evidence, and the request is retried; STORE_RAW = the same without a retry; FAIL = the session is marked as failed"),
        row!("resilience.retry_queue.max_retries", llm.resilience.max_retries, count(0, 100, "tries"), "Maximum number of retries for a session"),
        row!("resilience.retry_queue.retry_delays_seconds", llm.resilience.retry_delays, Delays, "Delays before each retry, in seconds; the last delay is repeated"),
        row!("resilience.retry_queue.max_queue_size", llm.resilience.max_queue_size, count(1, 1_000_000, "sessions"), "Maximum number of sessions in the queue"),
        row!("resilience.retry_queue.persist_to_disk", llm.resilience.persist_to_disk, Flag, "Whether the queue survives a restart"),
    ]
}

#[rustfmt::skip]
fn connections() -> Vec<Field> {
    vec![
        row!("embeddings.provider", search.embeddings.provider, EMBEDDING_PROVIDER, "none, openai (also for servers that speak its protocol) or local (a model in a folder)"),
        row!("embeddings.model", search.embeddings.model, or_null(text("a model's name", "text-embedding-3-small"), "the provider's default"), "The model; null = the provider's default"),
        row!("embeddings.base_url", search.embeddings.base_url, or_null(URL, "the provider's own"), "The address of the provider; null = its public address"),
        row!("embeddings.api_key_env", search.embeddings.key.env, or_null(ENV_NAME, "the provider's default"), "The environment variable that holds the key; null = the provider's default"),
        row!("embeddings.api_key_file", search.embeddings.key.file, or_null(path("~/.graphiti/api-key"), "none"), "A file that holds the key and that only you can read"),
        row!("embeddings.api_key_command", search.embeddings.key.command, or_null(CommandCodec, "none"), "A program that prints the key"),
        row!("embeddings.path", search.embeddings.path, or_null(path("~/models/all-MiniLM-L6-v2"), "none"), "The model's folder when the provider is local"),
        row!("embeddings.dimensions", search.embeddings.dimensions, or_null(count(8, 8_192, "dimensions"), "the model's own"), "The length of a vector; null = the model's own"),
        row!("embeddings.query_timeout", search.embeddings.query_timeout, SECONDS, "Seconds that a search waits for the vector of its query; after that, only full text is used"),
        row!("share.engine", share.engine, or_null(ENGINE, "nothing is shared"), "falkordb or neo4j; null = nothing is shared"),
        row!("share.url", share.url, or_null(text("an address", "rediss://graph.example.org:6379"), "the default port on this machine"), "The address of the engine: rediss:// or redis:// for FalkorDB, https:// or http:// for Neo4j; null = the default port on this machine"),
        row!("share.user", share.user, or_null(text("a user's name", "graphiti"), "the engine's default user"), "The user of the engine; null = the engine's default user"),
        row!("share.password_env", share.password_env, or_null(ENV_NAME, "no password"), "The environment variable that holds the password"),
        row!("share.password_file", share.password_file, or_null(path("~/.graphiti/graph-password"), "none"), "A file that holds the password and that only you can read"),
        row!("share.tls", share.tls, Flag, "Whether an engine on another machine must be reached over TLS"),
        row!("share.name", share.name, or_null(text("your name", "Ann"), "none"), "Your name, as colleagues see it"),
        row!("share.projects", share.projects, Texts { what: "a list of remotes and folders", example: "github.com/ann/app" }, "The projects that are shared, by the remote of their repository or by their folder; `graphiti share enable` adds a project"),
        row!("log.level", log.level, LEVEL, "error, warn, info, debug or trace"),
        row!("log.file", log.file, or_null(path("~/.graphiti/graphitid.log"), "the default file"), "The file; null = standard error if it is a terminal or the journal of systemd, otherwise graphitid.log in the home folder"),
        row!("log.max_bytes", log.max_bytes, Bytes { min: 64 << 10 }, "The file size at which a new log file is started"),
        row!("limits.database_bytes", limits.database_bytes, Bytes { min: 32 << 20 }, "Maximum size of the database; the content of the database takes about a sixth to a third of this size; during a compaction, the old and the new files together may temporarily exceed this size, usually by at most a half of it"),
        row!("limits.index_bytes", limits.index_bytes, Bytes { min: 32 << 20 }, "Maximum size of the search index, including temporary files during merges; the content of the index takes a quarter to three eighths of this size"),
        row!("limits.spool_bytes", limits.spool_bytes, Bytes { min: 1 << 20 }, "Maximum size of the spool of hook events, each of which counts as 4 KiB; when it is full, events are refused, and their sessions are found later by their transcripts"),
        row!("limits.log_bytes", limits.log_bytes, Bytes { min: 128 << 10 }, "Maximum size of all log files together; the oldest files are deleted"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_occurs_once_in_a_known_section_with_help() {
        for (index, field) in fields().iter().enumerate() {
            let (section, _) = field.key.rsplit_once('.').unwrap();
            assert!(SECTIONS.iter().any(|(key, _)| *key == section), "{}", field.key);
            assert!(fields()[index + 1..].iter().all(|other| other.key != field.key));
            assert!(!field.help.is_empty() && !field.help.ends_with('.'), "{}", field.key);
        }
        assert!(GUARDED.iter().all(|key| field(key).is_some()));
    }
}
