//! Provides what all fields of a summary need: statements by kind, paths relative to the project,
//! and lists without repetitions.

use std::time::Duration;

use crate::{
    lang::paths,
    model::{
        evidence::{Evidence, Statement, StatementKind},
        project::Project,
    },
    report::{
        Claim, Reports, Topic, is_foreign_phrase, is_phrase, topic_of_heading, topic_of_sentence,
    },
    summarize::evidence::is_scratch,
    text::{
        Block, blocks, capitalised, cut, has_label, is_ideograph, one_line, pattern, same_words,
        sentence_ends, sentences, without_full_stop, without_list_colon,
    },
};

/// Maximum length, in characters, of an entry in a list.
pub(super) const ENTRY: usize = 220;
/// Maximum length, in characters, of a claim from a report.
const CLAIM: usize = 340;
/// Maximum length, in characters, of an item that is repeated before each item nested in it.
const PARENT: usize = 80;

/// The evidence, its parsed reports and its project, from which the entries of a summary are made.
#[derive(Clone, Copy)]
pub(super) struct Entries<'e> {
    pub(super) evidence: &'e Evidence,
    pub(super) reports: &'e Reports,
    pub(super) project: Option<&'e Project>,
}

impl<'e> Entries<'e> {
    /// Returns the statements of a kind, in order. The statements of the agent's last report come
    /// last.
    pub(super) fn statements(&self, kind: StatementKind) -> impl Iterator<Item = &'e Statement> {
        let evidence = self.evidence;
        evidence.statements.iter().chain(&evidence.report).filter(move |one| one.kind == kind)
    }

    /// Returns `path` relative to the project.
    pub(super) fn path<'p>(&self, path: &'p str) -> &'p str {
        let path = self.project.map_or(path, |project| project.relative(path));
        // A worktree that the agent made belongs to the same project.
        paths::inside_worktree(path)
    }

    /// Returns text as one clean line, with relative paths for the project's files.
    pub(super) fn tidy_line(&self, text: &str) -> String {
        let line = one_line(text);
        match self.project.map(Project::path).filter(|path| path.len() > 1) {
            Some(path) => relative_paths(&line, &format!("{path}/")),
            None => line,
        }
    }

    /// Returns text as an entry of a list: one clean, capitalised line of limited length, without
    /// the full stop of a single sentence.
    pub(super) fn tidy(&self, text: &str) -> String {
        let line = cut(&self.tidy_line(text), ENTRY);
        let plain = if sentences(&line).len() <= 1 { without_full_stop(&line) } else { &line };
        capitalised(plain.trim_end_matches(" …"))
    }

    /// Returns a claim of a report as an entry; `None` if the claim is incomplete, an instruction
    /// or a proposal, begins with a commit, or cannot be understood without the text before it.
    pub(super) fn claim(&self, claim: &Claim) -> Option<String> {
        let text = self.tidy_line(&claim.text);
        // The statement ends before the first instruction, offer or question.
        let stated = sentences(&text).into_iter().take_while(|sentence| {
            (!is_phrase(Topic::Instruction, sentence) || is_phrase(Topic::LeftToUser, sentence))
                && !is_phrase(Topic::Proposal, sentence)
                && !sentence.ends_with('?')
        });
        let mut stated: Vec<&str> = stated.collect();
        // The introduction of a list belongs to the list.
        if stated.len() > 1 {
            stated.pop_if(|last| last.ends_with(':'));
        }
        let text = stated.join(" ");
        let label = claim.label.as_deref().map(|label| self.tidy_line(label));
        let label = label.map(|label| without_number(&label).to_owned());
        let line = match label {
            Some(label) if text.is_empty() => label,
            Some(label) if is_generic(&label) => match subject(claim) {
                Some(subject) => format!("{}: {text}", self.tidy_line(subject)),
                None => text,
            },
            Some(label) => format!("{label}: {text}"),
            None => text,
        };
        if claim.topic == Some(Topic::Instruction) || claim.topic == Some(Topic::Proposal) {
            return None;
        }
        let line = cut_at_clause(&self.below_parent(claim, line)?, CLAIM);
        // An open item such as `There is no test of the parser` names what is missing.
        let is_lack = claim.topic == Some(Topic::Open)
            && pattern!(r"(?i)^there (?:is|are) (?:no|still no|not yet)\b").is_match(&line);
        let stands_alone = (is_lack || !depends_on_context(&line))
            && !is_half(claim)
            && !is_broken(&line)
            && !is_only_code(&line)
            && !self.begins_with_commit(&line)
            && (line.chars().filter(|c| c.is_alphabetic()).count() >= 12 || has_ideographs(&line));
        let line = capitalised(without_full_stop(&line));
        // A German task has two words, for example `Handbuch ergänzen`.
        let is_task = claim.topic == Some(Topic::Open)
            && pattern!(r"^\p{Lu}[\p{L}-]{3,} [a-zäöüß]{3,}(?:en|ern|eln)$").is_match(&line);
        // Chinese and Japanese texts have no blanks between words.
        let is_phrase = line.split_whitespace().count() >= 3 || has_ideographs(&line) || is_task;
        (stands_alone && is_phrase).then_some(line)
    }

    /// Adds the text of the item above a nested item to the start of `line`, unless that text is
    /// generic. `None` if it is too long or a question.
    fn below_parent(&self, claim: &Claim, line: String) -> Option<String> {
        let Some(parent) = claim.parent.as_deref().map(|parent| self.tidy_line(parent)) else {
            return Some(line);
        };
        if is_generic(&parent) || topic_of_heading(&parent).is_some() {
            return Some(line);
        }
        let is_short = parent.chars().count() <= PARENT && !parent.ends_with('?');
        is_short.then(|| format!("{parent}: {line}"))
    }

    /// Whether a line begins with the hash of one of the session's commits, which the summary
    /// lists anyway.
    fn begins_with_commit(&self, line: &str) -> bool {
        let first = line.trim_start_matches(['`', '(']);
        let hash = first.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
        hash.len() >= 7
            && self.evidence.commits.iter().any(|commit| {
                !commit.hash.is_empty()
                    && (commit.hash.starts_with(hash) || hash.starts_with(&commit.hash))
            })
    }

    /// Returns a text about completed work as an entry: `I've added a test` becomes `Added a test`.
    pub(super) fn completed_work(&self, text: &str) -> String {
        let plain = pattern!(
            r"(?i)^(?:I|we)(?:'ve| have)? (?:successfully |also |now |just )*|^successfully "
        )
        .replace(text, "");
        self.tidy(&plain)
    }

    /// Returns an open end as an entry: `Next: watch the queue` becomes `Watch the queue`.
    pub(super) fn open_end(&self, text: &str) -> String {
        let plain = pattern!(
            r"(?i)^(?:next(?: steps?)?|(?:still )?open|to ?do|remaining|left)(?: to do)?: *"
        )
        .replace(text, "");
        self.tidy(&plain)
    }

    /// Returns a cause as an entry: `The issue was that X` becomes `X`.
    pub(super) fn cause(&self, text: &str) -> String {
        let plain = pattern!(
            r"(?i)^(?:fixed[:!.] )?(?:so |and |but |ah,? )?(?:the |this |that )?(?:actual |real |core |main )?(?:root cause|issue|problem|bug|cause|culprit)(?: here| identified)?(?: (?:is|was)(?: that)?|:) *"
        )
        .replace(text, "");
        // `Fixed the mock: the tests were failing because …` states the cause after the fix.
        let after = plain.split_once(": ").map(|(_, rest)| rest);
        let after = after.filter(|rest| rest.len() >= 30 && rest.starts_with(char::is_uppercase));
        let cause = after.unwrap_or(&plain);
        self.tidy(if cause.len() >= 20 { cause } else { text })
    }

    /// Returns the first statement in the paragraphs of the agent's last reply that is not about
    /// remaining, failed or announced work.
    pub(super) fn first_words(&self) -> Option<String> {
        let (prose, _) = plain_words(&self.evidence.last_reply.as_ref()?.text);
        prose.iter().find(|one| !is_unfinished_work(one)).map(|one| self.tidy(one))
    }

    pub(super) fn mcp_tools(&self) -> Vec<String> {
        self.evidence.tools.keys().filter(|name| name.starts_with("mcp__")).cloned().collect()
    }

    /// Returns the minutes from the first to the last message, rounded.
    pub(super) fn minutes(&self) -> Option<u32> {
        let span = &self.evidence.span;
        let length = span.last?.since(span.first?);
        let half = Duration::from_secs(30);
        u32::try_from((length + half).as_secs() / 60).ok()
    }
}

