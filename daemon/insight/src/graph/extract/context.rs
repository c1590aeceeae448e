//! Adds the task of a session to a sentence that is unclear without the task.

use std::collections::BTreeSet;

use super::{draft::Draft, reference, routine};
use crate::{
    graph::{statement_states, text},
    lang::{lasting, prompt::slash_command},
    model::{
        evidence::{Commit, Quote},
        transcript::Origin,
    },
    pattern::pattern,
    report::{Topic, is_phrase},
};

const MAX_TASK_CHARS: usize = 100;
/// Minimum number of words of a commit subject that describes a task.
const MIN_CLEAR_WORDS: usize = 5;
/// Maximum length, in bytes, of a prompt whose words show to which commit a statement belongs.
const MAX_PROMPT_BYTES: usize = 1_000;
/// Minimum number of words that a statement shares with the commit that it belongs to.
const MIN_RELATED_WORDS: usize = 2;
/// The name of a session counts as copied from the prompts if they contain at least this share of
/// its words.
const COPIED_SHARE: f64 = 0.8;
/// Minimum number of words of a task that is worth adding.
const MIN_TASK_WORDS: usize = 2;
/// Maximum number of prompts before a line that are searched for the request that led to the line.
const MAX_SEARCHED_PROMPTS: usize = 4;
/// A prompt with fewer words counts as an assent.
const MIN_REQUEST_WORDS: usize = 4;
/// Minimum number of different words of a clear request.
const MIN_CLEAR_REQUEST_WORDS: usize = 3;

/// Returns the sentence with the task of its session. Omits the task if the sentence already
/// contains at least half of the task's words. Returns `None` if the task is needed but has too few
/// words.
pub(super) fn with_task(draft: &Draft<'_>, sentence: &str, line: Option<Origin>) -> Option<String> {
    let sentence_words = text::words(sentence);
    let task = task(draft, &sentence_words, line);
    let about = text::words(&task);
    if text::share(&about, &sentence_words) >= 0.5 {
        return (!about.is_empty()).then(|| sentence.to_owned());
    }
    (about.len() >= MIN_TASK_WORDS)
        .then(|| format!("{sentence}{}{task}”.)", statement_states::DECIDED_FOR))
}

/// Returns the request that led to `line`. If this request is the first one of the session or is
/// not clear, returns instead the first goal or the name of the work ([`work_at`]), whichever
/// describes the work better. The result is empty if neither describes work, for example if both
/// are about a commit.
fn task(draft: &Draft<'_>, sentence_words: &BTreeSet<String>, line: Option<Origin>) -> String {
    if let Some(later) = line.and_then(|line| later_request(draft, line)) {
        return later;
    }
    let first = first_goal(&draft.episode.summary.objective);
    let name = work_at(draft, line, sentence_words);
    let written = text::words(&name);
    // A title that was written later describes the task better than a prompt. A name such as
    // `parse-old-dates` is not a title. In some languages, such as Chinese, titles have no spaces.
    let is_slug = name.is_ascii() && !name.contains(' ');
    // A commit that shares no word with the sentence may be about other work of the session.
    let is_other = is_commit(draft, &name)
        && text::share(&written, sentence_words) == 0.0
        && text::words(first).len() >= MIN_REQUEST_WORDS
        && !is_routine(first);
    if is_other {
        return text::cut(first, MAX_TASK_CHARS);
    }
    let is_title = written.len() >= MIN_TASK_WORDS && !is_slug;
    if is_title && !is_routine(&name) && !is_of_prompts(draft, &written) {
        return name;
    }
    let of_name = text::share(&written, sentence_words);
    let is_named = !is_slug && of_name > text::share(&text::words(first), sentence_words);
    // A question does not say what was worked on.
    let is_unclear = first.ends_with('?');
    let name = if is_slug { name.replace('-', " ") } else { name };
    if is_routine(first) || is_unclear || is_named || text::words(first).len() < 4 {
        return if is_routine(&name) { String::new() } else { name };
    }
    text::cut(first, MAX_TASK_CHARS)
}

