//! Builds and recognises the calls of this program in the settings of agents.

use std::path::Path;

/// The argument of a hook.
const HOOK: &str = "hook";

/// Returns a program and its argument as a shell command line. Some versions of agents pass the
/// argument only in this form.
pub(crate) fn shell_line(program: &Path, argument: &str) -> String {
    let program = program.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+".contains(c);
    if program.chars().all(is_plain) {
        format!("{program} {argument}")
    } else if !program.contains(['$', '`', '"', '!']) {
        // Double quotes work for spaces, and on Windows also for backslashes.
        format!("\"{program}\" {argument}")
    } else {
        format!("'{}' {argument}", program.replace('\'', r"'\''"))
    }
}

/// Whether a path is the path of `graphiti`, in any location.
pub(super) fn is_ours(program: &str) -> bool {
    // Also accepts paths of other systems, because settings may be shared.
    let name = program.trim_matches(['"', '\'']).rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(name, "graphiti" | "graphiti.exe")
}

/// Whether a shell command line runs our hook, with or without the name of an agent.
pub(super) fn is_hook_line(line: &str) -> bool {
    let runs_hook = |line: &str| {
        line.strip_suffix(HOOK)
            .and_then(|line| line.strip_suffix(char::is_whitespace))
            .is_some_and(|program| is_ours(program.trim_end()))
    };
    let is_name = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    runs_hook(line)
        || line
            .rsplit_once(char::is_whitespace)
            .is_some_and(|(rest, last)| is_name(last) && runs_hook(rest.trim_end()))
}

/// Whether a command line is our program without arguments. Claude Code before 2.1.139 ignores the
/// separate argument list of a hook, so that only the program is left.
pub(super) fn is_bare(line: &str) -> bool {
    // Our program may be the argument of another program, for example in `cat /opt/graphiti`.
    let is_one_word = !line.contains(char::is_whitespace);
    let is_path = Path::new(line).is_absolute() && !line.contains(" /");
    is_ours(line) && (is_one_word || is_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_quoted_if_its_path_requires_quotes() {
        for (program, line) in [
            ("/opt/graphiti", "/opt/graphiti hook"),
            ("/my tools/graphiti", "\"/my tools/graphiti\" hook"),
            (r"C:\bin\graphiti.exe", r#""C:\bin\graphiti.exe" hook"#),
            ("/a(1)/it's/graphiti", "\"/a(1)/it's/graphiti\" hook"),
            ("/a$b/it's/graphiti", r"'/a$b/it'\''s/graphiti' hook"),
        ] {
            assert_eq!(shell_line(Path::new(program), HOOK), line);
            assert!(is_hook_line(line) && is_hook_line(&format!("{line} codex")), "{line}");
            assert!(!is_hook_line(&format!("{line} | tee log")), "{line}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_shell_reads_the_path_of_the_program_unchanged() {
        for program in ["/bin/echo", "/a b", "/a$HOME`id`", "/it's", "/a\"b", "/a!b;c&d|e"] {
            let line = shell_line(Path::new(program), HOOK);
            let script = format!("printf '%s\\n' {line}");
            let output = std::process::Command::new("sh").arg("-c").arg(script).output().unwrap();
            let read = String::from_utf8(output.stdout).unwrap();
            assert_eq!(read, format!("{program}\nhook\n"), "{line}");
        }
    }

    #[test]
    fn only_our_program_without_arguments_is_bare() {
        assert!(is_bare("graphiti") && is_bare("/opt/graphiti"));
        assert_eq!(is_bare("/my tools/graphiti"), cfg!(unix));
        for line in ["cat /opt/graphiti", "/bin/cat /opt/graphiti", "/opt/graphiti status", ""] {
            assert!(!is_bare(line), "{line}");
        }
    }
}
