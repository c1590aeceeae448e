//! Finds the files that must not be in the session's commits, and whether the user wants no commit
//! at all.

use crate::{
    model::{
        evidence::{Evidence, GitView},
        time::Timestamp,
        transcript::Origin,
    },
    text::pattern,
};

/// Whether git printed `view` after the event at `origin` and `at`. Compares the positions if both
/// are in the same transcript, and the times otherwise. Returns `false` if a needed time is
/// missing.
pub(crate) fn is_later<T>(view: &GitView<T>, origin: Origin, at: Option<Timestamp>) -> bool {
    view.origin.is_after(view.at, origin, at)
}

/// Whether the session's path `own` is the path that git printed, or is below a folder that git
/// printed.
pub(crate) fn is_file(own: &str, printed: &str) -> bool {
    let printed = printed.trim_start_matches("../").trim_start_matches("./");
    match printed.strip_suffix('/') {
        Some(folder) => own.starts_with(printed) || own.contains(&format!("/{folder}/")),
        None => own == printed || own.ends_with(&format!("/{printed}")),
    }
}

/// The files that are not meant to be committed.
pub(crate) struct LocalFiles<'e> {
    /// The paths that git printed as ignored.
    ignored: &'e [String],
    /// The files that a report calls ignored, or that the user wants to stay local.
    named: Vec<&'e str>,
}

impl<'e> LocalFiles<'e> {
    pub(crate) fn of(evidence: &'e Evidence) -> LocalFiles<'e> {
        let reports = evidence.reports.iter().flat_map(|report| called_ignored(&report.text));
        let prompts = evidence.prompts.iter().filter(|prompt| prompt.origin.source == 0);
        let named = reports.chain(prompts.flat_map(|prompt| kept_local(&prompt.text)));
        LocalFiles { ignored: &evidence.checkout.ignored, named: named.collect() }
    }

    /// Whether a file is local, according to its name, the output of git, a report or the user.
    pub(crate) fn contain(&self, path: &str) -> bool {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let is_by_name = pattern!(
            r"(?i)(?:^|[./_-])local\.(?:md|json|ya?ml|toml|env)$|^\.env(?:\.[\w.]*local)?$"
        )
        .is_match(name)
            || path.contains("/.git/");
        is_by_name
            || self.ignored.iter().any(|ignored| is_file(path, ignored))
            || self.named.iter().any(|named| *named == name || is_file(path, named))
    }
}

/// Returns the files that the user wants to keep out of the repository.
fn kept_local(prompt: &str) -> Vec<&str> {
    let named = pattern!(
        r"(?i)\b(?:do not|don.?t|never|no need to) (?:commit|check in|track|push) (?:\S+ )??(?:\S+ )??[`']?([\w./-]+\.\w+)|\b(?:keep|leave) (?:\S+ )??[`']?([\w./-]+\.\w+)[`']? (?:file )?(?:local\b|locally\b|untracked\b|uncommitted\b|out of (?:git|the repo))"
    );
    // `Don't commit until a.test.ts passes` is about the time of the commit.
    let waits = |words: &str| {
        pattern!(r"(?i)\b(?:until|before|unless|if|when|while|because|after)\b").is_match(words)
    };
    let found = named.captures_iter(prompt).filter(|found| !waits(&found[0]));
    let names = found.filter_map(|found| found.get(1).or(found.get(2)));
    names.map(|name| name.as_str().trim_start_matches("./")).collect()
}

/// Returns the files that a report calls ignored by git.
fn called_ignored(report: &str) -> Vec<&str> {
    let ignored = pattern!(
        r"(?i)`([\w./-]+)`([^.`\n]{0,40})\b(?:git-?ignored\b|ignored by git\b|in (?:the )?`?\.gitignore)"
    );
    let denies = |words: &str| pattern!(r"(?i)\bnot\b|n['’]t\b").is_match(words);
    let named = ignored.captures_iter(report).filter(|found| !denies(&found[2]));
    let names = named.filter_map(|found| found.get(1)).map(|name| name.as_str());
    names.filter(|name| !name.ends_with(".gitignore")).collect()
}

/// Whether the user asked, after the last commit, to leave the changes uncommitted.
pub(crate) fn wants_no_commit(evidence: &Evidence) -> bool {
    let committed = evidence.commits.last().map(|commit| commit.origin);
    let mut prompts = evidence.prompts.iter().filter(|prompt| {
        prompt.origin.source == 0 && committed.is_none_or(|commit| prompt.origin > commit)
    });
    prompts.any(|prompt| forbids_commit(&prompt.text))
}

fn forbids_commit(prompt: &str) -> bool {
    // `generate changes, do not commit` may describe what a script has to do.
    pattern!(r"(?im)(?:^|[.!?] +|\b(?:but|and|please|ok|okay),? )(?:please )?(?:do not|don.?t|never|no need to|i (?:do not|don.?t) want (?:you )?to) commit(?: (?:yet|anything|it|this|that|them|these|the (?:changes|code|work)))?(?:[.,;!)]|$| (?:until|before|unless|yet|for now)\b)|^i(?:.ll| will) commit\b")
        .is_match(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_may_want_no_commit() {
        for prompt in
            ["Fix it, but don't commit yet.", "I don't want to commit", "i'll commit it myself"]
        {
            assert!(forbids_commit(prompt), "{prompt}");
        }
        for prompt in [
            "Don't commit notes.md please",
            "generate changes, do not commit but check the branch",
            "commit this",
        ] {
            assert!(!forbids_commit(prompt), "{prompt}");
        }
    }

    #[test]
    fn a_report_says_what_git_ignores() {
        assert_eq!(called_ignored("Wrote `a/local.json`, which is gitignored."), ["a/local.json"]);
        assert_eq!(called_ignored("`notes/` is in `.gitignore` now"), ["notes/"]);
        for report in ["`a.rs` is changed. It ignores `b`.", "`a.rs` is not gitignored"] {
            assert_eq!(called_ignored(report), [""; 0], "{report}");
        }
    }

    #[test]
    fn files_that_the_user_keeps_local_are_found() {
        for (prompt, wanted) in [
            ("Don't commit notes.md please", vec!["notes.md"]),
            ("never commit the file `dev/keys.json`.", vec!["dev/keys.json"]),
            ("keep mise.toml local", vec!["mise.toml"]),
            ("Don't commit any hooks in settings.json", vec![]),
            ("commit notes.md", vec![]),
            ("don't commit until parser.test.ts passes", vec![]),
            ("do not push before config.yml is right", vec![]),
        ] {
            assert_eq!(kept_local(prompt), wanted, "{prompt}");
        }
    }
}
