//! Marks requests, finished work and reports of failures. The marks close open ends of earlier
//! sessions and end fixes that failed.

use super::{draft::Draft, errors, names::file_key, orders, phrasing};
use crate::{
    graph::text,
    model::{
        Timestamp,
        evidence::{Commit, Quote},
        graph::{Observation, Subject},
        transcript::{Origin, TaskState},
    },
    pattern::pattern,
    report::{Report, Topic, is_phrase},
};

/// Maximum number of sentences of a session that are marked.
const MAX_MARKED_SENTENCES: usize = 80;
/// Maximum number of sentences of one prompt that are marked.
pub(super) const MAX_PROMPT_SENTENCES: usize = 12;
/// Maximum number of sentences of one report that are marked.
const MAX_REPORT_SENTENCES: usize = 6;
/// Maximum number of topic words of a sentence. A longer sentence is a list or a pasted text, which
/// would match almost anything.
const MAX_TOPIC_WORDS: usize = 24;

pub(super) fn read(draft: &mut Draft<'_>) {
    let mut marked = MarkedSentences::default();
    let evidence = draft.evidence;
    let requests: Vec<PromptWords> = evidence.prompts.iter().map(PromptWords::of).collect();
    let commits = evidence.commits.iter().filter(|commit| finishes_work(&commit.subject));
    let commits: Vec<(Timestamp, &Commit)> = commits
        .map(|commit| (commit.at.unwrap_or_else(|| draft.moments.at(commit.origin)), commit))
        .collect();
    for (at, commit) in &commits {
        marked.add(*at, &commit.subject);
    }
    let done = draft.episode.summary.completed_tasks.iter().flatten();
    for text in done.filter(|text| finishes_work(text)) {
        let origin: Vec<Origin> =
            draft.sentence_index.of(text).map(|found| found.origin).into_iter().collect();
        marked.add(draft.moments.of(&origin), text);
    }
    for task in evidence.tasks.iter().filter(|task| task.state == TaskState::Completed) {
        marked.add(draft.episode.ended_at, &task.subject);
    }
    for (prompt, request) in evidence.prompts.iter().zip(&requests) {
        let at = prompt.at.unwrap_or_else(|| draft.moments.at(prompt.origin));
        request.sentences.iter().for_each(|words| marked.add_words(at, words.clone()));
    }
    // The bodies of commits, which may have many lines, and the joined sentences come last, so that
    // they do not use up the limit before the others.
    for (at, commit) in &commits {
        lines_of_work(&commit.body).for_each(|line| marked.add(*at, line));
    }
    for (at, commit) in &commits {
        marked.add_with_request(&requests, commit.origin, *at, &commit.subject);
    }
    for report in evidence.reports.iter().filter(|report| report.changed) {
        let at = report.at.unwrap_or_else(|| draft.moments.at(report.origin));
        for sentence in Report::of(report).finished_work().take(MAX_REPORT_SENTENCES) {
            marked.add_with_request(&requests, report.origin, at, &sentence);
        }
    }
    let subject = open_end(draft);
    for (at, words) in marked.in_order() {
        draft.mark(subject, at, Observation::Words(words));
    }
    created_files(draft);
    moved_notes(draft);
    failed_fixes(draft);
}

/// Marks the files that the session created. An open end of an earlier session may say that one of
/// them is missing.
fn created_files(draft: &mut Draft<'_>) {
    let evidence = draft.evidence;
    for (path, work) in evidence.files.iter().filter(|(_, work)| work.created) {
        let at = work.changed_at.unwrap_or_else(|| draft.moments.at(work.last));
        draft.mark(created_file(draft, path), at, Observation::Succeeded);
    }
}

/// Returns the subject of the creation of the file at `path`, which may be relative to the project.
pub(super) fn created_file(draft: &Draft<'_>, path: &str) -> Subject {
    let key = file_key(&draft.episode.project, path);
    draft.subject("created file", key.as_deref().unwrap_or(path))
}

/// The topic words of the sentences of a prompt, without questions and without sentences that say
/// that work is not done.
struct PromptWords {
    origin: Origin,
    sentences: Vec<Vec<u64>>,
}

