//! An episode on disk. Its summary is stored as JSON, because summaries often get new fields.

use serde::{Deserialize, Serialize};

use super::{Id, Reason, Unknown};
use crate::model::{
    EnhancedSessionSummary, Episode, SessionKey,
    episode::{Author, ExternalContent},
};

#[derive(Serialize, Deserialize)]
pub(crate) struct EpisodeRecord {
    id: [u8; 16],
    session: u64,
    session_id: Id,
    project: String,
    name: String,
    summary: String,
    /// The model that wrote the summary; `None` if it was derived from evidence.
    model: Option<String>,
    file: String,
    hash: [u8; 32],
    reason: Reason,
    branches: Vec<String>,
    started_at: i64,
    ended_at: i64,
    created_at: i64,
}

/// The JSON part of the record.
#[derive(Deserialize)]
struct Document {
    #[serde(flatten)]
    summary: EnhancedSessionSummary,
    #[serde(default, rename = "told")]
    external: Option<ExternalContent>,
    #[serde(default)]
    rules_version: u32,
}

#[derive(Serialize)]
struct DocumentRef<'e> {
    #[serde(flatten)]
    summary: &'e EnhancedSessionSummary,
    #[serde(rename = "told", skip_serializing_if = "Option::is_none")]
    external: Option<&'e ExternalContent>,
    #[serde(skip_serializing_if = "is_unknown")]
    rules_version: u32,
}

/// Whether the version of the rules is unknown. Such a version is omitted, as in the oldest
/// records.
fn is_unknown(rules: &u32) -> bool {
    *rules == 0
}

impl<'e> From<&'e Episode> for DocumentRef<'e> {
    fn from(episode: &'e Episode) -> DocumentRef<'e> {
        DocumentRef {
            summary: &episode.summary,
            external: episode.external.as_ref(),
            rules_version: episode.rules,
        }
    }
}

impl From<&Episode> for EpisodeRecord {
    fn from(episode: &Episode) -> EpisodeRecord {
        EpisodeRecord {
            id: episode.id.0.into_bytes(),
            session: episode.session.0,
            session_id: super::id_record(&episode.session_id),
            project: episode.project.path().to_owned(),
            name: episode.name.clone(),
            summary: serde_json::to_string(&DocumentRef::from(episode))
                .expect("a summary has only string keys and finite numbers"),
            model: match &episode.author {
                Author::Evidence => None,
                Author::Model(name) => Some(name.clone()),
            },
            file: episode.file.clone(),
            hash: episode.content_hash.0,
            reason: super::reason_record(&episode.reason),
            branches: episode.branches.clone(),
            started_at: episode.started_at.micros(),
            ended_at: episode.ended_at.micros(),
            created_at: episode.created_at.micros(),
        }
    }
}

impl TryFrom<EpisodeRecord> for Episode {
    type Error = Unknown;

    fn try_from(record: EpisodeRecord) -> Result<Episode, Unknown> {
        let document: Document =
            serde_json::from_str(&record.summary).map_err(|error| format!("summary: {error}"))?;
        Ok(Episode {
            id: super::episode_id(record.id),
            session: SessionKey(record.session),
            session_id: super::id_from_record(record.session_id),
            project: super::project_from_record(&record.project),
            name: record.name,
            summary: document.summary,
            external: document.external,
            rules: document.rules_version,
            author: record.model.map_or(Author::Evidence, Author::Model),
            file: record.file,
            content_hash: super::hash(record.hash),
            reason: super::reason_from_record(record.reason)?,
            branches: record.branches,
            started_at: super::time(record.started_at),
            ended_at: super::time(record.ended_at),
            created_at: super::time(record.created_at),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;

    #[test]
    fn the_version_of_the_rules_is_stored_and_absent_in_older_records() {
        let session = contract::session(SessionKey(7), "aaaa-1");
        let older = contract::episode(&session, 1_700_000_000);
        let newer = Episode { rules: 7, ..older.clone() };
        let record = EpisodeRecord::from(&newer);
        assert_eq!(Episode::try_from(record), Ok(newer));
        let record = EpisodeRecord::from(&older);
        assert!(!record.summary.contains("rules_version"));
        assert_eq!(Episode::try_from(record), Ok(older));
    }
}
