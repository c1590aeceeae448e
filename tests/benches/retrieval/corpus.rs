//! Real transcripts as sessions, with the questions of `questions.tsv`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use graphitid::{
    capture::format::{FORMATS, Format, Memory},
    model::{
        Role,
        transcript::{Action, Entry, Item, Outcome},
    },
};
use jiff::{civil::date, tz::TimeZone};

use crate::sessions::{Question, Session, Set};

/// The corpus below `folder` with its questions.
pub fn load(folder: &Path) -> Set {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let mut sessions: BTreeMap<String, Session> = BTreeMap::new();
    let mut subordinate = Vec::new();
    for file in files {
        let Some((format, identity)) = identify(&file) else { continue };
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap_or_default()).into_owned();
        let project = file.parent().unwrap_or(Path::new("")).display().to_string();
        match identity.sub_agent {
            Some(_) => subordinate.push((identity.session, format, text)),
            None => {
                let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let agent = format.agent().to_owned();
                let session = Session { name: name.clone(), agent, project, messages: Vec::new() };
                let session = sessions.entry(name).or_insert(session);
                read(format, &text, session);
            }
        }
    }
    for (parent, format, text) in subordinate {
        let found = sessions.iter_mut().find(|(name, _)| name.ends_with(&parent));
        if let Some((_, session)) = found {
            read(format, &text, session);
        }
    }
    let sessions: Vec<Session> =
        sessions.into_values().filter(|session| !session.messages.is_empty()).collect();
    Set {
        name: "corpus",
        questions: questions(&sessions),
        sessions,
        now: date(2026, 5, 1).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).expect("a usual date"),
    }
}

fn questions(sessions: &[Session]) -> Vec<Question> {
    let mut questions = Vec::new();
    for line in include_str!("questions.tsv").lines() {
        let Some((text, answers)) = line.split_once('\t') else { continue };
        let answers: Vec<String> = answers
            .split(',')
            .filter(|answer| sessions.iter().any(|session| session.name == *answer))
            .map(str::to_owned)
            .collect();
        if !answers.is_empty() {
            questions.push(Question { text: text.to_owned(), answers });
        }
    }
    questions
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

fn identify(file: &Path) -> Option<(&'static dyn Format, graphitid::capture::format::Identity)> {
    let format = FORMATS.iter().find(|format| format.claims(file))?;
    let text = String::from_utf8_lossy(&fs::read(file).ok()?).into_owned();
    let head = &text[..text.floor_char_boundary(64 * 1024)];
    Some((*format, format.identify(file, head)?))
}

fn read(format: &dyn Format, text: &str, session: &mut Session) {
    let mut memory = Memory::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let _ = format.read(line, &mut memory, &mut |entry| say(session, entry));
    }
    if !memory.cwd.is_empty() {
        session.project = memory.cwd;
    }
}

/// What a usual filter keeps: words whole, calls by what they do, results by their beginning.
fn say(session: &mut Session, entry: Entry<'_>) {
    let at = entry.at;
    match entry.item {
        Item::Prompt(text) => drop(session.say(Role::User, at, text.into_owned())),
        Item::Command { name, args } => drop(session.say(Role::User, at, format!("{name} {args}"))),
        Item::Instruction(text) => drop(session.say(Role::Agent, at, text.into_owned())),
        Item::Reply { text, .. } => drop(session.say(Role::Agent, at, text.into_owned())),
        Item::Answer { question, answer, .. } => {
            session.say(Role::User, at, format!("{question} {answer}"));
        }
        Item::Recap { text, .. } => drop(session.say(Role::Recap, at, text.into_owned())),
        Item::Call(call) => {
            let (text, files) = describe(&call.action);
            let message = session.say(Role::Tool, at, format!("{}: {text}", call.tool));
            message.tool = Some(call.tool.into_owned());
            message.files = files;
        }
        Item::Result(result) => {
            let limit = if result.outcome == Outcome::Succeeded { 300 } else { 800 };
            let text = result.content.decode(limit).into_owned();
            session.say(Role::Tool, at, text);
        }
        _ => {}
    }
}

fn describe(action: &Action) -> (String, Vec<String>) {
    match action {
        Action::Run { command, purpose } => {
            let cut = &command[..command.floor_char_boundary(400)];
            (format!("{} {cut}", purpose.as_deref().unwrap_or_default()), Vec::new())
        }
        Action::Read { path } => (path.clone(), vec![path.clone()]),
        Action::Change(changes) => {
            let files: Vec<String> = changes.iter().map(|change| change.path.clone()).collect();
            (files.join(" "), files)
        }
        Action::Search { pattern, path } => {
            (format!("{pattern} {}", path.as_deref().unwrap_or_default()), Vec::new())
        }
        Action::Fetch { what } => (what.clone(), Vec::new()),
        Action::PlanTasks(tasks) => {
            let subjects: Vec<&str> = tasks.iter().map(|task| task.subject.as_str()).collect();
            (subjects.join("\n"), Vec::new())
        }
        Action::AddTask { subject } | Action::Delegate { subject, .. } => {
            (subject.clone(), Vec::new())
        }
        Action::ProposePlan { plan } => (plan.clone(), Vec::new()),
        Action::Ask(questions) => {
            let asked: Vec<&str> = questions.iter().map(|one| one.question.as_str()).collect();
            (asked.join("\n"), Vec::new())
        }
        Action::UpdateTask { .. } | Action::Other => (String::new(), Vec::new()),
    }
}
