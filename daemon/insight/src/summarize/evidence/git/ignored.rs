//! Reads the paths that git ignores.

use crate::{summarize::evidence::shell::GitCall, text::pattern};

/// Returns the paths that the output of a call shows as ignored: git refused to add them, `git
/// check-ignore` printed them, or a status marks them.
pub(super) fn paths<'o>(call: &GitCall, output: &'o str) -> Vec<&'o str> {
    match call.subcommand() {
        "add" => refused(output),
        "check-ignore" if call.is_alone => {
            // With `-v`, the path comes after the rule.
            let paths = output.lines().map(|line| line.rsplit('\t').next().unwrap_or(line).trim());
            paths.filter(|path| !path.is_empty() && !path.contains(' ')).collect()
        }
        "status" => {
            let marked = pattern!(r"(?m)^!! (\S+)$");
            marked
                .captures_iter(output)
                .filter_map(|found| found.get(1))
                .map(|path| path.as_str())
                .collect()
        }
        _ => Vec::new(),
    }
}

fn refused(output: &str) -> Vec<&str> {
    let listed = pattern!(
        r"(?m)^The following paths are ignored by one of your \.gitignore files:\n((?:[^\s:]+\n)+)"
    );
    let listed = listed.captures(output).and_then(|found| found.get(1));
    listed.map_or(Vec::new(), |listed| listed.as_str().lines().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summarize::evidence::shell::CommandLine;

    #[test]
    fn ignored_paths_are_read_from_add_check_ignore_and_status() {
        let refusal = "The following paths are ignored by one of your .gitignore files:\nnotes.md\nhint: Use -f\n";
        for (line, output, wanted) in [
            ("git add notes.md", refusal, vec!["notes.md"]),
            ("git check-ignore notes.md", "notes.md\n", vec!["notes.md"]),
            ("git check-ignore -v notes.md", ".gitignore:3:*.md\tnotes.md\n", vec!["notes.md"]),
            ("git check-ignore notes.md && echo yes", "notes.md\nyes\n", vec![]),
            ("git status --short --ignored", " M a.rs\n!! target/\n", vec!["target/"]),
        ] {
            let command = CommandLine::read(line, "/app");
            assert_eq!(paths(&command.git[0], output), wanted, "{line}");
        }
    }
}
