//! Recognises text of reports that repeats the commits and pushes of the session.

use crate::{
    model::evidence::Commit,
    text::{contains_name, pattern},
};

/// Number of bytes at the start of a part that are searched for the hash of a commit. A part with a
/// hash there is about this commit.
const HEAD: usize = 32;
/// Minimum length, in bytes, of a commit's subject of fewer than [`SUBJECT_WORDS`] words that
/// identifies the commit. `fix` and `update` are in other texts, too.
const SUBJECT_BYTES: usize = 15;
/// Minimum number of words of a shorter subject that identifies its commit.
const SUBJECT_WORDS: usize = 3;

/// Whether a part only mentions a commit, such as ``Pushed commit: `1a2b3c4` ``. The summary lists
/// the commits anyway.
pub(super) fn names_a_commit(commits: &[Commit], part: &str) -> bool {
    let names = |commit: &Commit| {
        commit.hash.get(..7).is_some_and(|hash| part.contains(hash)) || {
            let subject = commit.subject.as_str();
            let words = subject.split_whitespace().count();
            (words >= SUBJECT_WORDS || subject.len() >= SUBJECT_BYTES)
                && contains_name(part, subject)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_long_subject_identifies_a_commit() {
        let names = |subject: &str, part: &str| {
            let commit = Commit {
                hash: "1a2b3c4".to_owned(),
                subject: subject.to_owned(),
                body: String::new(),
                at: None,
                origin: crate::model::transcript::Origin::default(),
            };
            names_a_commit(&[commit], part)
        };
        for (subject, part) in [
            ("fix", "The prefix of each key comes from `config.toml` now."),
            ("update", "Old keys stay valid until the next update of the server."),
            ("docs", "The limit is ten keys, as `docs/keys.md` says."),
            ("Sort the row", "Sort the rows by their dates."),
        ] {
            assert!(!names(subject, part), "{subject}: {part}");
        }
        for (subject, part) in [
            ("Sort the rows", "Committed as \"Sort the rows\"."),
            ("Limit uploads", "Committed 1a2b3c4 (Limit uploads)."),
            ("docs: update the readme", "Commit: docs: update the readme"),
        ] {
            assert!(names(subject, part), "{subject}: {part}");
        }
    }
}