/// Whether a request or a name says nothing about the work: it is a routine step with git, it asks
/// only to read documents or to run checks, or it is about a pull request.
fn is_routine(task: &str) -> bool {
    let reads = pattern!(
        r"(?i)^(?:please )?(?:switch to (?:the )?(?:branch\b.*|main|master|[\w.-]+/[\w./-]+)|read (?:through )?(?:(?:the|all|my|our|your|this) )?(?:\S+\.(?:md|txt)|@\S+|readme|docs?|documentation|plans?|notes?|handoff|code ?base|repo(?:sitory)?))\b.{0,20}$"
    );
    let runs = pattern!(
        r"(?i)^(?:please )?(?:re-?)?run (?:(?:the|all|our|full|whole|unit) )*(?:tests?|test suite|suite|checks?|linters?|build|ci)(?: again| now| please)?(?:\s*[:#(&,].{0,20}|[.!]*)$"
    );
    let answers = pattern!(
        r"(?i)\b(?:comments?|reviews?|feedback|points?|suggestions?|remarks?)\b.{0,30}\b(?:pr|pull request)s?\b|\b(?:pr|pull request) (?:comments?|reviews?|feedback)\b|^(?:please )?(?:can (?:you|we) )?(?:open|create|make|merge|close|update|raise|submit) (?:an? |the |this |my |our )?(?:draft )?(?:pr|pull request)\b|^(?:an? |the )?(?:pr|pull request)\b"
    );
    [reads, runs, answers].iter().any(|one| one.is_match(task)) || routine::is_routine(task)
}

/// Returns the first sentence of an objective, without its notes. If a note mentions the work that
/// followed a question or a command, returns this work.
fn first_goal(objective: &str) -> &str {
    if let Some(work) = pattern!(r" \(came to: (.+?)\)(?:\.|$)").captures(objective) {
        return text::without_full_stop(work.get(1).map_or(objective, |work| work.as_str()));
    }
    let notes = [" (began with", " (asked:", " (after `", " (by `", ". "];
    let notes = notes.into_iter().filter_map(|end| objective.find(end));
    let question = objective.find("? ").map(|mark| mark + 1);
    let end = notes.chain(question).min().unwrap_or(objective.len());
    text::without_full_stop(&objective[..end])
}

/// Returns the request that led to a line, unless this request is the first one of the session.
/// Short prompts are skipped, because an assent continues the request before it. Returns `None` for
/// a question, an opinion, an answer to the agent, and a request that cannot be understood alone.
fn later_request(draft: &Draft<'_>, line: Origin) -> Option<String> {
    let prompts = &draft.evidence.prompts;
    let before = prompts.iter().skip(1).rev().filter(|prompt| line.follows(prompt.origin));
    let is_long_enough =
        |prompt: &&Quote| prompt.text.split_whitespace().count() >= MIN_REQUEST_WORDS;
    let request = before.take(MAX_SEARCHED_PROMPTS).find(is_long_enough)?;
    let is_answer = draft.evidence.choices.iter().any(|choice| choice.origin == request.origin);
    clear_request(&request.text).filter(|_| !is_answer)
}

/// Returns the first sentence of a prompt without words of courtesy; `None` if it cannot be
/// understood alone.
fn clear_request(prompt: &str) -> Option<String> {
    let first = prompt.trim().lines().next()?.trim();
    if first.starts_with(['<', '!', '[', '#', '{', '>', '`', '-']) || slash_command(first).is_some()
    {
        return None;
    }
    let end = pattern!(r"[.!?:](?: |$)").find(first).map_or(first.len(), |end| end.start());
    let courtesy = pattern!(
        r"(?i)^(?:(?:hey|hi|hello|ok(?:ay)?|yes|yeah|great|good|perfect|thanks|now|so|and|also|then|please|alright)[,.! ]+|(?:can|could|would|will) (?:you|we) |let.?s |i(?:.d like| want| would like)(?: you)? to |we (?:need|have|should) to )+"
    );
    let plain = courtesy.replace(&first[..end], "");
    let is_clear = text::words(&plain).len() >= MIN_CLEAR_REQUEST_WORDS
        && !is_phrase(Topic::UnnamedObject, &plain)
        && (is_phrase(Topic::Order, &plain) || lasting::is_foreign(&plain))
        && !reference::points_back(&plain)
        && !reference::has_external_pronoun(&plain)
        && !is_phrase(Topic::SessionReference, &plain)
        && !pattern!(r"(?i)\b(?:it|this|that|these|those|them)\b").is_match(&plain);
    is_clear.then(|| text::cut(plain.trim_end_matches(','), MAX_TASK_CHARS))
}

fn is_commit(draft: &Draft<'_>, name: &str) -> bool {
    let start = name.trim_end_matches('…');
    draft.evidence.commits.iter().any(|commit| commit.subject.starts_with(start))
}

/// Whether most words of a name are in the prompts.
fn is_of_prompts(draft: &Draft<'_>, name: &BTreeSet<String>) -> bool {
    let prompts = draft.evidence.prompts.iter().flat_map(|prompt| text::words(&prompt.text));
    text::share(name, &prompts.collect()) >= COPIED_SHARE
}

