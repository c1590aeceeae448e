//! `graphiti export`: writes the summaries and session states of one project or of all projects,
//! all classifications of tools, and all corrections of facts to files.

use std::{fs, io, path::Path};

use graphiti_proto::{
    files,
    methods::{
        corrections::{CORRECTIONS, CorrectionsAnswer, CorrectionsRequest},
        models::{TOOLS, ToolKnowledge, Tools},
        transfer::{
            self, EXPORT, ExportPage, PortableEpisode, SESSIONS, SessionPage, SessionPageRequest,
        },
    },
    tools::SessionRow,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    cli::{self, ExportFormat},
    connection::{AskError, Connection},
    screen::Screen,
};

pub(super) const EPISODES: &str = "episodes";
pub(super) const EPISODE_LINES: &str = "episodes.jsonl";
pub(super) const STATES: &str = "session_states.json";
pub(super) const CORRECTIONS_FILE: &str = "fact_corrections.json";
pub(super) const CLASSIFICATIONS: &str = "tool_classifications.json";

pub(super) fn run(args: cli::ExportOptions, screen: &Screen) -> Result<(), AskError> {
    let folder = args.folder;
    let failed = |error: io::Error| AskError::NotWritten { path: folder.clone(), error };
    fs::create_dir_all(&folder).map_err(failed)?;
    let mut connection = Connection::open_for_work()?;
    let project = super::project(args.project);
    let episodes = episodes(&mut connection, project.as_deref())?;
    write_lines(&folder, &episodes).map_err(failed)?;
    if args.format == ExportFormat::Markdown {
        write_markdown(&folder, &episodes).map_err(failed)?;
    }
    let sessions = sessions(&mut connection, project)?;
    write_json(&folder.join(STATES), &states(&sessions)).map_err(failed)?;
    let classifications: ToolKnowledge = connection.ask(TOOLS, &Tools::Export)?;
    let classifications = classifications.document.unwrap_or_default();
    write_json(&folder.join(CLASSIFICATIONS), &classifications).map_err(failed)?;
    let corrections: CorrectionsAnswer =
        connection.ask(CORRECTIONS, &CorrectionsRequest::default())?;
    write_json(&folder.join(CORRECTIONS_FILE), &corrections.corrections).map_err(failed)?;
    screen.print(format!(
        "{}, {}, the classifications of tools and the corrections of facts were written to {}.",
        super::counted(episodes.len() as u64, "episode", "episodes"),
        super::counted(sessions.len() as u64, "session state", "session states"),
        folder.display()
    ));
    screen.print("Import them on another machine with: graphiti import <folder>");
    Ok(())
}

pub(super) fn episodes(
    connection: &mut Connection,
    project: Option<&str>,
) -> Result<Vec<PortableEpisode>, AskError> {
    let mut arguments = transfer::ExportRequest {
        project: project.map(str::to_owned),
        ..transfer::ExportRequest::default()
    };
    let mut episodes = Vec::new();
    loop {
        let page: ExportPage = connection.ask(EXPORT, &arguments)?;
        episodes.extend(page.episodes);
        if page.next.is_none() {
            return Ok(episodes);
        }
        arguments.before = page.next;
    }
}

pub(super) fn sessions(
    connection: &mut Connection,
    project: Option<String>,
) -> Result<Vec<SessionRow>, AskError> {
    let mut request = SessionPageRequest { project, cursor: None };
    let mut sessions = Vec::new();
    loop {
        let page: SessionPage = connection.ask(SESSIONS, &request)?;
        sessions.extend(page.sessions);
        if page.next.is_none() {
            return Ok(sessions);
        }
        request.cursor = page.next;
    }
}

fn write_json(file: &Path, value: &impl Serialize) -> io::Result<()> {
    files::replace(file, &serde_json::to_vec_pretty(value)?)
}

/// Writes one file for each episode, named by its UUID. The UUID begins with the time at which the
/// session ended, so the files sort by time.
fn write_markdown(folder: &Path, episodes: &[PortableEpisode]) -> io::Result<()> {
    let folder = folder.join(EPISODES);
    fs::create_dir_all(&folder)?;
    episodes.iter().try_for_each(|PortableEpisode { episode, .. }| {
        files::replace(&folder.join(format!("{}.md", episode.uuid)), episode.content.as_bytes())
    })
}

fn write_lines(folder: &Path, episodes: &[PortableEpisode]) -> io::Result<()> {
    let mut lines = Vec::new();
    for episode in episodes {
        serde_json::to_writer(&mut lines, episode)?;
        lines.push(b'\n');
    }
    files::replace(&folder.join(EPISODE_LINES), &lines)
}

/// Converts the sessions to `session_states.json`, in the format of the original Graphiti.
fn states(sessions: &[SessionRow]) -> Value {
    let state = |session: &SessionRow| {
        json!({
            "session_id": session.session_id,
            "file_path": session.file_path,
            "project_namespace": session.project_namespace,
            "state": session.state,
            "content_hash": content_hash(session),
            "last_indexed_at": session.indexed_at,
            "episode_uuid": session.episode.as_ref().map(|episode| &episode.uuid),
            "last_activity": session.last_activity,
            "message_count": session.message_count,
        })
    };
    let states: Map<String, Value> =
        sessions.iter().map(|session| (session.session_id.clone(), state(session))).collect();
    Value::Object(states)
}

/// Returns the first sixteen hex digits of the content hash, as the original Graphiti requires.
fn content_hash(session: &SessionRow) -> Option<&str> {
    session.content_hash.get(..16)
}
