//! Finds the line of an output that contains the error message.

use crate::{
    summarize::evidence::bounds,
    text::{kept_words, pattern},
};

/// Maximum number of lines of an output that are searched, from its beginning.
const LINES: usize = 1_500;

pub(super) struct ErrorMessage {
    pub(super) text: String,
    /// The command that the reader must run according to the output, unless `text` contains it.
    pub(super) remedy: Option<String>,
}

impl ErrorMessage {
    /// Finds the message in `output`, as [`of`] does, and the remedy.
    pub(super) fn read(output: &str) -> Option<ErrorMessage> {
        let mut text = of(output)?;
        let remedy = remedy(output).filter(|command| !text.contains(command.as_str()));
        if remedy.is_some() {
            text.truncate(text.trim_end_matches('!').len());
        }
        Some(ErrorMessage { text, remedy })
    }
}

/// Returns the error message in `output`; `None` if there is no message. The caller has removed
/// terminal colours from `output`.
pub(in crate::summarize::evidence) fn of(output: &str) -> Option<String> {
    first(output, |_| true)
}

/// Same as [`of`], for a prompt, which may consist of output and of instructions of the user. A
/// line with a word such as `failed` is not the message if the line is an instruction.
pub(in crate::summarize::evidence) fn of_prompt(prompt: &str) -> Option<String> {
    first(prompt, |line| !is_instruction(line))
}

/// Whether a line of a prompt is an instruction, such as `Stop if the lint failed`.
fn is_instruction(line: &str) -> bool {
    pattern!(
        r"(?i)^[\W\d]*(?:please|if|when|do not|don['’]t|never|always|make sure|ensure|(?:stop|wait|tell me|ask me|let me know) (?:if|when)|(?:add|fix|return|show|print) (?:an?|the|all|each))\b|\b(?:must|should) .*\b(?:if|when|unless)\b"
    )
    .is_match(line)
}

/// Returns the error message in `output`. Of the lines that only contain a word such as `failed`,
/// only the lines for which `may_be_message` returns true are considered.
fn first(output: &str, may_be_message: impl Fn(&str) -> bool) -> Option<String> {
    let lines: Vec<&str> = lines(output).collect();
    let traceback = lines.iter().any(|line| line.starts_with("Traceback (most recent call last)"));
    let exception = |line: &&&str| {
        pattern!(r"^\[?(?:Uncaught |Unhandled )?(?:[\w.$]+\.)?\w*(?:[A-Z]\w*Error|Exception|Fault|Interrupt)(?: \[[A-Z_]+\])?: \S")
            .is_match(line)
    };
    let thrown =
        if traceback { lines.iter().rev().find(exception) } else { lines.iter().find(exception) };
    let found = thrown
        .or_else(|| lines.iter().find(|line| is_compiler(line)))
        .or_else(|| lines.iter().find(|line| is_reported_by_program(line)))
        .or_else(|| lines.iter().find(|line| has_location(line)))
        .or_else(|| lines.iter().find(|line| begins_with_warning_sign(line)))
        .or_else(|| lines.iter().find(|line| contains_error_word(line) && may_be_message(line)))?;
    tidy(found)
}

/// Returns the command that the reader must run according to an output; `None` if there are several
/// such commands, or if the command has more than 80 bytes.
fn remedy(output: &str) -> Option<String> {
    let instruction = pattern!(
        r"(?im)\brun (?:this command|the following(?: command)?)\b[^\n:]*:\s*\n+[ \t]*\$? ?([a-z][^\n`]*)$|\b(?:please |must |first |to fix[^\n]*, )run:? `([^`\n]+)`"
    );
    let mut found: Vec<&str> = instruction
        .captures_iter(output)
        .filter_map(|found| found.get(1).or(found.get(2)))
        .map(|command| command.as_str().trim())
        .collect();
    found.dedup();
    let [command] = found.as_slice() else { return None };
    (command.len() <= 80).then(|| (*command).to_owned())
}

/// Whether a line begins with a warning sign or a cross and has at least five words and at most 240
/// bytes.
fn begins_with_warning_sign(line: &str) -> bool {
    line.len() <= 240
        && line.starts_with(['\u{26a0}', '\u{274c}'])
        && line.split_whitespace().count() >= 5
}

