//! `graphiti resume`: starts the agent of a session in the session's directory.

use std::{
    io::{self, IsTerminal},
    process::Command,
};

use graphiti_proto::tools::{
    Detail, SessionRow,
    get_handoff::{self, GetHandoffAnswer, GetHandoffArguments},
    get_session::{self, FileRow, GetSessionAnswer, GetSessionArguments},
    search_sessions::{self, SearchSessionsAnswer, SearchSessionsArguments},
};
use serde_json::{Value, json};

use super::{
    search::finder::{self, FinderPurpose},
    setup::ask_yes_no,
};
use crate::{
    cli,
    connection::{AskError, Connection},
    screen::{Screen, line},
    setup::{self, AgentCommand},
};

/// Minimum length, in bytes, of a word that is looked up as the beginning of an id.
const SHORTEST_ID: usize = 4;
/// The beginning of the daemon's message about an unknown id.
const UNKNOWN_ID: &str = "no session id begins with ";
/// Maximum number of sessions to choose from.
const CHOICES: usize = 20;

pub(super) fn run(args: cli::Resume, screen: &Screen) -> Result<(), AskError> {
    let (is_json, is_print) = (args.output.json, args.print);
    let session = match find(args, screen)? {
        ResumeTarget::Session(session) => *session,
        ResumeTarget::Choose(request) => return choose(*request, is_print, screen),
    };
    if !is_json && !is_print {
        return launch(&session, screen);
    }
    let way = ResumePlan::of(&session)?;
    match (is_json, &way) {
        (true, _) => screen.print_json(&way.to_json(&session)),
        (false, ResumePlan::Resume(command)) => screen.print(command),
        (false, ResumePlan::Restart { command, cause }) => {
            return Err(AskError::Failed(refusal(command, cause)));
        }
    }
    Ok(())
}

/// Lets the user choose a session on the terminal.
fn choose(
    request: SearchSessionsArguments,
    is_print: bool,
    screen: &Screen,
) -> Result<(), AskError> {
    let mut choice = ResumeChoice::default();
    let mut prepare = |session: &SessionRow| match is_print {
        true => match ResumePlan::of(session).map_err(|error| error.to_string())? {
            ResumePlan::Resume(command) => Ok(command),
            ResumePlan::Restart { command, cause } => Err(reason(&command, cause)),
        },
        false => choice.command(session),
    };
    match finder::run(request, FinderPurpose::Resume, &mut prepare, screen)? {
        None => Ok(()),
        Some(command) if is_print => {
            screen.print(command);
            Ok(())
        }
        Some(command) => execute(&command),
    }
}

/// The choice of a session in a list. If a session has no transcript of its own, a second choice of
/// this session starts its agent with the handoff.
#[derive(Default)]
pub(super) struct ResumeChoice {
    /// The session for which the last message reported a missing transcript.
    reported: Option<String>,
}

impl ResumeChoice {
    /// Returns the command for a session that was chosen, or a message for the user if there is no
    /// command.
    pub(super) fn command(&mut self, session: &SessionRow) -> Result<AgentCommand, String> {
        let program = match ResumePlan::of(session).map_err(|error| error.to_string())? {
            ResumePlan::Resume(command) => return Ok(command),
            ResumePlan::Restart { command, .. } => command.program,
        };
        if self.reported.as_ref() == Some(&session.session_id) {
            return with_handoff(session).map_err(|error| error.to_string());
        }
        self.reported = Some(session.session_id.clone());
        Err(format!(
            "Its transcript is missing; choose it again to start {program} with the handoff"
        ))
    }
}

/// Resumes a session in place of this program. If the session has no transcript, offers to start
/// the agent with the handoff of the project.
fn launch(session: &SessionRow, screen: &Screen) -> Result<(), AskError> {
    let (restart, cause) = match ResumePlan::of(session)? {
        ResumePlan::Resume(command) => return execute(&command),
        ResumePlan::Restart { command, cause } => (command, cause),
    };
    if !screen.is_terminal() || !io::stdin().is_terminal() {
        return Err(AskError::Failed(refusal(&restart, cause)));
    }
    screen.print(reason(&restart, cause));
    let program = restart.program;
    if !ask_yes_no(&format!("Start {program} with the handoff as its first prompt?"))? {
        screen.print(format!("You can do it later with: {}", restart_command_line(&restart)));
        return Ok(());
    }
    execute(&with_handoff(session)?)
}

/// Returns the command that starts the agent of a session with the handoff of its project.
fn with_handoff(session: &SessionRow) -> Result<AgentCommand, AskError> {
    let arguments = GetHandoffArguments {
        project: Some(session.project.clone()),
        ..GetHandoffArguments::default()
    };
    let handoff: GetHandoffAnswer = Connection::open()?.call(get_handoff::NAME, &arguments)?;
    let prompt = format!("{}\n\n{}", introduction(session), handoff.text);
    setup::start(session, prompt.trim_end()).map_err(AskError::InvalidInput)
}

