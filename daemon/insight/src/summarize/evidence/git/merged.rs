//! Finds pull requests that were merged, in git's history and in the output of the forge's program.

use crate::{
    summarize::{
        evidence::{run::Run, shell::CommandLine},
        lists::push_latest,
    },
    text::pattern,
};

/// Maximum number of merged pull requests that are kept, and also of closed pull requests.
pub(super) const MERGED: usize = 40;

/// Adds the numbers of the pull requests that the output of a command shows as merged.
pub(super) fn observe(merged: &mut Vec<u64>, command: &CommandLine, output: &str) {
    let asks_forge = command.shown.contains("gh pr ");
    let is_history = command.git.iter().any(|call| {
        matches!(call.subcommand(), "log" | "show" | "pull" | "merge" | "reset" | "rebase")
    });
    let mut numbers: Vec<u64> = Vec::new();
    let mut add = |digits: &str| numbers.extend(digits.parse::<u64>());
    if is_history {
        // The forge adds the number to the subject when it merges.
        let subject = pattern!(
            r"(?m)\bMerge pull request #([0-9]{1,7}) from\b|^[ *|]*(?:[0-9a-f]{7,40} )?\S.* \(#([0-9]{1,7})\)$"
        );
        for found in subject.captures_iter(output) {
            found.get(1).or(found.get(2)).into_iter().for_each(|digits| add(digits.as_str()));
        }
    }
    if asks_forge {
        let done = pattern!(
            r"(?m)^\W*(?:Merged|Squashed and merged|Rebased and merged) pull request \S*#([0-9]{1,7})"
        );
        done.captures_iter(output).for_each(|found| add(&found[1]));
        let asked = pattern!(r"\bgh pr view (?:-\S+ )*#?([0-9]{1,7})\b");
        let mut asked = asked.captures_iter(&command.shown).map(|found| found[1].to_owned());
        let only = asked.next().filter(|_| asked.next().is_none());
        let is_merged = pattern!(r#""state": ?"MERGED"|(?m)^state:\s+MERGED$"#);
        let number = pattern!(r#""number": ?([0-9]{1,7})\b|(?m)^number:\s+([0-9]{1,7})$"#);
        for object in output.split("},").filter(|object| is_merged.is_match(object)) {
            let own = number.captures(object);
            let own = own.and_then(|found| found.get(1).or(found.get(2)).map(|one| one.as_str()));
            own.or(only.as_deref()).into_iter().for_each(&mut add);
        }
    }
    numbers.into_iter().for_each(|number| push(merged, number));
}

/// Adds the number in a successful call of `gh pr merge`, which prints nothing without a terminal.
pub(super) fn observe_silent(merged: &mut Vec<u64>, run: &Run<'_>) {
    let named = pattern!(r"\bgh pr merge (?:-\S+ )*#?([0-9]{1,7})(?:\s|$)");
    let found = named.captures(&run.command.shown).filter(|_| run.output.trim().is_empty());
    let number = found.and_then(|found| found[1].parse().ok());
    number.into_iter().for_each(|number| push(merged, number));
}

fn push(merged: &mut Vec<u64>, number: u64) {
    if !merged.contains(&number) {
        push_latest(merged, number, MERGED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_pull_requests_are_read_from_history_and_forge() {
        for (line, output, wanted) in [
            (
                "git log --oneline -3 origin/main",
                "b79c3a6 Merge pull request #5 from x/y\n1a2b3c4 fix: sort (#12)\n1a2b3c5 See #13\n",
                vec![5, 12],
            ),
            (
                "gh pr merge 7 --squash",
                "✓ Squashed and merged pull request a/b#7 (Sort)\n",
                vec![7],
            ),
            (
                "gh pr view 9 --json state,title",
                "{\"state\":\"MERGED\",\"title\":\"A\"}\n",
                vec![9],
            ),
            (
                "gh pr list --state all --json number,state",
                "[{\"number\":3,\"state\":\"OPEN\"},{\"number\":4,\"state\":\"MERGED\"}]\n",
                vec![4],
            ),
            ("gh pr view 9 --json state", "{\"state\":\"OPEN\"}\n", vec![]),
            ("cat notes.md", "Merge pull request #5 from x/y\n", vec![]),
        ] {
            let mut merged = Vec::new();
            observe(&mut merged, &CommandLine::read(line, "/app"), output);
            assert_eq!(merged, wanted, "{line}");
        }
    }
}
