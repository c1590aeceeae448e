//! Recognises slips: failures that say nothing about the project, such as mistakes of the agent in
//! the use of its tools, refused permissions and a missing search tool. Also recognises successes
//! that do not prove a fix.

use std::time::Duration;

use crate::{
    model::evidence::{ErrorSeen, Resolution},
    summarize::evidence::errors::Event,
    text::pattern,
};

/// Whether the answer to a failed call of a tool shows only a failure that says nothing about the
/// project.
pub(in crate::summarize::evidence) fn is_slip(answer: &str) -> bool {
    contains_any(answer, SLIPS) || contains_any(answer, REFUSALS) || is_slip_of_command(answer)
}

/// Same as [`is_slip`], for the output of a command: the output of a long command may contain any
/// words, and a program may print the same words as a tool.
pub(in crate::summarize::evidence) fn is_slip_of_command(output: &str) -> bool {
    let is_typo_or_refused = || contains_any(output, TYPOS) || contains_any(output, REFUSALS);
    output.starts_with("<tool_use_error>")
        || output.len() <= SHORT && is_typo_or_refused()
        || lacks_search_tool(output)
}

fn contains_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// Whether an error is a mistake in the agent's own edit that the compiler found and the agent
/// fixed at once. Such an error is not reported.
pub(super) fn is_slip_of_an_edit(error: &ErrorSeen, event: Event<'_>) -> bool {
    const AT_ONCE: Duration = Duration::from_secs(90);
    let (Some(from), Some(to)) = (error.at, event.at) else { return false };
    error.times == 1
        && to.since(from) <= AT_ONCE
        && pattern!(
            r"error\[E\d+\]|\berror (?:TS|CS)\d+: |:\d+:\d+: (?:(?:fatal |syntax )?error: |undefined: |.* (?:declared|imported) and not used)|^(?:Syntax|Indentation)Error: "
        )
        .is_match(&error.message)
}

/// Whether a resolution changed a file that the error's message names. Also true if the message
/// names no file. If the agent called an error unrelated to its work and changed no such file, the
/// error was probably not fixed: the command that succeeded probably ran in another folder.
pub(super) fn changed_file_of(error: &ErrorSeen, resolution: &Resolution) -> bool {
    let name = |path: &String| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    !pattern!(r"\w\.\w{1,4}\b").is_match(&error.message)
        || resolution.files.iter().map(name).any(|name| error.message.contains(&name))
}

/// Whether the output says that the program behind a search tool is missing.
fn lacks_search_tool(output: &str) -> bool {
    output.len() <= SHORT
        && pattern!(
            r"(?i)\bripgrep\b[^\n]{0,80}(?:not (?:be )?(?:found|installed|available)|missing|ENOENT)|\b(?:could not|cannot|unable to|failed to) (?:find|locate|spawn|download) ripgrep\b|\bspawn \S*ripgrep\S* ENOENT"
        )
        .is_match(output)
}

/// Maximum length, in bytes, of an output that is searched for typos, refusals and a missing search
/// tool. A longer output comes from a program, and may contain any words.
const SHORT: usize = 1_200;

/// Messages of shells and programs about a mistyped command line.
const TYPOS: &[&str] = &[
    "unknown flag: ",
    "unknown option",
    "unrecognized option",
    "unrecognized arguments",
    "unknown shorthand flag",
    "unexpected argument",
    "invalid option -- ",
    "illegal option -- ",
    "syntax error near unexpected token",
    "unexpected EOF while looking for",
    "parse error near",
    "no matches found: ",
];

/// Messages of agent programs about a command that did not run.
const REFUSALS: &[&str] = &[
    "Permission to use Bash",
    "InputValidationError: Bash",
    "Cancelled: parallel tool call",
    "Sibling tool call errored",
    "requested permissions",
    "requires approval",
    "was blocked. For security",
    "Permission for this tool use was denied",
    "tool use was rejected",
    "doesn't want to proceed",
    "doesn't want to take this action",
];

/// Messages of agent programs about a refused call of a tool or a call with wrong arguments.
const SLIPS: &[&str] = &[
    "has not been read yet",
    "has been modified since read",
    "String to replace not found",
    "string to replace, but replace_all",
    "matches of the string to replace",
    "are exactly the same",
    "No changes to make",
    "File does not exist",
    "does not exist. Current working directory",
    "does not exist. Note: your current working directory",
    "EISDIR",
    "InputValidationError",
    "exceeds maximum allowed",
    "Permission to use",
    "No task found",
    "Task not found",
    "No such tool available",
    "Unknown skill",
    "No shell found with ID",
    "is not running, so cannot be killed",
    "You must read the file",
    "User rejected",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_print_the_words_of_a_tool() {
        for output in [
            "node:internal/fs/read:1\nError: EISDIR: illegal operation on a directory, read\n",
            "Error: File does not exist: a.json",
            "AssertionError: both lists are exactly the same",
            "MetaMask: User rejected the request.",
            "Error: Permission to use the camera is missing",
        ] {
            assert!(!is_slip_of_command(output), "{output}");
            assert!(is_slip(output), "{output}");
        }
        for output in [
            "This command requires approval",
            "Permission to use Bash with command rm -r src has been denied.",
            "<tool_use_error>InputValidationError: Bash failed due to the following issue</tool_use_error>",
            "Cancelled: parallel tool call Bash(make) errored",
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            "make: unknown option -- y",
        ] {
            assert!(is_slip_of_command(output) && is_slip(output), "{output}");
        }
        let long = format!("{}\nThe merge requires approval of Ada\n", "row\n".repeat(400));
        assert!(!is_slip_of_command(&long));
    }

    #[test]
    fn only_a_missing_search_tool_is_a_slip() {
        for (output, wanted) in [
            ("ripgrep (rg) is not installed", true),
            ("Error: spawn /opt/agent/vendor/ripgrep/rg ENOENT", true),
            ("failed to find ripgrep", true),
            ("error[E0308]: mismatched types\n --> crates/ripgrep/src/main.rs:3:5\n", false),
            ("make: *** [ripgrep] Error 2", false),
        ] {
            assert_eq!(is_slip(output), wanted, "{output}");
        }
    }
}
