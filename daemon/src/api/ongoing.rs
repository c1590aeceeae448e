//! Finds and describes the other active sessions in a project, because agents that work on the same
//! files should know of each other.

use graphiti_proto::tools::{SessionRow, get_handoff::OngoingSession};

use super::{convert, projects::is_of_project, tools::graph::message_at};
use crate::{
    engine::{
        Engine, EngineError,
        entities::Graph,
        episode::handoff::{self, HEAD},
    },
    model::{
        Message, Namespace, Project, Role, SessionKey,
        session::{Session, State},
    },
    store::{SourceKey, Store, StoreError},
};

/// Maximum number of sessions.
const MAX_SESSIONS: usize = 10;
/// Maximum number of messages that are read, from the start and from the end of a session.
const MAX_MESSAGES: usize = 1_000;
/// Maximum number of changed files of a session.
const MAX_FILES: usize = 8;

/// Returns the active sessions of a project without the session `except`, the latest active first.
/// Leaves out a session whose agent has just exited, even if the engine has not noticed the exit
/// yet.
pub(super) async fn sessions(
    engine: &Engine,
    projects: &[Namespace],
    except: Option<SessionKey>,
) -> Result<Vec<Session>, EngineError> {
    Ok(at_work(engine.live_with_agents().await?, projects, except))
}

/// Selects the active sessions of a project. Sub-agents need no filter, because they have no
/// sessions of their own.
fn at_work(
    mut live: Vec<Session>,
    projects: &[Namespace],
    except: Option<SessionKey>,
) -> Vec<Session> {
    live.retain(|session| {
        is_of_project(session, Some(projects))
            && Some(session.key) != except
            && matches!(session.state, State::Active)
            && session.content.is_some()
    });
    live.sort_by_key(|session| std::cmp::Reverse(session.last_activity));
    live.truncate(MAX_SESSIONS);
    live
}

/// Describes sessions by their prompts and by the files that they changed. Blocks.
pub(super) fn describe(
    store: &dyn Store,
    sessions: &[Session],
) -> Result<Vec<OngoingSession>, StoreError> {
    sessions.iter().map(|session| described(store, session)).collect()
}

fn described(store: &dyn Store, session: &Session) -> Result<OngoingSession, StoreError> {
    let source = SourceKey { session: session.key, number: 0 };
    let start = store.messages(source, 0, MAX_MESSAGES)?;
    let end = if start.len() < MAX_MESSAGES { Vec::new() } else { last_messages(store, source)? };
    let mut row: SessionRow = convert::session_row(store, session)?;
    row.title = handoff::line(&row.title);
    if let Some(episode) = &mut row.episode {
        episode.name = handoff::line(&episode.name);
        episode.branches.iter_mut().for_each(|branch| *branch = handoff::name(branch));
    }
    let is_prompt = |message: &&Message| message.role == Role::User;
    let first = start.iter().find(is_prompt);
    // There may be prompts between `start` and `end`.
    let last = if end.is_empty() { &start } else { &end }.iter().rfind(is_prompt);
    let last = last.filter(|last| first.is_some_and(|first| first.seq < last.seq));
    let asked = first.into_iter().chain(last).map(|message| handoff::line(&message.text));
    Ok(OngoingSession {
        session: row,
        asked: asked.filter(|text| !text.is_empty()).collect(),
        changed_files: changed_files(session.project.as_ref(), start.iter().chain(&end)),
    })
}

fn last_messages(store: &dyn Store, source: SourceKey) -> Result<Vec<Message>, StoreError> {
    let last = message_at(store, source, u64::MAX)?.unwrap_or_default();
    let before = u32::try_from(MAX_MESSAGES - 1).unwrap_or(u32::MAX);
    store.messages(source, last.saturating_sub(before), MAX_MESSAGES)
}

/// Returns the files whose lines were changed in these messages, the latest first.
fn changed_files<'m>(
    project: Option<&Project>,
    messages: impl DoubleEndedIterator<Item = &'m Message>,
) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for message in messages.rev().filter(|message| message.edits_files()) {
        for path in &message.files {
            let key = project.and_then(|project| Graph::file_key(project, path));
            let name = handoff::name(key.as_deref().unwrap_or(path));
            if files.len() < MAX_FILES && !files.contains(&name) {
                files.push(name);
            }
        }
    }
    files
}

