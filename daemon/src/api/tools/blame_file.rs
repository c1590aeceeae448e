//! `blame_file`: finds the sessions that changed a file, or one of its lines.

use std::collections::BTreeSet;

use graphiti_proto::{
    clean::{for_model, single_spaced},
    rpc::{Error, code},
    tools::blame_file::{BlameAnswer, BlameArguments, BlameRow, NAME},
};

use super::{
    Effect, Tool, capped,
    file_names::{self, FileName},
    graph, input, output, store_error, typed, zero_limit,
};
use crate::{
    api::{
        DaemonState, blocking, catch_up, client_context::ClientContext, convert,
        projects::searched_projects,
    },
    clock,
    engine::entities::{FactFilter, Graph},
    model::{
        EpisodeId, Fact, Message, Namespace, Project, Role, SessionKey,
        graph::{EntityId, Relation},
    },
    search::{
        query::Query,
        rank::{HitLocation, RankRequest, Scope, SessionHit, Weights},
    },
    store::{SourceKey, StoreError},
};

/// Maximum number of changes in an answer.
const MAX_CHANGES: usize = 100;
/// Maximum number of sessions that are searched for the line.
const MAX_CANDIDATES: usize = 60;
/// Maximum number of passages of a session that are searched for the edit.
const MAX_PASSAGES: usize = 8;
/// Maximum number of facts of one session that are shown as reasons for the change in this session.
const MAX_REASONS: usize = 3;
/// Maximum number of facts about one file.
const MAX_FACTS: usize = 400;
/// Maximum number of lines of an edit that are shown.
const MAX_LINES: usize = 3;
/// Maximum number of words of a line that are searched for.
const MAX_WORDS: usize = 24;

pub(super) const TOOL: Tool = Tool {
    name: NAME,
    title: "Blame a file",
    description: "Show which sessions changed a file, and why, the latest first. With `text`, only the sessions whose \
        edits contain this line.",
    effect: Effect::Reads,
    input: input::<BlameArguments>,
    output: output::<BlameAnswer>,
    call: |daemon, client, arguments| {
        Box::pin(typed(arguments, |given| run(daemon, client, given)))
    },
};

async fn run(
    daemon: &DaemonState,
    client: &ClientContext,
    arguments: BlameArguments,
) -> Result<BlameAnswer, Error> {
    let file = arguments.file.trim();
    if file.is_empty() {
        return Err(Error::new(code::INVALID_PARAMS, "`file` must be the path of a file"));
    }
    let project = searched_projects(daemon, client, arguments.project.as_deref())?;
    let mut names =
        file_names::names(daemon, client, file, project.as_deref()).map_err(store_error)?;
    let others = file_names::in_any_directory(daemon, client, file, project.as_deref());
    let others = others.map_err(store_error)?;
    let projects: BTreeSet<Namespace> =
        names.iter().chain(&others).map(|name| name.namespace).collect();
    let indexed = catch_up::index_pending(daemon, client, projects.into_iter().collect()).await?;
    let limit = arguments.limit.min(MAX_CHANGES);
    let text = arguments.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let changes_of = |names: &[FileName]| match text {
        Some(text) => with_text(daemon, names, text, limit),
        None => of_file(daemon, names, limit).map_err(store_error),
    };
    let mut changes = changes_of(&names)?;
    if changes.is_empty() && !others.is_empty() {
        names = others;
        changes = changes_of(&names)?;
    }
    let shown = names.first().map_or(file, |name| name.key.as_str()).to_owned();
    let mut files: Vec<String> = Vec::new();
    if text.is_none() && limit > 0 && changes.is_empty() {
        let same = || file_names::same_name(daemon, client, file, project.as_deref());
        names = blocking::read(same).map_err(store_error)?;
        changes = of_file(daemon, &names, limit).map_err(store_error)?;
        files = names.into_iter().map(|name| name.key).collect();
        files.sort_unstable();
        files.dedup();
    }
    let message = capped::explain(indexed.message(), arguments.limit, changes.len(), MAX_CHANGES);
    client.reply_budget.fit(&mut changes);
    let shown = if let [file] = &files[..] { file.clone() } else { shown };
    if files.len() == 1 {
        files.clear();
    }
    let message = zero_limit::explain(message, client.reply_form, "limit", limit, MAX_CHANGES);
    Ok(BlameAnswer { message, file: shown, files, changes })
}

