//! Reads the changed files from the output of `git status`.

use crate::{
    model::evidence::ChangedFiles,
    summarize::evidence::{bounds, shell::GitCall},
    text::{kept, pattern},
};

/// Maximum number of files kept of a status.
pub(super) const FILES: usize = 60;

/// Returns the files that a status lists; `None` if the output is not a status.
pub(super) fn files_of_status(output: &str, call: &GitCall) -> Option<ChangedFiles> {
    let is_short = call
        .words
        .iter()
        .any(|word| pattern!(r"^(?:-\w*s\w*|--short|--porcelain.*)$").is_match(word));
    let is_clean = output.contains("nothing to commit, working tree clean");
    let long = pattern!(
        r"(?m)^\t(?:(?:modified|new file|deleted|renamed|copied|typechange|both modified|both added|deleted by \w+): +)?(\S.*?)(?: \([^)]*\))?$"
    );
    // Git quotes names with blanks, so ` A daemon that sorts.` is a line of a file.
    let short = pattern!(
        r#"(?m)^(?:[ MADRCTU?][MADTU?]|[MADRCTU] ) ((?:"[^"\n]+"|\S+)(?: -> (?:"[^"\n]+"|\S+))?)\r?$"#
    );
    let listed = if is_short { short } else { long };
    let output = if call.is_first && !call.is_alone { own_lines(output, is_short) } else { output };
    let name = |path: &str| {
        let path = path.rsplit(" -> ").next().unwrap_or(path).trim_matches('"');
        kept(path, bounds::PATH)
    };
    let mut paths: Vec<String> = Vec::new();
    for found in listed.captures_iter(output) {
        let path = name(&found[1]);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    // A short status of a clean tree prints nothing besides the branch.
    let is_empty = |line: &str| line.trim().is_empty() || line.starts_with("## ");
    let says_nothing = is_short && call.is_alone && output.lines().all(is_empty);
    if paths.is_empty() && !is_clean && !says_nothing {
        return None;
    }
    let is_part = paths.len() > FILES;
    paths.truncate(FILES);
    Some(ChangedFiles { paths, is_part })
}

/// Returns the lines of a status at the beginning of an output, without the lines of later
/// commands.
fn own_lines(output: &str, is_short: bool) -> &str {
    let line = match is_short {
        true => pattern!(r"^(?:## .*|[ MADRCTU?!]{2} \S.*)?\r?$"),
        false => pattern!(
            r"^(?:\t.*|  \(.*|(?:On branch|HEAD detached|Not currently on|Your branch|and have|Changes |Untracked files|Ignored files|Unmerged paths|You |All conflicts|No commits yet|nothing |no changes |interactive rebase|Last command|Next command|No commands|It took|   ).*)?\r?$"
        ),
    };
    let end =
        output.split_inclusive('\n').take_while(|one| line.is_match(one.trim_end_matches('\n')));
    &output[..end.map(str::len).sum()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::evidence::shell::CommandLine;

    #[test]
    fn lines_of_later_commands_are_no_files() {
        let long = "On branch fix/x\nChanges not staged for commit:\n  (use \"git add <file>...\")\n\tmodified:   src/a.rs\n\nUntracked files:\n\tb.rs\n\nno changes added to commit (use \"git add\")\n";
        let code = "package main\nfunc main() {\n\tfmt.Println(1)\n\treturn\n}\n";
        let short = " M src/a.rs\n?? b.rs\n";
        let diff = "diff --git a/README.md b/README.md\n A daemon that sorts.\n-x\n+y\n";
        for (line, output) in [
            ("git status && cat main.go", format!("{long}{code}")),
            ("git status && ls", long.to_owned()),
            ("git status", long.to_owned()),
            ("git status --short; git diff README.md", format!("{short}{diff}")),
            ("git status -sb && cat NEWS.md", format!("## fix/x\n{short}# News\n\n A list.\n")),
            ("git add -A && git status --short", short.to_owned()),
            ("git diff README.md; git status -s", format!("{diff}{short}")),
            ("git diff README.md; git status -s", format!("{diff} M src/a.rs\r\n?? b.rs\r\n")),
        ] {
            let command = CommandLine::read(line, "/app");
            let call = command.git.iter().find(|call| call.subcommand() == "status").unwrap();
            let files = files_of_status(&output, call).unwrap();
            assert_eq!(files.paths, ["src/a.rs", "b.rs"], "{line}");
        }
    }

    #[test]
    fn names_with_blanks_and_renamed_files_are_read() {
        let command = CommandLine::read("git diff x.rs; git status -s", "/app");
        let output = "-x\n+y\nR  a.rs -> src/b.rs\nR  \"a b\" -> \"c d\"\n?? \"e f\"\nA  g.rs\n";
        let files = files_of_status(output, &command.git[1]).unwrap();
        assert_eq!(files.paths, ["src/b.rs", "c d", "e f", "g.rs"]);
    }
}
