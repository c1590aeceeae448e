//! Reads real transcripts as sessions, with the questions of `questions.tsv`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use graphitid::capture::{
    filter::{Filter, PendingCalls},
    format::{FORMATS, Format, Identity, Memory},
};
use jiff::{civil::date, tz::TimeZone};

use crate::sessions::{LabelledQuestion, QuestionSet, SearchedSession};

/// Returns the corpus below `folder` with its questions.
pub(crate) fn load(folder: &Path) -> QuestionSet {
    let mut files = Vec::new();
    collect(folder, &mut files);
    files.sort();
    let mut sessions: BTreeMap<String, SearchedSession> = BTreeMap::new();
    let mut sub_agents = Vec::new();
    for file in files {
        let Some((format, identity)) = identify(&file) else { continue };
        let text = String::from_utf8_lossy(&fs::read(&file).unwrap_or_default()).into_owned();
        let project = file.parent().unwrap_or(Path::new("")).display().to_string();
        match identity.sub_agent {
            Some(_) => sub_agents.push((identity.session, format, text)),
            None => {
                let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let agent = format.agent().to_owned();
                let session =
                    SearchedSession { name: name.clone(), agent, project, messages: Vec::new() };
                let session = sessions.entry(name).or_insert(session);
                read(format, &text, session);
            }
        }
    }
    for (parent, format, text) in sub_agents {
        let found = sessions.iter_mut().find(|(name, _)| name.ends_with(&parent));
        if let Some((_, session)) = found {
            read(format, &text, session);
        }
    }
    let sessions: Vec<SearchedSession> =
        sessions.into_values().filter(|session| !session.messages.is_empty()).collect();
    QuestionSet {
        name: "corpus",
        questions: questions(&sessions),
        sessions,
        now: date(2026, 5, 1).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).expect("a valid date"),
    }
}

fn questions(sessions: &[SearchedSession]) -> Vec<LabelledQuestion> {
    let mut questions = Vec::new();
    for line in include_str!("questions.tsv").lines() {
        let Some((text, answers)) = line.split_once('\t') else { continue };
        let answers: Vec<String> = answers
            .split(',')
            .filter(|answer| sessions.iter().any(|session| session.name == *answer))
            .map(str::to_owned)
            .collect();
        if !answers.is_empty() {
            questions.push(LabelledQuestion { text: text.to_owned(), answers });
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

fn identify(file: &Path) -> Option<(&'static dyn Format, Identity)> {
    let format = FORMATS.iter().find(|format| format.claims(file))?;
    let text = String::from_utf8_lossy(&fs::read(file).ok()?).into_owned();
    let head = &text[..text.floor_char_boundary(64 * 1024)];
    Some((*format, format.identify(file, head)?))
}

/// Adds the messages of a transcript that the default filter keeps.
fn read(format: &dyn Format, text: &str, session: &mut SearchedSession) {
    let (filter, mut waiting, mut memory) =
        (Filter::default(), PendingCalls::default(), Memory::default());
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let _ = format.read(line, &mut memory, &mut |entry| {
            if let Some(kept) = filter.keep(&entry.item, &mut waiting) {
                let message = session.say(kept.role, entry.at, kept.text);
                message.tool = kept.tool;
                message.files = kept.files;
            }
        });
    }
    if !memory.cwd.is_empty() {
        session.project = memory.cwd;
    }
}