/// Returns a line without `folder` at the start of its paths. The folder alone stays as it is, and
/// so does a folder of this name in another path or in an address.
fn relative_paths(line: &str, folder: &str) -> String {
    let begins_name =
        |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || "._-@+~*[{($<".contains(c));
    let begins_path =
        |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || "._-~/\\}".contains(c));
    let mut found = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(folder) {
        let (before, after) = (&rest[..at], &rest[at + folder.len()..]);
        found.push_str(before);
        if !begins_name(after) || !begins_path(&line[..line.len() - rest.len() + at]) {
            found.push_str(folder);
        }
        rest = after;
    }
    found.push_str(rest);
    found
}

/// Returns the statements of a reply that can be understood alone, as two lists: the statements of
/// its paragraphs, and those of its list items. Greetings, test results and talk with the user are
/// left out.
pub(super) fn plain_words(reply: &str) -> (Vec<String>, Vec<String>) {
    let (mut prose, mut listed) = (Vec::new(), Vec::new());
    for block in blocks(reply) {
        let (text, into) = match block {
            Block::Paragraph(text) => (text, &mut prose),
            Block::Item(text) => (text, &mut listed),
            Block::Heading(_) => continue,
        };
        let line = one_line(&text);
        let alone = sentences(&line).into_iter().filter_map(without_list_colon);
        into.extend(alone.filter(|one| {
            one.len() >= 40
                && !one.ends_with(['?', '…'])
                && !one.starts_with(['"', '/', '<'])
                && !is_talk(one)
        }));
    }
    (prose, listed)
}

