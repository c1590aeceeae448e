//! What all fields need of the evidence: statements by kind, paths as the project has them, and
//! lists in which nothing is said twice.

use std::time::Duration;

use crate::{
    lang::paths,
    model::{
        activity::{Activity, ActivityVector},
        evidence::{Evidence, FileWork, Statement, StatementKind},
        project::Project,
        wording::DELETED,
    },
    summarize::{
        from_evidence::overtaken,
        report::{Claim, Reports, Topic, is_phrase, topic_of_heading},
        text::{
            Block, blocks, capitalised, cut, has_label, one_line, pattern, same_words,
            sentence_ends, sentences, standing_alone, without_full_stop,
        },
    },
};

/// Characters of an entry in a list.
pub(super) const ENTRY: usize = 220;
/// Characters of a claim from a report.
const CLAIM: usize = 280;
/// Characters of an item that is told with each item below it.
const PARENT: usize = 80;
/// Files listed; of more, those changed last.
const FILES: usize = 100;

/// The evidence, seen from its project.
#[derive(Clone, Copy)]
pub(super) struct Entries<'e> {
    pub(super) evidence: &'e Evidence,
    pub(super) reports: &'e Reports,
    pub(super) project: Option<&'e Project>,
}

impl<'e> Entries<'e> {
    /// Statements of a kind, in order, those of the last words at the end.
    pub(super) fn statements(&self, kind: StatementKind) -> impl Iterator<Item = &'e Statement> {
        let evidence = self.evidence;
        evidence.statements.iter().chain(&evidence.report).filter(move |one| one.kind == kind)
    }

    /// `path` as seen from the project.
    pub(super) fn path<'p>(&self, path: &'p str) -> &'p str {
        let path = self.project.map_or(path, |project| project.relative(path));
        // A worktree of the agent's own is the same project elsewhere.
        paths::inside_worktree(path)
    }

    /// Text as one clean line in which the project's files have their relative paths.
    pub(super) fn tidy_line(&self, text: &str) -> String {
        let line = one_line(text);
        match self.project.map(Project::path).filter(|path| path.len() > 1) {
            Some(path) => line.replace(&format!("{path}/"), ""),
            None => line,
        }
    }

    /// Text as an entry of a list: one clean line, cut, without the full stop of a lone sentence.
    pub(super) fn tidy(&self, text: &str) -> String {
        let line = cut(&self.tidy_line(text), ENTRY);
        let plain = if sentences(&line).len() <= 1 { without_full_stop(&line) } else { &line };
        capitalised(plain.trim_end_matches(" …"))
    }

    /// A claim of a report as an entry that stands alone; `None` when it leans on what stands
    /// before it, or breaks off.
    pub(super) fn claim(&self, claim: &Claim) -> Option<String> {
        let text = self.tidy_line(&claim.text);
        // What an agent says it will do next, or offers, is no part of what it states.
        let stated = sentences(&text).into_iter().take_while(|sentence| {
            (!is_phrase(Topic::Instruction, sentence) || is_phrase(Topic::LeftToUser, sentence))
                && !is_phrase(Topic::Proposal, sentence)
                && !sentence.ends_with('?')
        });
        let mut stated: Vec<&str> = stated.collect();
        // What introduces a list stands with the list.
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
        let stands_alone = !leans(&line)
            && !is_half(claim)
            && !is_broken(&line)
            && !is_only_code(&line)
            && !self.names_a_commit(&line)
            && line.chars().filter(|c| c.is_alphabetic()).count() >= 12;
        let line = capitalised(without_full_stop(&line));
        (stands_alone && line.split_whitespace().count() >= 3).then_some(line)
    }

    /// A nested item with what stands above it; `None` where that is too long to be told with it.
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

    /// Whether a line begins with the hash of one of the session's commits, which is told already.
    fn names_a_commit(&self, line: &str) -> bool {
        let first = line.trim_start_matches(['`', '(']);
        let hash = first.split(|c: char| !c.is_ascii_hexdigit()).next().unwrap_or_default();
        hash.len() >= 7
            && self.evidence.commits.iter().any(|commit| {
                !commit.hash.is_empty()
                    && (commit.hash.starts_with(hash) || hash.starts_with(&commit.hash))
            })
    }

    /// Something done as an entry, without who did it: `I've added a test` is `Added a test`.
    pub(super) fn deed(&self, text: &str) -> String {
        let plain = pattern!(
            r"(?i)^(?:I|we)(?:'ve| have)? (?:successfully |also |now |just )*|^successfully "
        )
        .replace(text, "");
        self.tidy(&plain)
    }

    /// Something left as an entry: `Next: watch the queue` is `Watch the queue`.
    pub(super) fn open_end(&self, text: &str) -> String {
        let plain = pattern!(
            r"(?i)^(?:next(?: steps?)?|(?:still )?open|to ?do|remaining|left)(?: to do)?: *"
        )
        .replace(text, "");
        self.tidy(&plain)
    }

    /// A cause as an entry: `The issue was that X` is `X`.
    pub(super) fn cause(&self, text: &str) -> String {
        let plain = pattern!(
            r"(?i)^(?:fixed[:!.] )?(?:so |and |but |ah,? )?(?:the |this |that )?(?:actual |real |core |main )?(?:root cause|issue|problem|bug|cause|culprit)(?: here| identified)?(?: (?:is|was)(?: that)?|:) *"
        )
        .replace(text, "");
        // `Fixed the mock: the tests were failing because …` names the cause after the deed.
        let after = plain.split_once(": ").map(|(_, rest)| rest);
        let after = after.filter(|rest| rest.len() >= 30 && rest.starts_with(char::is_uppercase));
        let told = after.unwrap_or(&plain);
        self.tidy(if told.len() >= 20 { told } else { text })
    }

    /// The first plain statement of the agent's last words, about more than how it went.
    pub(super) fn first_words(&self) -> Option<String> {
        let (prose, _) = plain_words(&self.evidence.last_reply.as_ref()?.text);
        prose.first().map(|one| self.tidy(one))
    }

    /// The files that the session changed and that still matter, or nothing when it is not known
    /// to have looked at any. A session that explored has an empty list.
    pub(super) fn files_modified(&self, activity: &ActivityVector) -> Option<Vec<String>> {
        let worked = self.evidence.files.iter().filter(|(path, work)| {
            let came_and_went =
                work.deleted && (work.writes > 0 || is_unseen(self.evidence, path, work));
            work.changed()
                && !came_and_went
                && !is_scratch(path)
                && !overtaken::is_taken_back(self.evidence, path, work)
        });
        let mut worked: Vec<_> = worked.collect();
        if worked.is_empty() {
            let explored = [Activity::Exploring, Activity::Reviewing]
                .into_iter()
                .any(|one| activity.primary_activity() == one.as_str());
            // What was committed was changed, though it is not seen how.
            let is_known = !self.evidence.files.is_empty() && self.evidence.commits.is_empty();
            return (explored && is_known).then(Vec::new);
        }
        worked.sort_by_key(|(_, work)| std::cmp::Reverse(work.last));
        worked.truncate(FILES);
        let shown = |(path, work): (&String, &FileWork)| match work.deleted {
            true => format!("{}{DELETED}", self.path(path)),
            false => self.path(path).to_owned(),
        };
        let mut paths: Vec<String> = worked.into_iter().map(shown).collect();
        paths.sort();
        paths.dedup();
        Some(paths)
    }

    /// MCP tools by name.
    pub(super) fn mcp_tools(&self) -> Vec<String> {
        self.evidence.tools.keys().filter(|name| name.starts_with("mcp__")).cloned().collect()
    }

    /// Minutes from the first to the last message, rounded.
    pub(super) fn minutes(&self) -> Option<u32> {
        let span = &self.evidence.span;
        let length = span.last?.since(span.first?);
        let half = Duration::from_secs(30);
        u32::try_from((length + half).as_secs() / 60).ok()
    }
}

