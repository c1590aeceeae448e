//! Checks the configuration file.

use std::path::Path;

use graphitid::config::{Config, changes, read};

pub(super) const WORDS: &[&str] = &[
    "\"session_tracking\":{",
    "\"inactivity_timeout\":",
    "\"llm\":{",
    "\"provider\":\"openai\"",
    "\"base_url\":\"http://localhost/v1\"",
    "\"api_key\":\"",
    "\"api_key_env\":\"",
    "\"watch_directories\":[\"~/x\"]",
    "\"hooks\":{\"enabled\":false}",
    "\"filter\":{",
    "// x\n",
    "/* x */",
    "\"30m\"",
    "\"1.5 GB\"",
    "\"daily_budget\":{",
    "\"embeddings\":{",
    "\"activity_vector\":{",
    "\"template\":\"",
    ",}",
    "\"excluded_paths\":[",
    "\"log\":{",
];

pub(super) fn check(bytes: &[u8]) {
    let text = super::text(bytes);
    let file = Path::new("/home/ann/.graphiti/graphiti.config.json");
    let messages: Vec<String> = match read(file, &text, Some(Path::new("/home/ann"))) {
        Ok(loaded) => {
            changes(&Config::default(), &loaded.config);
            loaded.notices.iter().map(ToString::to_string).collect()
        }
        Err(problems) => {
            assert!(!problems.problems.is_empty(), "rejected without a reason");
            vec![problems.to_string()]
        }
    };
    let length = messages.join("\n").len();
    assert!(length <= 64 * text.len() + 4_096, "{length} bytes of messages");
}