/// Returns the reason of a failed test: a failed assertion, an exception or a compiler's error. The
/// other lines of a test's output are its log.
pub(super) fn of_test(output: &str) -> Option<String> {
    let states_reason = |line: &&str| {
        pattern!(r"^(?:E\s{2,}\S|(?:[\w.]+\.)?(?:Assertion|Type|Value|Key|Index|Attribute|Reference|Import|ModuleNotFound|NotImplemented|Runtime|Name|Syntax)\w*(?:Error|Exception)\b)|panicked at|^error: expect\(|error TS\d+|^error\[E\d+\]")
            .is_match(line)
    };
    let states_expectation = |line: &&str| {
        pattern!(r"\b[Ee]xpected\b.*\b(?:got|but|received|to (?:be|equal|have|contain|throw)|actual|found)\b|\bgot\b.*\b(?:want|expected)\b|\bwant(?:ed)?\b.*\bgot\b|\bshould (?:be|have|contain|mention|equal|return|match)\b|undefined: |undefined \(type|not enough arguments|too many arguments|cannot use |^[\w./-]+_test\.go:\d+: \S")
            .is_match(line)
            && !line.starts_with(['#', '>', '/', '*', '+', '-'])
    };
    lines(output)
        .find(states_reason)
        .or_else(|| lines(output).find(states_expectation))
        .and_then(tidy)
}

/// Returns the line without labels such as `ERROR`, symbols at its start and lines such as `───` at
/// its end.
fn tidy(line: &str) -> Option<String> {
    let line = pattern!(
        r"^(?:\[?(?:ERROR|error|FATAL)\]?\s+)+|^E\s{2,}|^[×✖✗●│┃>\s\u{2800}-\u{28FF}\u{26a0}\u{274c}\u{fe0f}]+|[\s─━=]+$"
    )
    .replace_all(line, "");
    let line = line
        .strip_prefix('[')
        .and_then(|inside| inside.strip_suffix(']'))
        .unwrap_or(&line)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    (!line.is_empty()).then(|| kept_words(&line, bounds::ERROR_TEXT))
}

/// Whether an output shows a failure. Callers need this if the exit code belongs to another
/// command, for example in `make | tail`.
pub(in crate::summarize::evidence) fn shows_failure(output: &str) -> bool {
    lines(output).any(|line| {
        pattern!(
            r"^(?:error(?:\[E\d+\])?: |make(?:\[\d+\])?: \*\*\* |npm (?:ERR!|error) |panic: |Traceback \(most recent call last\)|BUILD FAILED|fatal: |exit status [1-9]|FAIL\b|.*\berror TS\d+: |.*ELIFECYCLE|.*Command failed with exit code|ERROR task failed|ERR_PNPM_\w+ )"
        )
        .is_match(line)
    })
}

/// Normalises a message for comparison: replaces its numbers with `#`, and converts it to lower
/// case.
pub(super) fn comparison_key(message: &str) -> String {
    pattern!(r"0x[0-9a-f]+|\d+").replace_all(message, "#").to_lowercase()
}

fn lines(output: &str) -> impl Iterator<Item = &str> {
    let useful = |line: &&str| !line.is_empty() && line.len() <= 600 && !is_code(line);
    output.lines().map(|line| without_label(line.trim())).filter(useful).take(LINES)
}

