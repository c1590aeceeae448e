//! Parses the documents that [`episode::document`](super::episode::document) writes: front matter
//! with the origin of an episode, then its text.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::{
    engine::{
        projects::{self, Identity},
        redaction,
    },
    model::{
        ActivityVector, CloseReason, ContentHash, EnhancedSessionSummary, Episode, EpisodeId,
        Project, SessionId, SessionKey, Timestamp,
        episode::{Author, ExternalContent},
        hex,
        summary::Outcome,
    },
    summarize::markdown::OUTCOME,
};

/// A problem of a document, with its line number (counted from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentError {
    pub line: usize,
    pub what: String,
}

const FRONT: &str = "---";
const MEMBERS: &str = "graphiti_session_metadata:";
/// The member with the root of the repository.
pub(super) const REPOSITORY: &str = "repository";
/// The member with the remote of the repository.
pub(super) const REMOTE: &str = "repository_remote";
/// The indentation of a member.
const INDENT: &str = "  ";

/// The members of the front matter, each with its line.
struct Members(BTreeMap<String, (usize, Value)>);

/// Parses `document` as an imported episode. `summary` is the summary as JSON, or null if only the
/// text of the summary is known.
pub fn read(document: &str, summary: &Value) -> Result<Episode, DocumentError> {
    read_with_repository(document, summary).map(|(episode, _)| episode)
}

/// Same as [`read`]. Also returns the repository of the episode's directory, as far as the document
/// names it.
pub fn read_with_repository(
    document: &str,
    summary: &Value,
) -> Result<(Episode, Identity), DocumentError> {
    let (members, text) = Members::read(document)?;
    let id = members.parsed("episode_uuid", "an episode's id", EpisodeId::parse)?;
    let agent = members.text("agent")?;
    let session_id = redaction::session_id(SessionId { agent, id: members.text("session_id")? });
    if session_id.id.is_empty() || session_id.agent.is_empty() {
        return Err(members.wrong("session_id", "is empty"));
    }
    let started_at = members.parsed("started_at", "a time", Timestamp::parse)?;
    let ended_at = members.parsed("ended_at", "a time", Timestamp::parse)?;
    let created_at = members.parsed("indexed_at", "a time", Timestamp::parse)?;
    let content_hash = members.parsed("content_hash", "a hash in hex", hash)?;
    let mut summary: EnhancedSessionSummary = match summary {
        Value::Null => EnhancedSessionSummary { outcome: outcome_in(text), ..empty_summary() },
        summary => serde_json::from_value(summary.clone())
            .map_err(|error| DocumentError { line: 1, what: format!("`summary`: {error}") })?,
    };
    let has_only_text = summary.objective.is_empty();
    let number =
        |name| members.get(name).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    summary.message_count = summary.message_count.or_else(|| number("message_count"));
    let optional = |name| members.get(name).and_then(Value::as_str).map(str::to_owned);
    let content = ExternalContent {
        // If the fields of the summary are known, the text is redundant.
        text: if has_only_text { text.to_owned() } else { String::new() },
        source: optional("source").unwrap_or_else(|| "text".to_owned()),
        description: optional("source_description").unwrap_or_default(),
        from: Some(optional("hostname").unwrap_or_default()),
    };
    let branches = members.get("branches").and_then(Value::as_array).into_iter().flatten();
    let repository = members.repository();
    let episode = Episode {
        id,
        session: SessionKey(0),
        session_id,
        project: members.project()?,
        name: members.text("name")?,
        summary,
        author: optional("model").map_or(Author::Evidence, Author::Model),
        file: optional("session_file").unwrap_or_default(),
        content_hash,
        reason: CloseReason::from_name(&optional("close_reason").unwrap_or_default()),
        branches: branches.filter_map(|branch| branch.as_str().map(str::to_owned)).collect(),
        started_at,
        ended_at,
        created_at,
        external: Some(content),
        rules: number("rules").unwrap_or(0),
    };
    Ok((episode, repository))
}

