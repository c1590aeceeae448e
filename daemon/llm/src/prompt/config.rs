//! The settings of the prompts that summarise single messages.

/// One prompt for each kind of message.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub tool_results: TemplateSource,
    pub user_messages: TemplateSource,
    pub agent_messages: TemplateSource,
    /// Maximum length of a summary, in characters. The prompt states it, and longer replies are
    /// cut.
    pub max_summary_chars: u32,
    /// Maximum number of messages of a session that a model summarises each time the session is
    /// processed.
    pub max_per_session: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateSource {
    /// The project's or the user's template file for this kind of prompt, or else the built-in
    /// template.
    Default,
    /// A template file, by its path or its name in a `prompts` folder.
    File(String),
    /// The text itself, with `{content}` in it.
    Inline(String),
}

impl TemplateSource {
    /// Parses a setting: `default`, a path or name that ends with `.md`, or the text itself.
    pub fn read(setting: &str) -> TemplateSource {
        let name = setting.trim();
        if name == "default" {
            TemplateSource::Default
        } else if name.ends_with(".md") && !name.contains(['\n', '{']) {
            TemplateSource::File(name.to_owned())
        } else {
            TemplateSource::Inline(setting.to_owned())
        }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            tool_results: TemplateSource::Default,
            user_messages: TemplateSource::Default,
            agent_messages: TemplateSource::Default,
            max_summary_chars: 500,
            max_per_session: 3,
        }
    }
}
