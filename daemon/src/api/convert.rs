//! Converts types of the model to types of the protocol.

use std::path::{Path, PathBuf};

use graphiti_proto::tools::{
    EpisodeRow, SessionRow,
    get_session::{FileRow, MessageRow},
    search_sessions::SpelledWord,
};

use crate::{
    clock,
    engine::{self, entities::Graph, episode, redaction},
    model::{
        Episode, Fact, Message, Role, SessionKey, Timestamp,
        episode::Author,
        graph::Relation,
        session::{Session, State},
    },
    search::rank::{Explanation, Spelling},
    store::{Source, SourceKey, Store, StoreError},
};

/// Maximum number of messages at the start of a session that are read to find its first prompt.
const MAX_MESSAGES_SEARCHED: usize = 5;

pub(super) fn spelled_words(spelled: Vec<Spelling>) -> Vec<SpelledWord> {
    let words = spelled.into_iter();
    words.map(|word| SpelledWord { asked: word.searched, used: word.replacements }).collect()
}

/// Converts a session, with its episode if it has one.
pub(super) fn session_row(store: &dyn Store, session: &Session) -> Result<SessionRow, StoreError> {
    let episode = store.episode_of(session)?;
    let project = session.project.as_ref().or(episode.as_ref().map(|episode| &episode.project));
    let path = project.filter(|project| !episode::is_unknown_project(project));
    Ok(SessionRow {
        session_id: session.id.id.clone(),
        short_id: short_id(store, &session.id.id)?,
        agent: session.id.agent.clone(),
        project: path.map(|project| project.path().to_owned()).unwrap_or_default(),
        project_namespace: project.map(|p| p.namespace().to_string()).unwrap_or_default(),
        title: match &episode {
            Some(episode) => episode.name.clone(),
            None => title_from_first_prompt(store, session.key)?,
        },
        state: session.state.as_str().to_owned(),
        file_path: redaction::text(&engine::transcript_path(store, session)?).into_owned(),
        started_at: time(session.started_at),
        last_activity: session.last_activity.to_string(),
        message_count: session.content.map_or(0, |content| content.messages),
        content_hash: session
            .indexed
            .as_ref()
            .map_or_else(String::new, |indexed| format!("{:x}", indexed.hash)),
        error: match &session.state {
            State::Failed(failure) => Some(failure.error.clone()),
            _ => None,
        },
        indexed_at: session.indexed.as_ref().map(|indexed| indexed.at.to_string()),
        episode: episode.as_ref().map(|episode| episode_row(store, episode)).transpose()?,
    })
}

/// Minimum length, in characters, of the short id of a session.
const SHORT_ID: usize = 8;

/// Returns the shortest unique prefix of a session's id among the prefixes with 8, 12, 16 and more
/// characters. Returns the whole id if none of these prefixes is unique.
pub(super) fn short_id(store: &dyn Store, id: &str) -> Result<String, StoreError> {
    for (end, _) in id.char_indices().skip(SHORT_ID).step_by(SHORT_ID / 2) {
        if store.sessions_with_prefix(&id[..end], 2)?.len() == 1 {
            return Ok(id[..end].to_owned());
        }
    }
    Ok(id.to_owned())
}

/// Returns a title for a session without an episode: the beginning of its first prompt, or an empty
/// text.
fn title_from_first_prompt(store: &dyn Store, session: SessionKey) -> Result<String, StoreError> {
    let first = store.messages(SourceKey { session, number: 0 }, 0, MAX_MESSAGES_SEARCHED)?;
    let prompt = first.iter().find(|message| message.role == Role::User);
    Ok(prompt.map_or_else(String::new, |prompt| episode::title(&prompt.text)))
}

/// The outcome of a remembered wish that does not apply any more.
const WITHDRAWN: &str = "withdrawn";

fn episode_row(store: &dyn Store, episode: &Episode) -> Result<EpisodeRow, StoreError> {
    let outcome = match is_withdrawn(store, episode)? {
        true => WITHDRAWN,
        false => episode.summary.outcome.as_str(),
    };
    let activity = &episode.summary.activity_vector;
    let activities = activity.dominant_activities().into_iter();
    Ok(EpisodeRow {
        uuid: episode.id.to_string(),
        name: episode.name.clone(),
        outcome: outcome.to_owned(),
        primary_activity: activity.primary_activity().to_owned(),
        activities: activities.map(|one| (one.as_str().to_owned(), activity.get(one))).collect(),
        branches: episode.branches.clone(),
        created_at: episode.created_at.to_string(),
        model: match &episode.author {
            Author::Evidence => None,
            Author::Model(name) => Some(name.clone()),
        },
        imported_from: episode.from().map(|from| match from {
            "" => "another machine".to_owned(),
            from => from.to_owned(),
        }),
        close_reason: episode.reason.note().map_or_else(|| episode.reason.name(), str::to_owned),
    })
}

/// Whether an episode is a remembered wish that the user withdrew.
pub(super) fn is_withdrawn(store: &dyn Store, episode: &Episode) -> Result<bool, StoreError> {
    if !episode.is_memory() || episode.summary.preferences.is_none() {
        return Ok(false);
    }
    let facts = Graph::of(store).of_episode(episode.id)?.facts.into_iter();
    let wishes: Vec<Fact> = facts.filter(|fact| fact.relation == Relation::Prefers).collect();
    let now = clock::now();
    Ok(!wishes.is_empty() && !wishes.iter().any(|wish| wish.holds_at(now)))
}

pub(super) fn message_row(message: &Message) -> MessageRow {
    MessageRow {
        seq: message.seq,
        line: message.origin.line,
        role: message.role.as_str().to_owned(),
        at: time(message.at),
        tool: message.tool.clone(),
        text: message.text.clone(),
    }
}

/// Returns the newest state of a file. `open_files` contains the states of the open files. These
/// states are newer than the stored states.
pub(super) fn newest<'s>(stored: &'s Source, open_files: &'s [Source]) -> &'s Source {
    open_files.iter().find(|newer| newer.key == stored.key).unwrap_or(stored)
}

pub(super) fn file_row(source: &Source) -> FileRow {
    let tally = &source.tally;
    FileRow {
        number: source.key.number,
        path: source.path.clone(),
        sub_agent: source.sub_agent.clone(),
        exists: engine::transcript_exists(Path::new(&source.path)),
        read: tally.read,
        skipped: tally.skipped.clone(),
        repaired: tally.repaired,
        broken: tally.broken,
        broken_bytes: tally.broken_bytes,
        restarts: tally.restarts,
    }
}

pub(super) fn paths(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// Formats an instant as RFC 3339; empty when unknown.
pub(super) fn time(at: Option<Timestamp>) -> String {
    at.map(|at| at.to_string()).unwrap_or_default()
}

/// Formats the explanation of a rank, one reason per line.
pub(super) fn format_explanation(explanation: &Explanation) -> String {
    let signals = explanation.signals.iter().map(|signal| {
        format!("{} {:.2} (strength {:.2})", signal.name, signal.share, signal.strength)
    });
    let words = explanation.words.iter().map(|word| {
        format!(
            "\"{}\": {} as asked, {} in any form, rarity {:.1}",
            word.word, word.exact, word.any_form, word.rarity
        )
    });
    signals.chain(words).collect::<Vec<_>>().join("\n")
}