/// Formats the sessions for an agent that starts in the project; `None` if there are no sessions,
/// or if no session fits into `limit` characters. If only some sessions fit, the text ends with the
/// number of the other sessions. With `follows_handoff`, the text does not begin with [`HEAD`],
/// because the handoff before it does.
pub(super) fn text(
    sessions: &[OngoingSession],
    follows_handoff: bool,
    limit: usize,
) -> Option<String> {
    let head = if follows_handoff { String::new() } else { format!("{HEAD}\n\n") };
    let mut text = format!("{head}Also at work in this project now:");
    let note = |others: usize| match others {
        0 => String::new(),
        others => format!("\n- and {others} more"),
    };
    let mut others = sessions.len();
    for session in sessions {
        let line = format!("\n- {}", session.description());
        let length = [&text, &line, &note(others - 1)].map(|part| part.chars().count());
        if length.iter().sum::<usize>() > limit {
            break;
        }
        text.push_str(&line);
        others -= 1;
    }
    (others < sessions.len()).then(|| text + &note(others))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        model::{Timestamp, transcript::Origin},
        store::{Write, contract, sled::SledStore},
    };

    fn message(role: Role, text: &str, file: &str) -> Message {
        Message {
            seq: 0,
            origin: Origin::default(),
            uuid: None,
            role,
            at: None,
            text: text.to_owned(),
            tool: None,
            files: vec![file.to_owned()],
            branch: None,
        }
    }

    #[test]
    fn only_active_sessions_of_the_project_are_at_work_and_the_latest_is_first() {
        let project = Project::new("/app");
        let session = |number: u64, change: &dyn Fn(&mut Session)| {
            let mut session = contract::session(SessionKey(number), &format!("aaaa-{number}"));
            session.project = Some(project.clone());
            session.state = State::Active;
            session.last_activity = Timestamp::from_seconds(1_000 + i64::try_from(number).unwrap());
            change(&mut session);
            session
        };
        let live = vec![
            session(1, &|_| {}),
            session(2, &|_| {}),
            session(3, &|session| session.state = State::Inactive),
            session(4, &|session| session.state = State::Indexed),
            session(5, &|session| session.project = Some(Project::new("/home/ada/other"))),
            session(6, &|session| session.content = None),
            session(7, &|_| {}),
        ];
        let found = at_work(live, &[project.namespace()], Some(SessionKey(7)));
        let keys: Vec<u64> = found.iter().map(|session| session.key.0).collect();
        assert_eq!(keys, [2, 1]);
    }

    #[test]
    fn files_with_changed_lines_are_listed_once_and_the_latest_first() {
        let project = Project::new("/app");
        let messages = [
            message(Role::Tool, "Edit: web.py (+1 -1)\n-a\n+b", "/app/web.py"),
            message(Role::Tool, "Read: api.py\nx", "/app/api.py"),
            message(Role::Tool, "Read: config.yml\nservers:\n- one\n- two", "/app/config.yml"),
            message(Role::Tool, "Write: src/new.py (+1)\n+c", "/app/src/new.py"),
            message(Role::Tool, "Edit: web.py (+1 -1)\n-b\n+c", "/app/web.py"),
        ];
        assert_eq!(changed_files(Some(&project), messages.iter()), ["web.py", "src/new.py"]);
    }

    #[test]
    fn a_long_session_is_described_by_its_first_and_last_prompts_and_its_latest_files() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(folder.path()).unwrap();
        let session = contract::session(SessionKey(1), "aaaa-1");
        let edit = |file: &str| message(Role::Tool, "Edit: it (+1 -1)\n-a\n+b", file);
        let mut messages =
            vec![message(Role::User, "Move the server", ""), edit("/home/ann/app/early.py")];
        messages.resize(2 * MAX_MESSAGES, message(Role::Agent, "Done.", ""));
        messages.push(edit("/home/ann/app/late.py"));
        let describe = |mut messages: Vec<Message>| {
            for (seq, message) in (0..).zip(&mut messages) {
                (message.seq, message.origin.line) = (seq, u64::from(seq));
            }
            let source = SourceKey { session: session.key, number: 0 };
            let writes = vec![
                Write::Session(Box::new(session.clone())),
                Write::Messages { source, messages },
            ];
            store.write(writes).wait().unwrap();
            let described = described(&store, &session).unwrap();
            (described.asked, described.changed_files)
        };
        let (asked, files) = describe(messages.clone());
        assert_eq!(asked, ["Move the server"]);
        assert_eq!(files, ["late.py", "early.py"]);
        messages.push(message(Role::User, "Now test it", ""));
        let (asked, files) = describe(messages);
        assert_eq!(asked, ["Move the server", "Now test it"]);
        assert_eq!(files, ["late.py", "early.py"]);
    }

    #[test]
    fn a_session_is_described_by_its_agent_its_requests_and_its_files() {
        let session = OngoingSession {
            session: SessionRow {
                session_id: "eeef0002-1111".to_owned(),
                short_id: "eeef0002".to_owned(),
                agent: "claude".to_owned(),
                started_at: "2026-11-27T18:56:01.000000Z".to_owned(),
                last_activity: "2026-11-27T18:58:00.000000Z".to_owned(),
                ..SessionRow::default()
            },
            asked: vec!["Move the server".to_owned(), "Now test it".to_owned()],
            changed_files: vec!["web.py".to_owned()],
        };
        let wanted = "claude `eeef0002`, since 2026-11-27 18:56 UTC, last active 18:58, asked \
                      “Move the server”, and last “Now test it”; changes `web.py`";
        assert_eq!(session.description(), wanted);
        let only = text(std::slice::from_ref(&session), true, 1_000).unwrap();
        assert_eq!(only, format!("Also at work in this project now:\n- {wanted}"));
        assert_eq!(text(&[], true, 1_000), None);
        // The limit is kept.
        let sessions = [session.clone(), session.clone(), session];
        let length = only.chars().count();
        assert_eq!(text(&sessions, true, length), None);
        let shortened = text(&sessions, true, length + 20).unwrap();
        assert_eq!(shortened, format!("{only}\n- and 2 more"));
    }
}