/// How the work of a session can be continued.
enum ResumePlan {
    /// The agent of the session resumes it.
    Resume(AgentCommand),
    /// The agent cannot resume the session. It starts with a first prompt.
    Restart { command: AgentCommand, cause: &'static str },
}

impl ResumePlan {
    fn of(session: &SessionRow) -> Result<ResumePlan, AskError> {
        let command = setup::resume(session).map_err(AskError::InvalidInput)?;
        if !command.directory.is_dir() {
            let what = match line(&session.project) {
                unknown if unknown.is_empty() => {
                    "the directory of this session is not known".to_owned()
                }
                directory => {
                    format!("the directory of this session does not exist here: {directory}")
                }
            };
            return Err(AskError::InvalidInput(what));
        }
        let Some(cause) = missing_transcript(&files_of(session)?) else {
            return Ok(ResumePlan::Resume(command));
        };
        let command =
            setup::start(session, &introduction(session)).map_err(AskError::InvalidInput)?;
        Ok(ResumePlan::Restart { command, cause })
    }

    fn to_json(&self, session: &SessionRow) -> Value {
        let (command, shell_line, is_resumable) = match self {
            ResumePlan::Resume(command) => (command, command.to_string(), true),
            ResumePlan::Restart { command, .. } => (command, restart_command_line(command), false),
        };
        json!({
            "session": session,
            "resumable": is_resumable,
            "program": command.program,
            "arguments": command.arguments,
            "directory": command.directory,
            "command": shell_line,
        })
    }
}

fn files_of(session: &SessionRow) -> Result<Vec<FileRow>, AskError> {
    let arguments = GetSessionArguments {
        session_id: Some(session.session_id.clone()),
        detail: Detail::Ids,
        ..GetSessionArguments::default()
    };
    let answer: GetSessionAnswer = Connection::open()?.call(get_session::NAME, &arguments)?;
    Ok(answer.files)
}

/// Returns why the agent cannot read the transcript of a session with these files; `None` if the
/// session's own file exists.
fn missing_transcript(files: &[FileRow]) -> Option<&'static str> {
    let exists =
        |is_own: bool| files.iter().any(|file| file.exists && file.sub_agent.is_none() == is_own);
    match (exists(true), exists(false)) {
        (true, _) => None,
        _ if files.is_empty() => Some("the transcript of this session is not on this machine"),
        (false, true) => Some("only the transcript of a sub-agent of this session exists"),
        (false, false) => Some("the transcript of this session is gone"),
    }
}

fn introduction(session: &SessionRow) -> String {
    let id = line(session.shown_id());
    format!("Continue the work of session {id}; `graphiti show {id}` prints its summary.")
}

fn reason(restart: &AgentCommand, cause: &str) -> String {
    format!("{} cannot resume the session: {cause}.", restart.program)
}

fn refusal(restart: &AgentCommand, cause: &str) -> String {
    let program = restart.program;
    let command = restart_command_line(restart);
    format!(
        "{cause}, so {program} cannot resume it\nStart {program} with the handoff instead: {command}"
    )
}

/// Formats the shell command that starts the agent with the handoff. Double quotes are safe,
/// because the session id in it consists of letters, digits and `-_.` (`setup::resume`).
fn restart_command_line(restart: &AgentCommand) -> String {
    let introduction = restart.arguments.last().map(|prompt| prompt.replace('`', ""));
    let introduction = introduction.unwrap_or_default();
    restart.with_last_argument(&format!("\"{introduction} $(graphiti handoff)\""))
}

/// The session or the search that the arguments specify.
enum ResumeTarget {
    Session(Box<SessionRow>),
    /// The user has to choose among the results of a search.
    Choose(Box<SearchSessionsArguments>),
}

fn find(args: cli::Resume, screen: &Screen) -> Result<ResumeTarget, AskError> {
    let can_choose = screen.is_terminal() && io::stdin().is_terminal() && !args.output.json;
    let request = SearchSessionsArguments {
        query: args.words.join(" "),
        project: super::project(args.project),
        agent: args.agent,
        limit: Some(CHOICES),
        ..SearchSessionsArguments::default()
    };
    if let [word] = args.words.as_slice()
        && word.len() >= SHORTEST_ID
        && let Some(session) = find_by_id(word)?
    {
        return Ok(ResumeTarget::Session(Box::new(session)));
    }
    if request.query.is_empty() && !can_choose {
        let what = "no session given: run `graphiti resume WORDS`, or run `graphiti resume` on a terminal to choose one";
        return Err(AskError::InvalidInput(what.to_owned()));
    }
    let mut sessions: Vec<SessionRow> = Vec::new();
    if !request.query.is_empty() {
        let answer: SearchSessionsAnswer =
            Connection::open()?.call(search_sessions::NAME, &request)?;
        sessions = answer.hits.into_iter().map(|hit| hit.session).collect();
        if sessions.is_empty() {
            let what = format!("no session matches `{}`; `graphiti list` shows all", request.query);
            return Err(AskError::InvalidInput(what));
        }
    }
    match sessions.as_slice() {
        [session] => Ok(ResumeTarget::Session(Box::new(session.clone()))),
        _ if can_choose => Ok(ResumeTarget::Choose(Box::new(request))),
        _ => Err(ambiguous(&sessions)),
    }
}

