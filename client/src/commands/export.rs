//! `graphiti export`: writes the summaries and session states of one project or of all projects,
//! all classifications of tools, and all corrections of facts to files.

use std::{collections::BTreeSet, fs, io, path::Path};

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
    // Last, so that an export that fails removes nothing.
    let removed = remove_other_episodes(&folder, &episodes).map_err(failed)?;
    screen.print(format!(
        "{}, {}, the classifications of tools and the corrections of facts were written to {}.",
        super::counted(episodes.len() as u64, "episode", "episodes"),
        super::counted(sessions.len() as u64, "session state", "session states"),
        folder.display()
    ));
    if removed > 0 {
        let (files, were) = match removed {
            1 => ("file", "was"),
            _ => ("files", "were"),
        };
        screen.print(format!(
            "{removed} {files} of earlier exports {were} removed from {}, because this export does not contain \
             these episodes.",
            folder.join(EPISODES).display()
        ));
    }
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

/// Removes the files of other episodes, which earlier exports wrote, and returns their number. An
/// import of the folder would restore what was forgotten since then.
fn remove_other_episodes(folder: &Path, episodes: &[PortableEpisode]) -> io::Result<usize> {
    // An empty memory, for example one of another home, must not remove a backup.
    if episodes.is_empty() {
        return Ok(0);
    }
    let names: BTreeSet<String> =
        episodes.iter().map(|one| format!("{}.md", one.episode.uuid)).collect();
    let files = match fs::read_dir(folder.join(EPISODES)) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut removed = 0;
    for file in files {
        let file = file?;
        let name = file.file_name();
        if name.to_str().is_some_and(|name| is_episode_file(name) && !names.contains(name)) {
            fs::remove_file(file.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Whether a file of this name was written by an export: a UUID and `.md`.
fn is_episode_file(name: &str) -> bool {
    let groups = name.strip_suffix(".md").map(|id| id.split('-').map(str::len));
    groups.is_some_and(|groups| groups.eq([8, 4, 4, 4, 12]))
        && name.bytes().take(36).all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_removes_the_episodes_that_it_does_not_contain() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, forgotten) =
            ("01890a5d-ac96-7b5c-8a1e-000000000001", "01890a5d-ac96-7b5c-8a1e-000000000002");
        let episodes = folder.path().join(EPISODES);
        fs::create_dir_all(&episodes).unwrap();
        let write = |name: &str| fs::write(episodes.join(name), "text").unwrap();
        write(&format!("{forgotten}.md"));
        write("README.md");
        write("01890a5d-ac96-7b5c-8a1e.md");
        let mut episode = PortableEpisode::default();
        episode.episode.uuid = kept.to_owned();
        let exported = [episode];
        write_markdown(folder.path(), &exported).unwrap();
        let names = || {
            let files = fs::read_dir(&episodes).unwrap();
            let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
            names.collect::<BTreeSet<String>>()
        };
        assert_eq!(names().len(), 4, "the new files are written before others are removed");
        assert_eq!(remove_other_episodes(folder.path(), &exported).unwrap(), 1);
        let others = ["README.md", "01890a5d-ac96-7b5c-8a1e.md"].map(str::to_owned);
        assert_eq!(names(), [&[format!("{kept}.md")][..], &others].concat().into_iter().collect());
        fs::remove_dir_all(&episodes).unwrap();
        assert_eq!(remove_other_episodes(folder.path(), &exported).unwrap(), 0);
    }
}