impl PromptWords {
    fn of(prompt: &Quote) -> PromptWords {
        let sentences = lines_of_work(&prompt.text).flat_map(prompt_sentences);
        let sentences = sentences.take(MAX_PROMPT_SENTENCES).filter(|one| may_close(one));
        let sentences = sentences.map(text::topic_words).collect();
        PromptWords { origin: prompt.origin, sentences }
    }
}

/// Whether a sentence of a prompt may ask for the work of an open end, finish it or give it up.
fn may_close(sentence: &str) -> bool {
    let is_failure = pattern!(
        r"(?i)^(?:(?:the|all|some|these|those|our|my|\w+) ){0,4}(?:tests?|build|suite|ci) (?:still |now |again )?(?:fails?|failed|(?:is|are) (?:failing|red|broken))[.!]?$|^(?:an? |the )?(?:error|exception|traceback) (?:in|at|from|on) [^,;:]*: "
    );
    let is_answerable = orders::is_question(sentence) && !orders::is_clear_order(sentence);
    !says_open(sentence)
        && !is_phrase(Topic::NotNow, sentence)
        && !is_answerable
        && !is_failure.is_match(sentence)
}

/// Returns the lines of a text without the items of a list whose heading says that its work is
/// open.
fn lines_of_work(text: &str) -> impl Iterator<Item = &str> {
    let mut is_below_open = false;
    text.lines().filter(move |line| {
        let is_item = pattern!(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s").is_match(line);
        let is_wrapped = is_below_open && line.starts_with([' ', '\t']);
        if !is_item && !is_wrapped && !line.trim().is_empty() {
            let is_heading = pattern!(r"^\s*(?:#|\*\*)|:[*_\s]*$").is_match(line);
            is_below_open = is_heading && says_open(line);
        }
        !(is_item || is_wrapped) || !is_below_open
    })
}

/// The topic words of sentences about requested and finished work, each with its time.
#[derive(Default)]
struct MarkedSentences(Vec<(Timestamp, Vec<u64>)>);

impl MarkedSentences {
    fn add(&mut self, at: Timestamp, text: &str) {
        if !says_open(text) {
            self.add_words(at, text::topic_words(text));
        }
    }

    /// Adds a sentence about finished work together with each sentence of the last prompt before it
    /// that shares a word with it. An open end may be worded like both: `delete the routes of v1`
    /// and `/v1/orders is gone`.
    fn add_with_request(
        &mut self,
        requests: &[PromptWords],
        done: Origin,
        at: Timestamp,
        text: &str,
    ) {
        let last = requests.iter().rfind(|request| done.follows(request.origin));
        let Some(request) = last.filter(|request| !request.sentences.is_empty()) else { return };
        if says_open(text) {
            return;
        }
        let words = text::topic_words(text);
        for sentence in &request.sentences {
            if sentence.iter().any(|word| words.contains(word)) {
                let mut both: Vec<u64> = sentence.iter().chain(&words).copied().collect();
                both.sort_unstable();
                both.dedup();
                self.add_words(at, both);
            }
        }
    }

    fn add_words(&mut self, at: Timestamp, words: Vec<u64>) {
        if (2..=MAX_TOPIC_WORDS).contains(&words.len()) && self.0.len() < MAX_MARKED_SENTENCES {
            self.0.push((at, words));
        }
    }

    fn in_order(mut self) -> Vec<(Timestamp, Vec<u64>)> {
        self.0.sort_unstable();
        self.0.dedup();
        self.0
    }
}

/// Returns the sentences of a prompt. Users also begin sentences in lower case.
pub(super) fn prompt_sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '。', '！', '？'])
        .flat_map(|line| line.split_inclusive(". "))
        .map(str::trim)
        .filter(|sentence| !sentence.is_empty())
}

/// Whether a sentence says that its work is not done.
fn says_open(text: &str) -> bool {
    is_phrase(Topic::NotDone, text)
}