/// Returns the changes of a file, from the facts about the file.
fn of_file(
    daemon: &DaemonState,
    names: &[FileName],
    limit: usize,
) -> Result<Vec<BlameRow>, StoreError> {
    let graph = graph::graph(daemon);
    let mut facts: Vec<Fact> = Vec::new();
    for name in names {
        if let Some(id) = graph.file(name.namespace, &name.key)? {
            facts.extend(facts_about(&graph, id)?);
        }
    }
    let is_change =
        |fact: &&Fact| matches!(fact.relation, Relation::ChangedFor | Relation::RenamedTo);
    let changes = facts.iter().filter(is_change);
    let mut changes: Vec<(EpisodeId, &Fact)> =
        changes.flat_map(|fact| fact.episodes.iter().map(move |id| (*id, fact))).collect();
    changes.sort_by_key(|(id, fact)| (std::cmp::Reverse(*id), fact.relation));
    changes.dedup_by_key(|(id, _)| *id);
    let mut rows = Vec::new();
    for (id, fact) in changes {
        if rows.len() >= limit {
            break;
        }
        rows.extend(row(daemon, id, fact, &facts)?);
    }
    Ok(rows)
}

fn facts_about(graph: &Graph<'_>, file: EntityId) -> Result<Vec<Fact>, StoreError> {
    let relations = [
        Relation::ChangedFor,
        Relation::RenamedTo,
        Relation::Decided,
        Relation::Resolved,
        Relation::CausedBy,
        Relation::SetTo,
        Relation::FoundOut,
    ];
    let wanted = FactFilter { relations: relations.to_vec(), at: None, limit: MAX_FACTS };
    graph.around(file, &wanted)
}

fn row(
    daemon: &DaemonState,
    id: EpisodeId,
    fact: &Fact,
    about: &[Fact],
) -> Result<Option<BlameRow>, StoreError> {
    let store = daemon.engine.store().as_ref();
    let Some(episode) = store.episode(id)? else { return Ok(None) };
    let Some(session) = store.session(episode.session)? else { return Ok(None) };
    let origin = fact.origins.iter().find(|(one, _)| *one == id).map(|(_, origin)| *origin);
    let mut at = episode.ended_at.to_string();
    let mut message = None;
    if let Some(origin) = origin {
        let key = SourceKey { session: session.key, number: origin.source };
        message = graph::message_at(store, key, origin.line)?;
        let sent_at = message.map(|seq| store.messages(key, seq, 1)).transpose()?;
        let sent_at = sent_at.and_then(|messages| messages.first().and_then(|first| first.at));
        at = sent_at.map_or(at, |sent_at| sent_at.to_string());
    }
    let reasons =
        about.iter().filter(|one| !one.relation.repeats_history() && one.episodes.contains(&id));
    let reasons = reasons.map(|one| one.sentence.clone());
    let objective = Some(episode.summary.objective.clone());
    let objective = objective.filter(|text| !text.is_empty() && *text != episode.name);
    Ok(Some(BlameRow {
        session: convert::session_row(store, &session)?,
        at,
        change: fact.sentence.clone(),
        why: objective.into_iter().chain(reasons.take(MAX_REASONS)).collect(),
        lines: Vec::new(),
        source: origin.map_or(0, |origin| origin.source),
        message,
    }))
}

