//! Checks the import from another machine: lines of episodes, documents, and classifications of
//! tools.

use graphiti_proto::methods::transfer::PortableEpisode;
use graphitid::{
    activity::classify::ClassificationCache,
    engine::{document, episode, imported, imported_statements, projects::Identity},
    model::{Episode, Evidence},
};
use serde_json::Value;

pub(super) const WORDS: &[&str] = &[
    "---\ngraphiti_session_metadata:\n",
    "  session_id: \"s\"\n",
    "  started_at: \"2026-01-01T00:00:00Z\"\n",
    "  content_hash: \"+f\"\n",
    "  branches: [\"a\"]\n",
    "\n---\n",
    "\"summary\":{\"objective\":\"",
    "\"outcome\":\"partial\"",
    "\"content\":\"---\\n",
    "-009999-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "{\"exact\":{",
    "\"pattern\":{",
    "\"message_count\":4294967296",
    "\"duration_minutes\":-1",
    "\"activity_vector\":{\"building\":1e300}",
];

pub(super) fn check(bytes: &[u8]) {
    let text = super::text(bytes);
    check_import(&text, &Value::Null);
    for line in text.lines() {
        if let Ok(portable) = serde_json::from_str::<PortableEpisode>(line) {
            check_import(&portable.episode.content, &portable.summary);
        }
    }
    if let Ok(learned) = serde_json::from_slice::<Value>(bytes) {
        let mut all = ClassificationCache::default();
        all.import(&learned);
        let exported = all.export();
        let mut again = ClassificationCache::default();
        again.import(&exported);
        assert_eq!(again.export(), exported, "a second import changes the classifications");
    }
}

fn check_import(content: &str, summary: &Value) {
    let episode = match document::read(content, summary) {
        Ok(episode) => episode,
        Err(wrong) => {
            assert!(
                wrong.line <= content.lines().count() + 1 && !wrong.what.is_empty(),
                "{wrong:?}"
            );
            return;
        }
    };
    episode::conversation(&episode);
    graphitid::graph::extract(&episode, &Evidence::default());
    imported_statements::fitting_statements(&episode, summary);
    super::transcript::handoff(&episode);
    // Exporting and importing the episode again changes nothing.
    let again = exported(&episode);
    assert_eq!(exported(&again), again);
    assert_eq!(episode::markdown(&again), episode::markdown(&episode));
}

fn exported(episode: &Episode) -> Episode {
    let document = imported::document_of(episode, "host", Some(&Identity::default()));
    let summary = imported::summary_of(episode);
    document::read(&document, &summary).expect("an exported episode can be read")
}
