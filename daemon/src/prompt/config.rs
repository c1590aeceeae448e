//! The prompts by which single messages are summarised (pluggable-summary-prompts).

/// One prompt for each kind of message.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// For what tools returned.
    pub tool_results: Source,
    /// For what the user wrote.
    pub user_messages: Source,
    /// For what the agent wrote.
    pub agent_messages: Source,
    /// How long a summary may be, in characters: asked for in the prompt and enforced after.
    pub max_summary_chars: u32,
}

/// Where a prompt comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The built-in template of that kind, unless the project or the user has one of its name.
    Default,
    /// A template file, by its path or its name in a `prompts` folder.
    File(String),
    /// The text itself, with `{content}` in it.
    Inline(String),
}

impl Default for Config {
    fn default() -> Config {
        Config {
            tool_results: Source::Default,
            user_messages: Source::Default,
            agent_messages: Source::Default,
            max_summary_chars: 500,
        }
    }
}