/// Returns a name for the work to which a statement with `words` at `line` belongs. This is the
/// name of the session, unless the name is the subject of a commit, which may be far from the line.
/// In that case, the result is the subject of a commit after the line, if there is one: the commit
/// that shares most words with the statement and the prompt before the line, or else the next
/// commit with a clear subject, or else the next commit.
pub(super) fn work_at(draft: &Draft<'_>, line: Option<Origin>, words: &BTreeSet<String>) -> String {
    let name = draft.episode.name.as_str();
    let commits = &draft.evidence.commits;
    if !is_commit(draft, name) {
        return draft.task_name();
    }
    let Some(line) = line else { return draft.task_name() };
    let later = || commits.iter().filter(|commit| commit.origin.follows(line));
    let mut prompts = draft.evidence.prompts.iter().rev();
    let prompt = prompts
        .find(|prompt| prompt.origin.source == line.source && prompt.origin.line <= line.line);
    // A long prompt, such as a plan, shares words with every commit.
    let prompt = prompt.filter(|prompt| prompt.text.len() <= MAX_PROMPT_BYTES);
    let mut about = text::words(prompt.map_or("", |prompt| prompt.text.as_str()));
    about.extend(words.iter().cloned());
    let shared = |commit: &Commit| text::words(&commit.subject).intersection(&about).count();
    let related = later().rev().max_by_key(|commit| shared(commit));
    let related = related.filter(|commit| shared(commit) >= MIN_RELATED_WORDS);
    // A short subject such as `docs: capture context` says little.
    let next = later().find(|commit| text::words(&commit.subject).len() >= MIN_CLEAR_WORDS);
    let next = related.or(next).or_else(|| later().next());
    next.map_or_else(
        || draft.task_name(),
        |commit| text::cut(text::without_full_stop(&commit.subject), MAX_TASK_CHARS),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::extract::scenarios::SessionFixture;

    #[test]
    fn a_task_is_added_unless_the_sentence_contains_it() {
        let completed = |task: &str, sentence: &str| {
            let session = SessionFixture::new(10, task);
            with_task(&Draft::new(&session.episode, &session.evidence), sentence, None)
        };
        let guard = "The guard is reached only with a query.";
        let wanted = "The guard is reached only with a query. (For “Reject bad authorize paths”.)";
        assert_eq!(completed("Reject bad authorize paths", guard).as_deref(), Some(wanted));
        let named = "Bad authorize paths are rejected when they have a query.";
        assert_eq!(completed("Reject bad authorize paths", named).as_deref(), Some(named));
        assert_eq!(completed("Go on", guard), None);
    }

    #[test]
    fn only_a_routine_request_is_no_task() {
        for (request, wanted) in [
            ("Read the config from a file", true),
            ("Add a run command to the tool", true),
            ("Fix the push notifications", true),
            ("Fix the branch selector of the map", true),
            ("Make the resume button work", true),
            ("Show the commit date in the table", true),
            ("Make the checkout retry", true),
            ("Read the documents of a user in parallel from the store", true),
            ("Run the tests of each package in a container of its own", true),
            ("Switch to Postgres 16", true),
            ("Add a pull request template", true),
            ("Show the PR number in the header of the page", true),
            ("Commit and push everything", false),
            ("Continue with the branch", false),
            ("Switch to the branch of Ada", false),
            ("Read the docs and AGENTS.md first", false),
            ("Run the test suite again", false),
            ("Some valid points raised on the pr", false),
        ] {
            let session = SessionFixture::new(10, request);
            let draft = Draft::new(&session.episode, &session.evidence);
            let completed = with_task(&draft, "It is `csv`.", None);
            let task = wanted.then(|| format!("It is `csv`. (For “{request}”.)"));
            assert_eq!(completed, task, "{request}");
        }
    }

    #[test]
    fn a_title_that_was_written_later_is_the_task() {
        let mut session = SessionFixture::new(10, "Parse old dates in the importer");
        session.episode.summary.objective = "teh import fials on some old files".to_owned();
        let prompt = "teh import fials on some old files";
        session.evidence.prompts =
            vec![Quote { text: prompt.to_owned(), origin: Origin::default(), at: None }];
        let draft = Draft::new(&session.episode, &session.evidence);
        let completed = with_task(&draft, "The guard is new.", None);
        let wanted = "The guard is new. (For “Parse old dates in the importer”.)";
        assert_eq!(completed.as_deref(), Some(wanted));
        session.episode.name = "parse-old-dates-in-the-importer".to_owned();
        let draft = Draft::new(&session.episode, &session.evidence);
        let completed = with_task(&draft, "The guard is new.", None);
        let wanted = "The guard is new. (For “teh import fials on some old files”.)";
        assert_eq!(completed.as_deref(), Some(wanted), "a slug is not used as a title");
    }

    #[test]
    fn the_subject_of_a_commit_about_other_work_is_not_the_task() {
        let mut session = SessionFixture::new(10, "Show the day of each invoice");
        session.episode.summary.objective = "How can I parse lists of old dates?".to_owned();
        session.evidence.commits = vec![Commit {
            hash: String::new(),
            subject: "Show the day of each invoice".to_owned(),
            body: String::new(),
            origin: Origin { source: 0, line: 9 },
            at: None,
        }];
        let completed = |sentence: &str| {
            let draft = Draft::new(&session.episode, &session.evidence);
            with_task(&draft, sentence, Some(Origin { source: 0, line: 2 })).unwrap()
        };
        let asked = "It is Rust. (For “How can I parse lists of old dates?”.)";
        assert_eq!(completed("It is Rust."), asked);
        let shown = "It has an invoice. (For “Show the day of each invoice”.)";
        assert_eq!(completed("It has an invoice."), shown);
    }

    #[test]
    fn if_the_session_has_the_name_of_a_commit_the_next_commit_is_the_task() {
        let mut session = SessionFixture::new(10, "Update npm in the container");
        session.episode.summary.objective = "Read the research".to_owned();
        let commit = |line: u64, subject: &str| Commit {
            hash: String::new(),
            subject: subject.to_owned(),
            body: String::new(),
            origin: Origin { source: 0, line },
            at: None,
        };
        session.evidence.commits =
            vec![commit(4, "Plan the agent tools"), commit(9, "Update npm in the container")];
        let draft = Draft::new(&session.episode, &session.evidence);
        let completed = |line| with_task(&draft, "It is Rust.", Some(Origin { source: 0, line }));
        assert_eq!(completed(2).as_deref(), Some("It is Rust. (For “Plan the agent tools”.)"));
        assert_eq!(
            completed(5).as_deref(),
            Some("It is Rust. (For “Update npm in the container”.)")
        );
        let draft = Draft::new(&session.episode, &session.evidence);
        let related = with_task(
            &draft,
            "The npm of the container is old.",
            Some(Origin { source: 0, line: 2 }),
        );
        assert_eq!(
            related.as_deref(),
            Some("The npm of the container is old."),
            "the sentence already contains half of the words of the second commit"
        );
    }

    #[test]
    fn the_last_clear_request_before_a_sentence_is_its_task() {
        let mut session = SessionFixture::new(10, "Parse old dates in the importer");
        let prompt = |line: u64, text: &str| Quote {
            text: text.to_owned(),
            origin: Origin { source: 0, line },
            at: None,
        };
        session.evidence.prompts = vec![
            prompt(1, "Parse old dates in the importer"),
            prompt(4, "can you please add limits to the uploads in `upload.rs`? It is urgent."),
            prompt(6, "yes, go on"),
            prompt(8, "fix it"),
            prompt(12, "now that we know what it does, why is it so slow in all of those cases?"),
            prompt(16, "hmm pros and cons of the lexer and the parser"),
            prompt(20, "ok, let's apply the fixes you suggest"),
        ];
        let draft = Draft::new(&session.episode, &session.evidence);
        let completed =
            |line| with_task(&draft, "The guard is new.", Some(Origin { source: 0, line }));
        let first = "The guard is new. (For “Parse old dates in the importer”.)";
        assert_eq!(completed(3).as_deref(), Some(first));
        let later = "The guard is new. (For “add limits to the uploads in `upload.rs`”.)";
        assert_eq!(completed(5).as_deref(), Some(later));
        assert_eq!(completed(9).as_deref(), Some(later));
        assert_eq!(completed(13).as_deref(), Some(first), "the request is unclear");
        assert_eq!(completed(17).as_deref(), Some(first), "an opinion is not a request");
        assert_eq!(completed(21).as_deref(), Some(first), "the request does not say which fixes");
    }

    #[test]
    fn the_goal_of_a_question_is_the_work_to_which_it_led() {
        for (objective, wanted) in [
            (
                "Is the parser slow? (came to: Read dates once). Later: add a test.",
                "Read dates once",
            ),
            ("Is the parser slow? It reads dates.", "Is the parser slow?"),
            ("Read old dates (began with: are they read?)", "Read old dates"),
            ("Read old dates. They fail.", "Read old dates"),
        ] {
            assert_eq!(first_goal(objective), wanted);
        }
    }
}
