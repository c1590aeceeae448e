//! Recognises text of reports that repeats the commits and pushes of the session.

use crate::{model::evidence::Commit, text::pattern};

/// Number of bytes at the start of a part that are searched for the hash of a commit. A part with a
/// hash there is about this commit.
const HEAD: usize = 32;

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
