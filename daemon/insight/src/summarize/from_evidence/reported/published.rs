//! Recognises text of reports that repeats the commits and pushes of the session.

use std::collections::BTreeSet;

use crate::{
    model::evidence::{Commit, Evidence},
    summarize::from_evidence::repository::commit_messages,
    text::{pattern, share_of_words, words},
};

/// A commit message that contains all the code of a line repeats the line if it also contains at
/// least this share of the line's words.
const IN_COMMIT: f64 = 0.4;
/// Number of bytes at the start of a part. If they contain the hash of a commit, the part is about
/// this commit.
const HEAD: usize = 32;

/// Whether one commit of the session repeats a line with at least three names of code: the commit
/// message contains all these names and enough of the line's words.
pub(super) fn is_in_commit(evidence: &Evidence, line: &str) -> bool {
    let names: BTreeSet<&str> =
        line.split('`').skip(1).step_by(2).filter(|name| name.len() >= 4).collect();
    let line_words = words(line);
    names.len() >= 3
        && evidence.commits.iter().map(commit_messages::subject_with_excerpt).any(|commit| {
            names.iter().all(|name| commit.contains(name))
                && share_of_words(&line_words, &words(&commit)) >= IN_COMMIT
        })
}

/// Whether a part only mentions a commit, such as ``Pushed commit: `1a2b3c4` ``. The summary lists
/// the commits anyway.
pub(super) fn names_a_commit(commits: &[Commit], part: &str) -> bool {
    let names = |commit: &Commit| {
        commit.hash.get(..7).is_some_and(|hash| part.contains(hash)) || {
            !commit.subject.is_empty() && part.contains(&commit.subject)
        }
    };
    let begins = |commit: &Commit| {
        let hash = commit.hash.get(..7);
        let head = &part[..part.floor_char_boundary(HEAD)];
        hash.is_some_and(|hash| head.contains(hash))
    };
    commits.iter().any(|commit| begins(commit) || part.len() <= 200 && names(commit))
}

/// Whether a part only says that something was committed or pushed. The state of the repository
/// already shows this.
pub(super) fn is_publication(part: &str) -> bool {
    pattern!(r"(?i)^(?:all |everything |changes |both )*(?:is |are |was |were )?(?:committed|pushed|merged|done)(?: and (?:pushed|committed|merged))?(?: (?:to|on) \S+)?[.!]?$|^(?:the )?(?:branch|working tree|worktree|tree) is (?:now )?(?:clean|up to date)\b[^.;:]*[.]?$|^(?:the )?branch (?:was |is )?(?:now )?rebased (?:on ?to|on) \S+(?:,? and (?:force-?)?pushed)?[.!]?$")
        .is_match(part)
}