/// Returns a line without the name of the task that a runner writes before it, such as `[lint] `.
fn without_label(line: &str) -> &str {
    let Some((label, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) else {
        return line;
    };
    let is_name =
        label.len() <= 30 && label.chars().all(|c| c.is_lowercase() || "-_:.".contains(c));
    if is_name && label != "error" { rest.trim_start() } else { line }
}

/// Whether a line is source code that a tool shows around an error, a frame of a stack trace, the
/// command itself or its exit code.
fn is_code(line: &str) -> bool {
    pattern!(r"^(?:\d+\s*[|│→]|[|│]|-->|at .+\(.+:\d+:\d+\)|\^+$|Exit code \d+$|\$ |> \w+@|\+ )")
        .is_match(line)
}

/// Whether a line has the form of a compiler's error: `error[E0308]: mismatched types`,
/// `src/a.ts(3,4): error TS2304: …`, `x.c:3:5: error: …`.
fn is_compiler(line: &str) -> bool {
    pattern!(
        r"^error(?:\[E\d+\])?: |\berror (?:TS|CS|FS|MSB|NU|BC)\d+: |:\d+:\d+: (?:fatal )?error: "
    )
    .is_match(line)
        && !is_consequence(line)
}

/// Whether git, npm, a shell, a runtime or another program reports an error in a line.
fn is_reported_by_program(line: &str) -> bool {
    let named = pattern!(
        r"^(?:fatal|panic|FATAL|Fatal error|fatal error|Error|ERROR|error|runtime error|docker|curl|ssh|gh|psql|mise ERROR)(?:[:\]]|: ) ?\S|^npm (?:ERR!|error) (?:[^c\s]|c[^o])|command not found|^CONFLICT \(|! \[(?:rejected|remote rejected)\]|panicked at|^E\s{2,}\S|Segmentation fault|^remote: error|^Cannot find |^Could not |^Unable to |^Module not found|^ModuleNotFound|[Pp]ermission denied|^SyntaxError|^Invalid |^Unknown |No such file or directory"
    );
    named.is_match(line) && !is_consequence(line)
}

/// Whether a line has the format of linters and of Go's compiler: `src/a.go:12:3: undefined: x`.
fn has_location(line: &str) -> bool {
    pattern!(r"^\.{0,2}/?[\w@./\\-]+\.\w+:\d+(?::\d+)?:? [^\s:].{6,}").is_match(line)
}

fn contains_error_word(line: &str) -> bool {
    line.len() <= 240
        && pattern!(r"(?i)\b(?:error|failed|failure|cannot|can't|could not|not found|denied|refused|unreachable|timed out|invalid|unexpected|missing|rejected)\b").is_match(line)
        && !pattern!(r"(?i)\b(?:0|no) (?:errors?|failed|failures?)\b|^\W*warn").is_match(line)
        && !is_consequence(line)
}

/// Whether a line only reports that an earlier step failed.
fn is_consequence(line: &str) -> bool {
    pattern!(
        r"(?i)^error:? (?:task failed|could not compile|aborting due to|test failed, to rerun|\d+ targets? failed|failed to push some refs|process didn't exit|recipe `|script .* exited)|: \*\*\* \[.*\] error \d+|npm (?:err!|error) (?:code|errno|syscall|path|a complete log|lifecycle)|error: process completed|exit (?:code|status) \d+$|^\[?error\]? task failed|^error: command .* (?:failed|exited)|^(?:found )?\d+ (?:problems?|errors?)\b|build error occurred$"
    )
    .is_match(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_an_output_tells_to_run_is_kept() {
        let output = "Exit code 1\n\n⚠️  API files changed but the generated client is not staged!\n\nRun this command and stage the changes:\n\n    pnpm api:generate\n\nMissing generated files:\n    - openapi.json\n";
        for (output, text, remedy) in [
            (
                output,
                "API files changed but the generated client is not staged",
                Some("pnpm api:generate"),
            ),
            (
                "error: lock is stale\nPlease run `npm ci` first.\n",
                "error: lock is stale",
                Some("npm ci"),
            ),
            ("error: two\nplease run `a`\nplease run `b`\n", "error: two", None),
        ] {
            let message = ErrorMessage::read(output).unwrap();
            assert_eq!((&*message.text, message.remedy.as_deref()), (text, remedy));
        }
    }

    #[test]
    fn the_line_with_the_error_is_found() {
        for (output, wanted) in [
            (
                "Exit code 1\nTraceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    import foo\nModuleNotFoundError: No module named 'foo'\n",
                "ModuleNotFoundError: No module named 'foo'",
            ),
            (
                "Exit code 101\n   Compiling x v0.1.0\nerror[E0308]: mismatched types\n --> src/a.rs:3:5\n  |\n3 |  let x: u8 = \"\";\n\nerror: could not compile `x`\n",
                "error[E0308]: mismatched types",
            ),
            (
                "src/a.ts(3,4): error TS2304: Cannot find name 'x'.",
                "src/a.ts(3,4): error TS2304: Cannot find name 'x'.",
            ),
            (
                "Exit code 1\n# example.org/a\n./main.go:12:3: undefined: parse\n",
                "./main.go:12:3: undefined: parse",
            ),
            (
                "Exit code 128\nfatal: not a git repository (or any of the parent directories): .git",
                "fatal: not a git repository (or any of the parent directories): .git",
            ),
            (
                "/bin/bash: line 1: jqq: command not found",
                "/bin/bash: line 1: jqq: command not found",
            ),
            (
                "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree\n",
                "npm error ERESOLVE unable to resolve dependency tree",
            ),
            (
                "error: failed to push some refs to 'x'\n ! [rejected]        main -> main (fetch first)\n",
                "! [rejected] main -> main (fetch first)",
            ),
            (
                "[lint] Running\n[lint] ERROR task failed\n[lint] a.go:3: line is too long for the rule\n",
                "a.go:3: line is too long for the rule",
            ),
        ] {
            assert_eq!(of(output).as_deref(), Some(wanted), "{output}");
        }
    }

    #[test]
    fn output_without_such_a_line_has_no_message() {
        for output in [
            "",
            "Exit code 1",
            "Exit code 1\nfoo\nbar",
            "12 files, 0 errors",
            "Found 1 error.\n$ lint --error-on-warnings",
        ] {
            assert_eq!(of(output), None, "{output}");
        }
    }

    #[test]
    fn hidden_failures_show() {
        assert!(shows_failure("Compiling\nerror[E0308]: mismatched types\n"));
        assert!(shows_failure("a.ts(1,2): error TS2304: x"));
        assert!(!shows_failure("Compiling\nno error here\n"));
    }
}
