//! What the index is told: changes in the order in which they happened.

use crate::{
    model::{
        Message, Namespace, Project, SessionKey, Timestamp, episode::Episode, wording::is_filler,
    },
    search::passage::PassageKind,
};

/// A place in the outbox that the index follows; the first entry has 1, and 0 stands before it.
///
/// A commit promises that everything up to its position is there. So while an index is filled from
/// elsewhere, or an entry is told in pieces, the position told is that of the last entry that was
/// told whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Position(pub u64);

/// What is known of a session apart from its text. The latest one told holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    pub session: SessionKey,
    /// Its project's short name.
    pub namespace: Namespace,
    /// Its project, once known.
    pub project: Option<Project>,
    /// The agent, by the name of its format.
    pub agent: String,
    /// When its first message was written, once known.
    pub started_at: Option<Timestamp>,
    /// When its latest message was written.
    pub ended_at: Timestamp,
    /// The branch for messages that name none.
    pub branch: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum IndexChange {
    /// Messages were added to a session.
    Messages {
        /// The session, as it is now.
        card: Card,
        messages: Vec<Message>,
    },
    /// A session got an episode, its first or another one.
    Episode {
        /// The session, as it is now.
        card: Card,
        /// The episode's text, by field.
        fields: Vec<EpisodeField>,
        branches: Vec<String>,
    },
    /// The messages of one file of a session are void: it was replaced or removed.
    DropSource {
        session: SessionKey,
        /// The file, as in [`crate::model::transcript::Origin::source`].
        source: u32,
    },
    /// A session's episode is void.
    DropEpisode { session: SessionKey },
    /// Nothing of a session may be found any more.
    DropSession { session: SessionKey },
}

impl IndexChange {
    /// Something other than a session that is found by its name and a text: an entity, a fact. Kept
    /// in an index of its own, under a number that the caller chooses.
    pub fn thing(
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
                branch: None,
            },
            fields: vec![field(PassageKind::Title, name), field(PassageKind::Body, text)],
            branches: Vec::new(),
        }
    }
}

/// One piece of an episode's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeField {
    pub kind: PassageKind,
    pub text: String,
}

impl EpisodeField {
    /// Everything in `episode` that is worth finding, piece by piece.
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
            let said = [decision.decision.clone(), decision.rationale.clone()];
            add(PassageKind::Decision, joined(said.into_iter().chain(others)));
        }
        for error in summary.errors_resolved.iter().flatten() {
            let said = [&error.error, &error.root_cause, &error.fix, &error.verification];
            add(PassageKind::Error, joined(said.into_iter().cloned()));
        }
        add(PassageKind::Error, summary.root_cause_analysis.clone().unwrap_or_default());
        add(PassageKind::File, joined(summary.files_modified.iter().flatten().cloned()));
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
        add(PassageKind::Body, joined(relations.map(|told| told.sentence.clone())));
        add(PassageKind::Body, joined(summary.mcp_tools_used.iter().flatten().cloned()));
        fields
    }
}

/// What is said of one thing, with a sign between that is none of any word's.
fn joined(texts: impl Iterator<Item = String>) -> String {
    let said = texts.filter(|text| !text.trim().is_empty() && !is_filler(text));
    said.collect::<Vec<_>>().join(" · ")
}