/// Whether a commit or a completed task finishes the work that it names: it neither reverts a
/// commit, nor only notes the work in a todo file.
fn finishes_work(text: &str) -> bool {
    let adds_note = pattern!(
        r"(?i)^(?:\w+(?:\([^)]*\))?!?: )?(?:(?:add|capture|create|file|log|note|open|record|save|write)(?:s|d|ed|ing)?|wrote) (?:an? |the |new |\w+ )?(?:todos?|follow-?ups?|backlog (?:items?|entr(?:y|ies)))\b"
    );
    !is_revert(text) && !adds_note.is_match(text)
}

/// Whether the subject of a commit is the subject that git gives to the reversal of a commit.
pub(super) fn is_revert(subject: &str) -> bool {
    subject.starts_with("Revert \"")
}

/// Marks the notes that were moved, for example to a folder `done`, or removed.
fn moved_notes(draft: &mut Draft<'_>) {
    let evidence = draft.evidence;
    for (path, work) in &evidence.files {
        if is_given_up(draft, work.last) {
            continue;
        }
        let old_path = work.moved_from.as_deref().or(work.deleted.then_some(path.as_str()));
        let Some(note_path) = old_path else { continue };
        if !is_code(note_path) {
            // A note may be moved when its task begins. The task is then done only at the end of
            // the session.
            let is_begun = changes_code_after(draft, work.last);
            let at = if is_begun { draft.episode.ended_at } else { draft.moments.at(work.last) };
            draft.mark(note(draft, note_path), at, Observation::Succeeded);
            // Open ends that an earlier version of the daemon stored watch the file name instead of
            // the path.
            let name = note_path.rsplit('/').next().unwrap_or(note_path);
            draft.mark(draft.subject("note", name), at, Observation::Succeeded);
        }
    }
}

/// Returns the subject of the note at `path`, which may be relative to the project.
pub(super) fn note(draft: &Draft<'_>, path: &str) -> Subject {
    let key = file_key(&draft.episode.project, path);
    draft.subject("note path", key.as_deref().unwrap_or(path))
}

fn is_code(path: &str) -> bool {
    ![".md", ".txt", ".org", ".rst"].iter().any(|end| path.ends_with(end))
}

/// Whether the session changed code after `start`.
fn changes_code_after(draft: &Draft<'_>, start: Origin) -> bool {
    let mut changed = draft.evidence.changed_files();
    changed.any(|(path, work)| is_code(path) && work.last.follows(start))
}

/// Whether the user refused the plan of the work that began at `start`, and no code was changed. A
/// note that was moved at `start` is then still open.
fn is_given_up(draft: &Draft<'_>, start: Origin) -> bool {
    let evidence = draft.evidence;
    let mut later = evidence.choices.iter().filter(|choice| choice.origin.follows(start));
    let is_refused = later.next_back().is_some_and(|last| last.answer == "refused");
    is_refused && !changes_code_after(draft, start)
}

/// Returns the subject of everything that can close an open end of the project.
pub(super) fn open_end(draft: &Draft<'_>) -> Subject {
    draft.subject("open end", "")
}

fn failed_fixes(draft: &mut Draft<'_>) {
    let evidence = draft.evidence;
    let subject = errors::fix(draft);
    for prompt in &evidence.prompts {
        let at = prompt.at.unwrap_or_else(|| draft.moments.at(prompt.origin));
        let failing: Vec<&str> =
            prompt_sentences(&prompt.text).filter(|one| phrasing::still_fails(one)).collect();
        for sentence in &failing {
            draft.mark(subject, at, Observation::Words(text::topic_words(sentence)));
        }
        // `It still fails` is about the error that was fixed last before the prompt.
        let fixed = evidence.errors.iter().filter_map(|error| {
            let resolution = error.resolution.as_ref()?;
            prompt.origin.follows(resolution.origin).then_some((resolution.origin, error))
        });
        let last = fixed.max_by_key(|(origin, _)| *origin).map(|(_, error)| error);
        if let Some(error) = last.filter(|_| !failing.is_empty()) {
            let subject = errors::subject(draft, &error.message);
            draft.mark(subject, at, Observation::Seen);
        }
    }
}