/// Returns the outcome that the text of a summary contains, or the outcome of an empty summary if
/// the text contains none.
fn outcome_in(text: &str) -> Outcome {
    let outcome = text.lines().find_map(|line| line.strip_prefix(OUTCOME));
    outcome
        .and_then(|outcome| Outcome::parse(outcome.split_whitespace().next()?))
        .unwrap_or(empty_summary().outcome)
}

pub fn empty_summary() -> EnhancedSessionSummary {
    EnhancedSessionSummary {
        activity_vector: ActivityVector::default(),
        objective: String::new(),
        outcome: Outcome::Completed,
        phases: None,
        completed_tasks: None,
        key_decisions: None,
        next_steps: None,
        errors_resolved: None,
        root_cause_analysis: None,
        config_changes: None,
        discoveries: None,
        test_results: None,
        files_modified: None,
        mcp_tools_used: None,
        session_file: None,
        message_count: None,
        duration_minutes: None,
        topics: None,
        relations: None,
        outcome_reason: None,
        last_words: None,
        repository: None,
        preferences: None,
        known_failures: None,
    }
}

impl Members {
    /// Parses the front matter; returns its members and the text after it.
    fn read(document: &str) -> Result<(Members, &str), DocumentError> {
        let wrong = |line, what: &str| DocumentError { line, what: what.to_owned() };
        let mut members = BTreeMap::new();
        let mut rest = document;
        let mut number = 0;
        loop {
            number += 1;
            let Some((line, after_line)) = rest.split_once('\n') else {
                return Err(wrong(number, "ends before its front matter does"));
            };
            rest = after_line;
            let line = line.trim_end_matches('\r');
            match number {
                1 if line != FRONT => return Err(wrong(1, "does not begin with `---`")),
                2 if line != MEMBERS => {
                    return Err(DocumentError { line: 2, what: format!("`{MEMBERS}` is missing") });
                }
                1 | 2 => {}
                _ if line == FRONT => break,
                _ => {
                    let member = line.strip_prefix(INDENT).and_then(|line| line.split_once(": "));
                    let Some((name, value)) = member else {
                        return Err(wrong(
                            number,
                            "expected `name: value`, indented by two spaces",
                        ));
                    };
                    let value = serde_json::from_str(value).map_err(|error| DocumentError {
                        line: number,
                        what: format!("`{name}`: {error}"),
                    })?;
                    members.insert(name.to_owned(), (number, value));
                }
            }
        }
        Ok((Members(members), rest.trim_start_matches(['\r', '\n'])))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).map(|(_, value)| value)
    }

    /// Returns the project. If the document contains only the hash of the project's path, and not
    /// the path, the hash is used as the directory.
    fn project(&self) -> Result<Project, DocumentError> {
        if self.get("project_path").is_some() {
            return Ok(Project::new(&self.text("project_path")?));
        }
        Ok(Project::new(&format!("/{}", self.text("project_namespace")?)))
    }

    /// Returns the root and the remote of the project's repository. Both values are normalised and
    /// redacted again, because anyone can write a document.
    fn repository(&self) -> Identity {
        let text = |name| {
            let text = self.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            text.map(redaction::text)
        };
        Identity {
            repository: text(REPOSITORY).map(|root| Project::new(&root).spelling()),
            remote: text(REMOTE).and_then(|remote| projects::normalized_remote(&remote)),
        }
    }

    fn text(&self, name: &str) -> Result<String, DocumentError> {
        match self.get(name) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(self.wrong(name, "is not a string")),
            None => Err(self.wrong(name, "is missing")),
        }
    }

    fn parsed<T>(
        &self,
        name: &str,
        form: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, DocumentError> {
        let text = self.text(name)?;
        parse(&text).ok_or_else(|| self.wrong(name, &format!("must be {form}, not `{text}`")))
    }

    fn wrong(&self, name: &str, what: &str) -> DocumentError {
        let line = self.0.get(name).map_or(1, |(line, _)| *line);
        DocumentError { line, what: format!("`{name}` {what}") }
    }
}

