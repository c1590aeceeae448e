//! The changes that are applied to the index, in the order in which they happened.

use crate::{
    model::{
        Message, Namespace, Project, SessionKey, Timestamp, episode::Episode, wording::is_filler,
    },
    passage::PassageKind,
};

/// A position in the outbox that the index follows. The first entry has position 1; 0 is the
/// position before it.
///
/// A commit guarantees that the index contains everything up to its position. While the index is
/// backfilled, or while an entry is applied in several changes, callers pass the position of the
/// last entry that was applied completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Position(pub u64);

/// The data of a session other than its text. A new card replaces the earlier card of the session.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub session: SessionKey,
    pub namespace: Namespace,
    /// `None` while the project is unknown.
    pub project: Option<Project>,
    /// The agent, as the name of its transcript format.
    pub agent: String,
    /// Time of the first message; `None` while it is unknown.
    pub started_at: Option<Timestamp>,
    /// Time of the latest message.
    pub ended_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub enum IndexChange {
    Messages {
        /// The current card of the session.
        card: Card,
        messages: Vec<Message>,
    },
    /// A new episode of a session, which replaces the earlier episode.
    Episode {
        card: Card,
        fields: Vec<EpisodeField>,
        branches: Vec<String>,
    },
    /// Removes the messages of one file of a session, because the file was replaced or removed.
    DropSource {
        session: SessionKey,
        /// The file, as in [`crate::model::transcript::Origin::source`].
        source: u32,
    },
    DropEpisode {
        session: SessionKey,
    },
    /// Removes everything of a session.
    DropSession {
        session: SessionKey,
    },
}

impl IndexChange {
    /// Builds a change for an entity or a fact, with a name and a text. Entities and facts are not
    /// in the index of sessions, and the caller chooses their numbers.
    pub fn entity_or_fact(
        number: u64,
        namespace: Namespace,
        at: Timestamp,
        name: &str,
        text: &str,
    ) -> IndexChange {
        let field = |kind, text: &str| EpisodeField { kind, text: text.to_owned() };
        IndexChange::Episode {
            card: Card {
                session: SessionKey(number),
                namespace,
                project: None,
                agent: String::new(),
                started_at: None,
                ended_at: at,
            },
            fields: vec![field(PassageKind::Title, name), field(PassageKind::Body, text)],
            branches: Vec::new(),
        }
    }
}

/// One part of an episode's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeField {
    pub kind: PassageKind,
    pub text: String,
}

impl EpisodeField {
    /// Returns all searchable texts of `episode`.
    pub fn all_of(episode: &Episode) -> Vec<EpisodeField> {
        let summary = &episode.summary;
        let mut fields = Vec::new();
        let mut add = |kind: PassageKind, text: String| {
            if !text.trim().is_empty() {
                fields.push(EpisodeField { kind, text });
            }
        };
        add(PassageKind::Title, episode.name.clone());
        add(PassageKind::Body, episode.text().unwrap_or_default().to_owned());
        add(PassageKind::Objective, summary.objective.clone());
        for decision in summary.key_decisions.iter().flatten() {
            let others = decision.alternatives.iter().flatten().cloned();
            let texts = [decision.decision.clone(), decision.rationale.clone()];
            add(PassageKind::Decision, joined(texts.into_iter().chain(others)));
        }
        for error in summary.errors_resolved.iter().flatten() {
            let texts = [&error.error, &error.root_cause, &error.fix, &error.verification];
            add(PassageKind::Error, joined(texts.into_iter().cloned()));
        }
        add(PassageKind::Error, summary.root_cause_analysis.clone().unwrap_or_default());
        // One path in each line, because each path is an attribute of the passage.
        add(PassageKind::File, summary.files_modified.as_deref().unwrap_or_default().join("\n"));
        let lists = [&summary.completed_tasks, &summary.next_steps, &summary.discoveries];
        for list in lists {
            add(PassageKind::Body, joined(list.iter().flatten().cloned()));
        }
        let changes = summary.config_changes.iter().flatten().map(|change| {
            let old = change.old_value.as_deref().unwrap_or_default();
            let reason = if is_filler(&change.reason) { "" } else { &change.reason };
            format!("{} {} {old} {} {reason}", change.file, change.setting, change.new_value)
        });
        add(PassageKind::Body, joined(changes));
        if let Some(tests) = &summary.test_results {
            let failed = tests.failed_tests.iter().flatten().cloned();
            add(PassageKind::Body, joined([tests.framework.clone()].into_iter().chain(failed)));
        }
        add(PassageKind::Body, joined(summary.topics.iter().flatten().cloned()));
        let relations = summary.relations.iter().flatten();
        add(PassageKind::Body, joined(relations.map(|relation| relation.sentence.clone())));
        add(PassageKind::Body, joined(summary.mcp_tools_used.iter().flatten().cloned()));
        fields
    }
}

/// Joins texts about the same subject with a separator that is not part of any word.
fn joined(texts: impl Iterator<Item = String>) -> String {
    let texts = texts.filter(|text| !text.trim().is_empty() && !is_filler(text));
    texts.collect::<Vec<_>>().join(" · ")
}