/// The statements of a reply that stand for themselves: not greetings, not test results, not talk
/// with the user. First those of its paragraphs, then those of its lists.
pub(super) fn plain_words(reply: &str) -> (Vec<String>, Vec<String>) {
    let (mut prose, mut listed) = (Vec::new(), Vec::new());
    for block in blocks(reply) {
        let (text, into) = match block {
            Block::Paragraph(text) => (text, &mut prose),
            Block::Item(text) => (text, &mut listed),
            Block::Heading(_) => continue,
        };
        let line = one_line(&text);
        let alone = sentences(&line).into_iter().filter_map(standing_alone);
        into.extend(alone.filter(|one| {
            one.len() >= 40
                && !one.ends_with(['?', '…'])
                && !one.starts_with(['"', '/', '<'])
                && !is_talk(one)
        }));
    }
    (prose, listed)
}

fn is_talk(sentence: &str) -> bool {
    pattern!(
        r"(?i)^(?:i |i'|we |we'|you |you'|let |here|ready |great|perfect|excellent|done|all (?:\d|tests|clean|good|\w+ tests)|sure|good|yes|no[,. ]|lint|tests? pass|now |feel free|if |want|would|committed|commit `|based on|next|to |the following|it |this |that |these |they |however|in that|but |so |and |also |option )|\b(?:now passing|passes? cleanly|let me|you can|your)\b|^\(|…"
    )
    .is_match(sentence)
        || has_label(sentence, 2..=25)
}