/// Parses a hash that may be shortened; missing digits are 0.
fn hash(text: &str) -> Option<ContentHash> {
    let given = hex::decode(text)?;
    let mut bytes = [0; 32];
    bytes.get_mut(..given.len())?.copy_from_slice(&given);
    Some(ContentHash(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        engine::{episode, imported},
        store::contract,
    };

    fn sample() -> Episode {
        let session = contract::session(SessionKey(0), "aaaa-1");
        let mut episode = contract::episode(&session, 1_700_000_000);
        episode.author = Author::Model("some-model".to_owned());
        episode.rules = 7;
        episode.summary.outcome = Outcome::InProgress;
        episode.reason = CloseReason::Hook("clear".to_owned());
        episode.external = Some(ExternalContent {
            text: String::new(),
            source: "text".to_owned(),
            description: "what \"it\" is".to_owned(),
            from: Some("elsewhere".to_owned()),
        });
        episode
    }

    #[test]
    fn a_written_document_is_parsed_to_the_same_episode() {
        let episode = sample();
        let summary = serde_json::to_value(&episode.summary).unwrap();
        let mut again = read(&episode::document(&episode, true), &summary).unwrap();
        again.summary.message_count = episode.summary.message_count;
        // The document contains only a part of the hash.
        again.content_hash = episode.content_hash;
        assert_eq!(again, episode);
        let of_text = read(&episode::document(&episode, true), &Value::Null).unwrap();
        assert_eq!(of_text.text(), Some(episode::markdown(&episode).as_str()));
        assert_eq!(of_text.summary.outcome, episode.summary.outcome);
        assert_eq!(
            episode::document(&of_text, true),
            episode::document(&again, true).replace(
                "message_count: 0",
                &format!("message_count: {}", of_text.summary.message_count.unwrap_or(0)),
            )
        );
    }

    #[test]
    fn the_repository_of_the_directory_is_part_of_an_exported_document() {
        let repository = Identity {
            repository: Some("/home/ann/app".to_owned()),
            remote: Some("example.com/ann/app".to_owned()),
        };
        let document = imported::document_of(&sample(), "host", Some(&repository));
        let (_, read) = read_with_repository(&document, &Value::Null).unwrap();
        assert_eq!(read, repository);
        let spelled = document.replace("example.com/ann/app", "git@Example.com:ann/app.git");
        assert_eq!(read_with_repository(&spelled, &Value::Null).unwrap().1, repository);
        // Anyone can write a document.
        let secret = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
        let spelled = document.replace("example.com/ann", &format!("example.com/{secret}"));
        let remote = read_with_repository(&spelled, &Value::Null).unwrap().1.remote;
        assert!(remote.is_none_or(|remote| !remote.contains(&secret.to_lowercase())));
        let without = imported::document_of(&sample(), "host", None);
        assert!(!without.contains("repository"), "{without}");
    }

    #[test]
    fn a_document_without_paths_has_the_hash_of_its_project() {
        let episode = sample();
        let document = episode::document(&episode, false);
        assert!(!document.contains(episode.project.path()), "{document}");
        assert!(!document.contains("session_file"), "{document}");
        let again = read(&document, &Value::Null).unwrap();
        assert_eq!(again.project.name(), episode.project.namespace().to_string());
        assert_eq!(again.session_id, episode.session_id);
    }

    #[test]
    fn a_problem_is_reported_with_its_line() {
        let document = episode::document(&sample(), true);
        let broken = |from: &str, to: &str| {
            let DocumentError { line, what } =
                read(&document.replacen(from, to, 1), &Value::Null).unwrap_err();
            format!("{line}: {what}")
        };
        assert_eq!(broken("---\n", "# Title\n"), "1: does not begin with `---`");
        assert_eq!(broken(MEMBERS, "title: x"), "2: `graphiti_session_metadata:` is missing");
        assert!(broken("  version: 1", "  version 1").starts_with("3: expected `name: value`"));
        assert!(
            broken("  episode_uuid: \"", "  episode_uuid: \"x")
                .starts_with("4: `episode_uuid` must be an episode's id")
        );
        assert!(broken("  session_id:", "  session:").ends_with("`session_id` is missing"));
        assert!(broken("\n---\n", "\n").contains("expected `name: value`"));
    }
}