/// Whether a sentence is about remaining, failed or announced work. English sentences about failed
/// or announced work have rules of their own.
pub(super) fn is_unfinished_work(sentence: &str) -> bool {
    topic_of_sentence(sentence) == Some(Topic::Open)
        || is_foreign_phrase(Topic::StillFails, sentence)
        || is_foreign_phrase(Topic::Talk, sentence)
}

/// Minimum number of Chinese or Japanese characters of a text that has no blanks between its words.
const MIN_IDEOGRAPHS: usize = 5;

/// Whether a text is Chinese or Japanese.
pub(crate) fn has_ideographs(text: &str) -> bool {
    let ideographs = text.chars().filter(|c| is_ideograph(*c));
    ideographs.count() >= MIN_IDEOGRAPHS
}

fn is_talk(sentence: &str) -> bool {
    pattern!(
        r"(?i)^(?:i |i'|we |we'|you |you'|let |here|ready |great|perfect|excellent|done|all (?:\d|tests|clean|good|\w+ tests)|sure|good|yes|no[,. ]|lint|tests? pass|now |feel free|if |want|would|committed|commit `|based on|next|to |the following|it |this |that |these |they |however|in that|but |so |and |also |option )|\b(?:now passing|passes? cleanly|let me|you can|your)\b|^\(|…"
    )
    .is_match(sentence)
        || has_label(sentence, 2..=25)
}

/// Cuts `text` to at most `limit` characters: after a whole sentence, or else at the end of a
/// clause, or else after a word. Also cuts a shorter text that ends with `…`.
pub(super) fn cut_at_clause(text: &str, limit: usize) -> String {
    let cut = cut(text, limit);
    let Some(broken) = cut.strip_suffix('…') else { return cut };
    // A whole sentence is better than a longer text that breaks off.
    let whole = sentence_ends(broken).filter(|end| *end * 2 >= limit && *end < broken.len()).last();
    if let Some(end) = whole {
        return broken[..end].trim_end().to_owned();
    }
    let is_open = |at: &usize| {
        let (opened, closed) =
            (broken[..*at].matches('(').count(), broken[..*at].matches(')').count());
        opened > closed
    };
    let ends = broken.char_indices().filter(|(_, c)| matches!(c, ';' | ',' | '—' | '–'));
    let brackets = broken.match_indices(" (").map(|(at, _)| at);
    let clause = ends.map(|(at, _)| at).chain(brackets).filter(|at| !is_open(at)).max();
    let clause = clause.filter(|at| *at * 2 >= broken.len());
    let clause = clause.or_else(|| {
        let bracket = broken.rfind(" (").filter(|at| *at * 3 >= broken.len());
        bracket.filter(|_| is_open(&broken.len()))
    });
    let clause = clause.or_else(|| last_joint(broken));
    clause.map_or_else(|| broken.trim_end().to_owned(), |at| broken[..at].trim_end().to_owned())
}

/// Returns the start of the last subordinate clause in the second half of a text that breaks off.
fn last_joint(broken: &str) -> Option<usize> {
    let joints = pattern!(
        r" (?:until|because|when|while|after|before|since|unless|if|so that|which|where|especially|rather than)\b"
    );
    joints.find_iter(broken).map(|found| found.start()).filter(|at| *at * 2 >= broken.len()).last()
}

/// Whether a label says only what kind of text follows, such as `Status` or `Problem`.
pub(super) fn is_generic(label: &str) -> bool {
    pattern!(
        r"(?i)^(?:why|what|how|where|when|description|status|problem|solution|issue|results?|impact|effect|notes?|details?|summary|context|goal|approach|overall|before|after|risk|effort|severity|verdict|files?|location|reason|evidence|action|changes?|change made|pros?|cons?|example|rationale|updated?|added|new|old|answer|short answer|bottom line|conclusion|in short|net|yes|no)$"
    )
    .is_match(label)
}

/// Returns a label without its number: `3. Parser` becomes `Parser`.
pub(super) fn without_number(label: &str) -> &str {
    let number = pattern!(r"^\d{1,2}[.)] +");
    number.find(label).map_or(label, |found| &label[found.end()..])
}