/// `text` in at most `limit` characters: whole sentences, else up to the end of a clause.
pub(super) fn cut_at_clause(text: &str, limit: usize) -> String {
    let cut = cut(text, limit);
    let Some(broken) = cut.strip_suffix('…') else { return cut };
    // A whole sentence says more than a longer one that breaks off.
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

/// Where a subordinate clause begins, in the second half of a text that breaks off.
fn last_joint(broken: &str) -> Option<usize> {
    let joints = pattern!(
        r" (?:until|because|when|while|after|before|since|unless|if|so that|which|where|especially|rather than)\b"
    );
    joints.find_iter(broken).map(|found| found.start()).filter(|at| *at * 2 >= broken.len()).last()
}

/// A label that says what kind of thing follows, but not of what.
pub(super) fn is_generic(label: &str) -> bool {
    pattern!(
        r"(?i)^(?:why|what|how|where|when|what's (?:lost|preserved|left)|description|status|problem|solution|issue|results?|impact|effect|notes?|details?|summary|context|goal|approach|overall|before|after|risk|effort|severity|verdict|files?|location|reason|evidence|action|changes?|change made|pros?|cons?|example|rationale|updated?|added|new|old|answer|short answer|bottom line|yes|no)$"
    )
    .is_match(label)
}

/// A label without its place in a list: `3. Parser` is `Parser`.
pub(super) fn without_number(label: &str) -> &str {
    let number = pattern!(r"^\d{1,2}[.)] +");
    number.find(label).map_or(label, |found| &label[found.end()..])
}

/// What the heading above a claim names, where the heading is no mere announcement.
fn subject(claim: &Claim) -> Option<&str> {
    let section = claim.section.as_deref()?;
    let plain = section.trim_start_matches(|c: char| !c.is_alphabetic() && c != '`');
    (topic_of_heading(section).is_none() && (8..=90).contains(&plain.len())).then_some(plain)
}

/// Whether a line means nothing without what stood before it.
pub(super) fn leans(line: &str) -> bool {
    pattern!(
        r"(?i)^\.\.\.|^(?:it|its|it's|this|these|those|that|that's|they|their|but|so|and|or|also|however|then|thus|hence|he|she|which|same|both (?:of|are|is|were|have|had|now|do|can|will|would|should|need|pass|work|look|seem|fixes|changes)|either|neither|here|there|above|below|see|e\.g|if|otherwise|instead|another|the (?:former|latter|above|following|rest)|verdict|net|bottom line|conclusion|facts check out|factually correct|where it|asked|note that|i'm|you're|now|good|great|perfect|excellent|let|in (?:this|that|both) (?:case|cases|way)?|with (?:this|that)|for (?:this|that)|as such)\b|^[^\p{L}\p{N}`./~@#$<\[_-]"
    )
    .is_match(line)
}

/// Whether a claim is half of a pair, of which the other half may be missing, or the head of a
/// review: which branch, how many files.
fn is_half(claim: &Claim) -> bool {
    let label = claim.label.as_deref().unwrap_or_default();
    let is_example = pattern!(r"(?i)^with(?:out)? [\w-]+: `").is_match(&claim.text);
    is_example || pattern!(r"(?i)^(?:with(?:out)? [\w-]+|(?:example )?(?:input|output)|(?:current |base |target )?branch(?:es)?|base(?: (?:branch|commit))?|files? (?:changed|reviewed)|commits?|author|date|repo(?:sitory)?)$")
        .is_match(label)
}

/// Whether a line only names code, such as the files that the items below it are about.
fn is_only_code(line: &str) -> bool {
    line.contains('`')
        && !line.split('`').step_by(2).flat_map(str::split_whitespace).any(|word| {
            word.chars().filter(|c| c.is_alphanumeric()).count() >= 2
                && !matches!(word, "and" | "or")
        })
}

/// Whether a line breaks off, has a hole, or lacks a bracket's partner.
fn is_broken(line: &str) -> bool {
    let count = |mark: char| line.chars().filter(|c| *c == mark).count();
    line.ends_with([':', '?', '…', '(', ','])
        || line.contains(" … ")
        || count('(') > count(')')
        || pattern!(r"(?i)\b(?:the|a|an|of|to|and|or|with|by|for|from|in|into|via|e\.g)$")
            .is_match(line)
}

/// Whether a file was removed that nothing else shows: the session may have made it itself.
fn is_unseen(evidence: &Evidence, path: &str, work: &FileWork) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let in_git = evidence.commands.iter().any(|run| {
        run.command.contains("git rm")
            || run.command.contains("git add") && run.command.contains(name)
    });
    let in_commit = evidence
        .commits
        .iter()
        .any(|commit| commit.subject.contains(stem) || commit.body.contains(stem));
    work.reads + work.edits == 0 && work.moved_from.is_none() && !in_git && !in_commit
}