/// Returns the edits that change the file with these names and contain `text`, at most one of each
/// session. A name is compared only with the edits of sessions in its project directory, because
/// other directories may have files with the same name.
fn with_text(
    daemon: &DaemonState,
    names: &[FileName],
    text: &str,
    limit: usize,
) -> Result<Vec<BlameRow>, Error> {
    let now = clock::zoned();
    let phrase = text.replace('"', " ");
    let phrase = phrase.split_whitespace().take(MAX_WORDS).collect::<Vec<_>>().join(" ");
    if !phrase.contains(char::is_alphanumeric) {
        let what = "`text` must contain a word";
        return Err(Error::new(code::INVALID_PARAMS, what));
    }
    let mut query = Query::parse(&format!("\"{phrase}\""), &now);
    let keys: BTreeSet<&str> = names.iter().map(|name| name.key.as_str()).collect();
    for key in keys {
        query.require("file", key, &now);
    }
    let namespaces: BTreeSet<Namespace> = names.iter().map(|name| name.namespace).collect();
    let namespaces = Some(namespaces.into_iter().collect());
    let scope = Scope { namespaces, ..Scope::default() };
    let (now, weights) = (clock::now(), Weights::default());
    let request = RankRequest {
        query: &query,
        scope: &scope,
        now,
        limit: MAX_CANDIDATES,
        weights: &weights,
        second: None,
        session_filter: None,
    };
    let results = blocking::read(|| daemon.indexes.sessions.search(&request));
    let results = results.map_err(|error| Error::new(code::INTERNAL, error.to_string()))?;
    let mut edits: Vec<MatchingEdit> = Vec::new();
    for hit in &results.sessions {
        edits.extend(edit_of(daemon, hit, names, text).map_err(store_error)?);
    }
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.message.at));
    edits.truncate(limit);
    let rows = edits.into_iter().filter_map(|edit| edit.into_row(daemon).transpose());
    rows.collect::<Result<_, _>>().map_err(store_error)
}

/// An edit that contains the wanted text.
struct MatchingEdit {
    session: SessionKey,
    source: u32,
    message: Message,
    lines: Vec<String>,
}

impl MatchingEdit {
    /// Returns the row; `None` if the session was forgotten meanwhile.
    fn into_row(self, daemon: &DaemonState) -> Result<Option<BlameRow>, StoreError> {
        let store = daemon.engine.store().as_ref();
        let Some(session) = store.session(self.session)? else { return Ok(None) };
        let row = convert::session_row(store, &session)?;
        let objective = store.episode_of(&session)?.map(|episode| episode.summary.objective);
        let objective = objective.filter(|text| !text.is_empty() && *text != row.title);
        Ok(Some(BlameRow {
            why: objective.into_iter().collect(),
            session: row,
            at: convert::time(self.message.at),
            change: without_counts(self.message.text.lines().next().unwrap_or_default()).to_owned(),
            lines: self.lines,
            source: self.source,
            message: Some(self.message.seq),
        }))
    }
}

/// Removes the number of replaced lines from the first line of an edit. It includes equal lines, so
/// it differs from the number of changed lines that a list without `text` shows.
fn without_counts(edit: &str) -> &str {
    edit.rsplit_once(" (+")
        .filter(|(_, counts)| counts.ends_with(')'))
        .map_or(edit, |(head, _)| head)
}

/// Returns the first edit that changes one of these files and contains `text`. The best passages of
/// the session are inspected first.
fn edit_of(
    daemon: &DaemonState,
    hit: &SessionHit,
    names: &[FileName],
    text: &str,
) -> Result<Option<MatchingEdit>, StoreError> {
    let store = daemon.engine.store();
    let project = store.session(hit.session)?.and_then(|session| session.project);
    let namespace = project.as_ref().map(Project::namespace);
    let key_of = |path: &str| Graph::file_key(project.as_ref()?, path);
    let names = names.iter().filter(|name| Some(name.namespace) == namespace);
    let keys: Vec<&str> = names.map(|name| name.key.as_str()).collect();
    for passage in hit.passages.iter().take(MAX_PASSAGES) {
        let HitLocation::Message { source, seq } = passage.place else { continue };
        let key = SourceKey { session: hit.session, number: source };
        let Some(message) = store.messages(key, seq, 1)?.pop() else { continue };
        // Files of temporary folders have no key.
        let is_wanted = |path: &String| match key_of(path) {
            Some(key) => keys.contains(&key.as_str()),
            None => keys.iter().any(|key| is_path(path, key)),
        };
        if !message.files.iter().any(is_wanted) {
            continue;
        }
        let lines = edited_lines(&message, text);
        if !lines.is_empty() {
            return Ok(Some(MatchingEdit { session: hit.session, source, message, lines }));
        }
    }
    Ok(None)
}