/// Returns the heading above a claim, if the heading is specific.
fn subject(claim: &Claim) -> Option<&str> {
    let section = claim.section.as_deref()?;
    let plain = section.trim_start_matches(|c: char| !c.is_alphabetic() && c != '`');
    (topic_of_heading(section).is_none() && (8..=90).contains(&plain.len())).then_some(plain)
}

/// Whether a line cannot be understood without the line before it.
pub(super) fn depends_on_context(line: &str) -> bool {
    pattern!(r"^\.\.\.|^[^\p{L}\p{N}`./~@#$<\[_-]").is_match(line)
        || is_phrase(Topic::Continuation, line)
}

/// Whether a claim is one half of a pair, such as `input` and `output`, or metadata of a review,
/// such as the branch or the number of files.
fn is_half(claim: &Claim) -> bool {
    let label = claim.label.as_deref().unwrap_or_default();
    let is_example = pattern!(r"(?i)^with(?:out)? [\w-]+: `").is_match(&claim.text);
    is_example || pattern!(r"(?i)^(?:with(?:out)? [\w-]+|(?:example )?(?:input|output)|(?:current |base |target )?branch(?:es)?|base(?: (?:branch|commit))?|files? (?:changed|reviewed)|commits?|author|date|repo(?:sitory)?)$")
        .is_match(label)
}

/// Whether a line contains only code, such as the files that the items below it are about.
fn is_only_code(line: &str) -> bool {
    line.contains('`')
        && !line.split('`').step_by(2).flat_map(str::split_whitespace).any(|word| {
            word.chars().filter(|c| c.is_alphanumeric()).count() >= 2
                && !matches!(word, "and" | "or")
        })
}

/// Whether a line breaks off, has a gap, or lacks a closing bracket.
fn is_broken(line: &str) -> bool {
    let count = |mark: char| line.chars().filter(|c| *c == mark).count();
    line.ends_with([':', '?', '…', '(', ','])
        || line.contains(" … ")
        || count('(') > count(')')
        || pattern!(r"(?i)\b(?:the|a|an|of|to|and|or|with|by|for|from|in|into|via|e\.g)$")
            .is_match(line)
}

/// Adds `text` unless it shares most of its words with an entry of the list.
pub(super) fn push(list: &mut Vec<String>, text: String) {
    if !text.is_empty() && !list.iter().any(|known| same_words(known, &text)) {
        list.push(text);
    }
}

/// Whether a file is not part of the project: it is a scratch file, or one of the agent's own plans
/// and notes.
pub(super) fn is_outside_project(evidence: &Evidence, path: &str) -> bool {
    is_scratch(evidence, path) || paths::is_agents_own(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_leaves_no_bracket_open() {
        let text = "Remove the click handler (consistent with the browser; prevents three calls), then test it again";
        assert_eq!(cut_at_clause(text, 70), "Remove the click handler");
    }

    #[test]
    fn paths_are_relative_to_the_folder_of_the_project() {
        for (line, wanted) in [
            ("`/app/src/a.rs` and `/app/.env` are new", "`src/a.rs` and `.env` are new"),
            ("`/app/` is empty", "`/app/` is empty"),
            ("See /app/ or (/app/)", "See /app/ or (/app/)"),
            ("`/app/*.rs` and /app/{a,b}", "`*.rs` and {a,b}"),
            ("(/app/a.rs), [/app/b.rs]: \"/app/c.rs\"", "(a.rs), [b.rs]: \"c.rs\""),
            ("--config=/app/a.toml /var:/app/b", "--config=a.toml /var:b"),
            (
                "The page https://shop.example.com/app/login returns 404",
                "The page https://shop.example.com/app/login returns 404",
            ),
            ("`packages/app/src/login.ts` is new", "`packages/app/src/login.ts` is new"),
            (
                "file:///app/a.rs and ~/app/b.rs and ./app/c.rs",
                "file:///app/a.rs and ~/app/b.rs and ./app/c.rs",
            ),
        ] {
            assert_eq!(relative_paths(line, "/app/"), wanted);
        }
    }

    #[test]
    fn dependent_and_incomplete_texts_are_recognised() {
        for line in [
            "It works now",
            "→ the state differs",
            "(b) belongs to the other one",
            "Instead the loader waits",
        ] {
            assert!(depends_on_context(line), "{line}");
        }
        for line in ["Construc … wraps the error", "Add remarks to", "The guard (see the test"] {
            assert!(is_broken(line), "{line}");
        }
        assert!(
            !depends_on_context("`x` is read twice") && !is_broken("Added a guard to the list")
        );
        assert!(is_only_code("`src/a_test.go` and `logger_test.go`"));
        assert!(!is_only_code("`src/a_test.go`: new") && !is_only_code("Guard the list"));
        assert!(is_generic("Why") && !is_generic("Root cause of the crash"));
    }
}