/// Returns the session whose id begins with `word`. Fails if several ids begin with `word`.
fn find_by_id(word: &str) -> Result<Option<SessionRow>, AskError> {
    let arguments = GetSessionArguments {
        session_id: Some(word.to_owned()),
        detail: Detail::Ids,
        ..GetSessionArguments::default()
    };
    match Connection::open()?.call::<GetSessionAnswer>(get_session::NAME, &arguments) {
        Ok(answer) => Ok(Some(answer.session)),
        Err(error) if is_unknown_id(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether no id begins with the given word, so that it is a word to search for. The result of a
/// failed tool has no code, so the message decides.
fn is_unknown_id(error: &AskError) -> bool {
    matches!(error, AskError::Tool { message, .. } if message.starts_with(UNKNOWN_ID))
}

fn ambiguous(sessions: &[SessionRow]) -> AskError {
    // `Screen::complain` prints the members `state` and `project`. Programs may read them, too,
    // because older versions wrote no `agent` and `title`.
    let candidate = |session: &SessionRow| {
        let SessionRow { agent, title, .. } = session;
        json!({
            "session_id": session.shown_id(), "agent": agent, "title": title,
            "state": agent, "project": title,
        })
    };
    let candidates: Vec<Value> = sessions.iter().map(candidate).collect();
    AskError::Tool {
        message: format!("{} sessions match: give the id of one of them", sessions.len()),
        details: json!({ "candidates": candidates }),
    }
}

/// Runs a command in place of this program where the system can do that.
pub(super) fn execute(command: &AgentCommand) -> Result<(), AskError> {
    let mut program = Command::new(command.program);
    program.args(&command.arguments).current_dir(&command.directory);
    #[cfg(unix)]
    let error = std::os::unix::process::CommandExt::exec(&mut program);
    #[cfg(not(unix))]
    let error = match program.status() {
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    Err(AskError::Failed(format!(
        "cannot run {}: {error}\nRun it yourself: {command}",
        command.program
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unknown_id_is_a_word_to_search_for() {
        let error = |message: &str| AskError::Tool {
            message: message.to_owned(),
            details: json!({ "status": "error", "error": message }),
        };
        let unknown = error(
            "no session id begins with `pool`, and no episode has this id; `graphiti list` shows the sessions",
        );
        assert!(is_unknown_id(&unknown));
        let several = AskError::Tool {
            message: "2 sessions have ids that begin with `3f2a`: give the id of one".to_owned(),
            details: json!({ "candidates": [] }),
        };
        for other in [
            several,
            error("the record of the session 7 is damaged"),
            error("graphitid is stopping"),
            AskError::NoAnswer(None),
        ] {
            assert!(!is_unknown_id(&other), "{other}");
        }
    }

    #[test]
    fn a_session_with_only_the_transcript_of_a_sub_agent_is_not_reported_as_deleted() {
        let file = |sub_agent: Option<&str>, exists: bool| FileRow {
            sub_agent: sub_agent.map(str::to_owned),
            exists,
            ..FileRow::default()
        };
        let cause = |files: &[FileRow]| missing_transcript(files).unwrap_or_default();
        assert_eq!(cause(&[file(None, true), file(Some("review"), false)]), "");
        let of_sub_agent = "only the transcript of a sub-agent of this session exists";
        assert_eq!(cause(&[file(Some("review"), true)]), of_sub_agent);
        assert_eq!(cause(&[file(None, false), file(Some("review"), true)]), of_sub_agent);
        let gone = "the transcript of this session is gone";
        assert_eq!(cause(&[file(Some("review"), false)]), gone);
        assert_eq!(cause(&[]), "the transcript of this session is not on this machine");
    }

    #[test]
    fn candidates_name_their_agent_and_title() {
        let session = SessionRow {
            session_id: "aaaa-1".to_owned(),
            agent: "codex".to_owned(),
            title: "Fix the login".to_owned(),
            ..SessionRow::default()
        };
        let error = ambiguous(&[session]);
        let candidate = &error.details()["candidates"][0];
        assert_eq!(candidate["agent"], "codex");
        assert_eq!(candidate["title"], "Fix the login");
    }
}