/// Whether `path` is `file`, or ends with `/` and `file`.
fn is_path(path: &str, file: &str) -> bool {
    let path = path.replace('\\', "/");
    path.strip_suffix(file).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Returns the added lines of an edit that contain a text. If no added line contains the text,
/// returns the removed lines that contain it. Differences in white space are ignored.
fn edited_lines(message: &Message, text: &str) -> Vec<String> {
    let wanted = single_spaced(text);
    if message.role != Role::Tool {
        return Vec::new();
    }
    let with = |mark: char| -> Vec<String> {
        let lines = message.text.lines().skip(1).filter(|line| line.starts_with(mark));
        let lines = lines.filter(|line| single_spaced(&line[1..]).contains(&wanted));
        lines.take(MAX_LINES).map(|line| for_model(line).into_owned()).collect()
    };
    let added = with('+');
    if added.is_empty() { with('-') } else { added }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::Origin;

    #[test]
    fn an_edit_is_shown_without_the_number_of_replaced_lines() {
        for (edit, shown) in [
            ("Edit: src/a.rs (+11 -9)", "Edit: src/a.rs"),
            ("Edit: notes (+draft).md", "Edit: notes (+draft).md"),
            ("Edit: notes (+1 of 2).md (+1 -1)", "Edit: notes (+1 of 2).md"),
            ("Write: src/a.rs", "Write: src/a.rs"),
        ] {
            assert_eq!(without_counts(edit), shown);
        }
    }

    fn lines(role: Role, text: &str, wanted: &str) -> Vec<String> {
        let message = Message {
            seq: 1,
            origin: Origin::default(),
            uuid: None,
            role,
            at: None,
            text: text.to_owned(),
            tool: None,
            files: Vec::new(),
            branch: None,
        };
        edited_lines(&message, wanted)
    }

    #[test]
    fn added_lines_take_precedence_over_removed_lines() {
        let edit = "Edit: a.rs (+1 -1)\n-let a  = 1;\n+\tlet a = 1; // one";
        assert_eq!(lines(Role::Tool, edit, "let a = 1;"), ["+\tlet a = 1; // one"]);
        assert_eq!(lines(Role::Tool, edit, " let a  = 1; // one"), ["+\tlet a = 1; // one"]);
        let removed = "Edit: a.rs (+0 -1)\n-let a  = 1;";
        assert_eq!(lines(Role::Tool, removed, "let a = 1;"), ["-let a  = 1;"]);
        assert!(lines(Role::Tool, edit, "let b = 1;").is_empty());
        assert!(lines(Role::Agent, edit, "let a = 1;").is_empty());
        assert!(lines(Role::Tool, "+let a = 1;", "let a = 1;").is_empty());
    }

    #[test]
    fn a_file_matches_the_end_of_a_path() {
        for (path, file, is_it) in [
            ("/w/app/src/a.rs", "src/a.rs", true),
            (r"C:\app\src\a.rs", "src/a.rs", true),
            ("src/a.rs", "src/a.rs", true),
            ("/w/app/src/aa.rs", "a.rs", false),
            ("/w/app/src/a_test.rs", "src/a.rs", false),
        ] {
            assert_eq!(is_path(path, file), is_it, "{path}");
        }
    }
}