/// Adds `text` unless the list says it already.
pub(super) fn push(list: &mut Vec<String>, text: String) {
    if !text.is_empty() && !list.iter().any(|known| same_words(known, &text)) {
        list.push(text);
    }
}

/// Files outside of the work: scratch folders, and the agent's own plans and memory.
pub(super) fn is_scratch(path: &str) -> bool {
    pattern!(
        r"^(?:/private)?/(?:tmp|var/folders|dev)/|/\.claude/(?:plans|projects|todos)/|/scratchpad/"
    )
    .is_match(path)
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
    fn what_leans_or_breaks_off_is_no_entry() {
        for line in [
            "It works now",
            "→ the state differs",
            "(b) belongs to the other one",
            "Instead the loader waits",
        ] {
            assert!(leans(line), "{line}");
        }
        for line in ["Construc … wraps the error", "Add remarks to", "The guard (see the test"] {
            assert!(is_broken(line), "{line}");
        }
        assert!(!leans("`x` is read twice") && !is_broken("Added a guard to the list"));
        assert!(is_only_code("`src/a_test.go` and `logger_test.go`"));
        assert!(!is_only_code("`src/a_test.go`: new") && !is_only_code("Guard the list"));
        assert!(is_generic("Why") && !is_generic("Root cause of the crash"));
    }
}
