//! Invented coding sessions, and sets of questions about them: days, typing errors, quotes,
//! identifiers, errors, pasted logs, and five languages.
//!
//! The author of the files in `coding/` did not know the ranking.

use graphiti_tests::Random;
use graphitid::{
    model::{Role, Timestamp},
    search::{
        index::{EpisodeField, IndexChange},
        passage::PassageKind,
    },
};
use jiff::{
    civil::{DateTime, date},
    tz::TimeZone,
};

use crate::sessions::{LabelledQuestion, QuestionSet, SearchedSession};

const SESSIONS: [&str; 3] = [
    include_str!("coding/sessions_1.txt"),
    include_str!("coding/sessions_2.txt"),
    include_str!("coding/sessions_3.txt"),
];

/// Returns the sessions, without questions.
pub(crate) fn sessions() -> QuestionSet {
    let mut set = QuestionSet {
        name: "coding",
        sessions: Vec::new(),
        questions: Vec::new(),
        now: date(2026, 3, 31).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).expect("a valid date"),
    };
    let blocks = SESSIONS.iter().flat_map(|text| text.split("\n\n"));
    set.sessions = blocks.filter_map(session).collect();
    set
}

/// Returns the sets of questions by name.
pub(crate) fn question_sets() -> Vec<(&'static str, Vec<LabelledQuestion>)> {
    let (typos, logs) = (include_str!("coding/typos.txt"), include_str!("coding/logs.txt"));
    let quotes = include_str!("coding/quotes.txt");
    let mut random = Random::new(5);
    vec![
        ("dates", questions(include_str!("coding/dates.txt"), str::to_owned)),
        ("typos, spelled right", questions(typos, |text| choose(text, 0))),
        ("typos", questions(typos, |text| choose(text, 1))),
        ("quotes, without", questions(quotes, |text| text.replace('"', ""))),
        ("quotes", questions(quotes, str::to_owned)),
        ("languages", questions(include_str!("coding/languages.txt"), str::to_owned)),
        ("identifiers, latest", latest(questions(identifiers(), str::to_owned))),
        ("identifiers, any", questions(identifiers(), str::to_owned)),
        ("errors", questions(include_str!("coding/errors.txt"), |text| text.replace("\\n", "\n"))),
        ("logs, plain words", questions(logs, plain_words)),
        ("logs", questions(logs, |text| expand(text, &mut random))),
    ]
}

impl SearchedSession {
    /// Returns the change that adds an episode. Its title and objective copy the first prompt, as
    /// in most sessions.
    pub(crate) fn episode(&self, key: u64) -> Option<IndexChange> {
        let prompt = &self.messages.first()?.text;
        let IndexChange::Messages { card, .. } = self.change(key) else { return None };
        let title = &prompt[..prompt.floor_char_boundary(80)];
        let field = |kind, text: &str| EpisodeField { kind, text: text.to_owned() };
        let fields = vec![field(PassageKind::Title, title), field(PassageKind::Objective, prompt)];
        Some(IndexChange::Episode { card, fields, branches: Vec::new() })
    }
}

fn identifiers() -> &'static str {
    include_str!("coding/identifiers.txt")
}

/// Keeps only the first answer of each question. In `identifiers.txt`, this is the latest session.
fn latest(mut questions: Vec<LabelledQuestion>) -> Vec<LabelledQuestion> {
    questions.iter_mut().for_each(|question| question.answers.truncate(1));
    questions
}

fn questions(text: &str, mut shape: impl FnMut(&str) -> String) -> Vec<LabelledQuestion> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let questions = lines.filter_map(|line| line.split_once('\t')).map(|(answers, text)| {
        let answers = answers.split(',').map(str::to_owned).collect();
        LabelledQuestion { text: shape(text), answers }
    });
    questions.collect()
}

/// Replaces each `{right|wrong}` by its first part (`which` is 0) or second part (1).
fn choose(text: &str, which: usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (both, after) = after.split_once('}').expect("braces are closed");
        out += before;
        out += both.split('|').nth(which).expect("both spellings are given");
        rest = after;
    }
    out + rest
}

/// Returns a question without the lines of its log, which contain `%`.
fn plain_words(text: &str) -> String {
    let lines = text.split("\\n").filter(|line| !line.contains('%'));
    lines.collect::<Vec<_>>().join("\n")
}

/// Replaces the placeholders in a log by random numbers and words. A line that begins with `%*5 ` is
/// repeated five times.
fn expand(text: &str, random: &mut Random) -> String {
    let mut out = Vec::new();
    for line in text.split("\\n") {
        let repeated = line.strip_prefix("%*").and_then(|rest| rest.split_once(' '));
        let (times, line) =
            repeated.map_or((1, line), |(times, line)| (times.parse().unwrap_or(1), line));
        out.extend((0..times).map(|_| filled(line, random)));
    }
    out.join("\n")
}

fn filled(line: &str, random: &mut Random) -> String {
    let mut digits = |count: usize, base: u32| -> String {
        let digit = |_| char::from_digit(random.below(base as usize) as u32, base);
        (0..count).filter_map(digit).collect()
    };
    let mut out = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('%') {
        out += before;
        out += &match after.chars().next() {
            Some('h') => format!("0x{}", digits(9, 16)),
            Some('u') => format!("{}-{}-{}", digits(8, 16), digits(4, 16), digits(12, 16)),
            Some('n') => digits(5, 10),
            _ => digits(7, 36).replace(|c: char| c.is_ascii_digit(), "q"),
        };
        rest = after.get(1..).unwrap_or_default();
    }
    out + rest
}

fn session(block: &str) -> Option<SearchedSession> {
    let mut lines = block.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut head = lines.next()?.strip_prefix("@ ")?.split(' ');
    let (name, day, time, project) = (head.next()?, head.next()?, head.next()?, head.next()?);
    let start: DateTime = format!("{day}T{time}").parse().ok()?;
    let start = start.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second();
    let mut session = SearchedSession {
        name: name.to_owned(),
        agent: "claude".to_owned(),
        project: format!("/home/mia/src/{project}"),
        messages: Vec::new(),
    };
    for (number, line) in (0_i64..).zip(lines) {
        let at = Some(Timestamp::from_seconds(start + 90 * number));
        match line.split_at_checked(2)? {
            ("t ", text) => {
                let (files, text) = text.split_once("| ")?;
                let files = files.split(',').map(str::trim).filter(|file| !file.is_empty());
                let message = session.say(Role::Tool, at, text.to_owned());
                message.files = files.map(str::to_owned).collect();
                message.tool = Some("Bash".to_owned());
            }
            ("a ", text) => {
                session.say(Role::Agent, at, text.to_owned());
            }
            (_, text) => {
                session.say(Role::User, at, text.to_owned());
            }
        }
    }
    Some(session)
}
