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
    /// About how many messages of a session a model is asked at most.
    pub max_per_session: u32,
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

impl Source {
    /// Reads a setting: `default`, a path or name that ends with `.md`, or the text itself.
    pub fn read(setting: &str) -> Source {
        let name = setting.trim();
        if name == "default" {
            Source::Default
        } else if name.ends_with(".md") && !name.contains(['\n', '{']) {
            Source::File(name.to_owned())
        } else {
            Source::Inline(setting.to_owned())
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            tool_results: Source::Default,
            user_messages: Source::Default,
            agent_messages: Source::Default,
            max_summary_chars: 500,
            max_per_session: 3,
        }
    }
}
