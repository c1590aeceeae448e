//! Finds how a command line prints the exit code of its attempt, as in `make > log; echo "exit:
//! $?"`.

use serde::{Deserialize, Serialize};

use crate::{
    summarize::evidence::{
        bounds,
        shell::words::{Operator, SimpleCommand, Word},
    },
    text::{kept, pattern},
};

/// The texts around the exit code of the attempt, in the line that shows the code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::summarize::evidence) struct PrintedExitCode {
    before: String,
    after: String,
}

impl PrintedExitCode {
    /// Returns the form in which `commands` print the exit code of the command at the index
    /// `attempt`; `None` if they do not print the code.
    pub(super) fn of(commands: &[SimpleCommand], attempt: usize) -> Option<PrintedExitCode> {
        let rest = &commands[attempt..];
        let is_end =
            |command: &SimpleCommand| matches!(command.joint, Operator::Next | Operator::Or);
        let end = rest.iter().position(is_end)?;
        let text = printed(rest.get(end + 1)?)?;
        let joins = |operator| rest[..end].iter().any(|command| command.joint == operator);
        let keeps_code = commands.iter().any(|one| one.texts().any(|word| word == "pipefail"));
        let is_fed = attempt > 0 && commands[attempt - 1].joint == Operator::Pipe;
        let is_own = !joins(Operator::Pipe) || keeps_code;
        let code = around_code(&text, is_own, !is_fed && !joins(Operator::And))?;
        // A number alone may be anything, unless the number is the last line.
        let is_last = attempt + end + 2 == commands.len();
        (is_last || !code.is_number_alone()).then_some(code)
    }

    /// Whether the printed exit code means a failure; `None` if `output` has no line with the code.
    pub(in crate::summarize::evidence) fn shows_failure(&self, output: &str) -> Option<bool> {
        let lines = output.lines().rev().map(str::trim).filter(|line| !line.is_empty());
        let searched = if self.is_number_alone() { 1 } else { usize::MAX };
        lines.take(searched).find_map(|line| self.code_in(line)).map(|code| code != 0)
    }

    fn is_number_alone(&self) -> bool {
        !self.before.contains(char::is_alphabetic)
    }

    fn code_in(&self, line: &str) -> Option<u32> {
        let rest = line.strip_prefix(&self.before)?.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (code, after) = rest.split_at(digits);
        let is_whole = match self.after.as_str() {
            "" => after.is_empty(),
            wanted => after.trim_start().starts_with(wanted),
        };
        code.parse().ok().filter(|_| is_whole)
    }
}

/// Returns the texts around `$?` or `PIPESTATUS` in a text. `$?` counts only if `is_own`, the exit
/// code of the attempt. `PIPESTATUS` counts only if the attempt `is_first` in its pipeline.
fn around_code(text: &str, is_own: bool, is_first: bool) -> Option<PrintedExitCode> {
    // The first index is 0 in Bash, and 1 in Zsh.
    let variable =
        pattern!(r"\$(?:\?|\{\?\}|\{?(?:PIPESTATUS\[0\]|pipestatus\[1\])\}?|PIPESTATUS\b)");
    let found = variable.find(text)?;
    let is_of_pipeline = found.as_str().to_ascii_lowercase().contains("pipestatus");
    if !(if is_of_pipeline { is_first } else { is_own }) {
        return None;
    }
    let line_end = pattern!(r"\\n|\n");
    let before = line_end.split(&text[..found.start()]).last().unwrap_or_default();
    let after = line_end.split(&text[found.end()..]).next().unwrap_or_default();
    let after = after.split('$').next().unwrap_or_default();
    (!before.contains('$')).then(|| PrintedExitCode {
        before: kept(before, bounds::NAME),
        after: kept(after, bounds::NAME),
    })
}

/// Returns the text that `command` prints; `None` if the command is neither `echo` nor `printf`, or
/// if the command prints into a file.
fn printed(command: &SimpleCommand) -> Option<String> {
    if !command.writes.is_empty() {
        return None;
    }
    // In single quotes, a dollar sign is only a character.
    let text = |word: &Word| {
        if word.expands { word.text.clone() } else { word.text.replace('$', "") }
    };
    let words: Vec<String> = command.words.iter().map(text).collect();
    match words.split_first()? {
        (program, words) if program == "echo" => {
            let is_option = |word: &&String| word.starts_with('-') && word.len() == 2;
            let words: Vec<&str> = words.iter().skip_while(is_option).map(String::as_str).collect();
            Some(words.join(" "))
        }
        (program, [format]) if program == "printf" => Some(format.clone()),
        (program, [format, value]) if program == "printf" => {
            Some(format.replacen("%s", value, 1).replacen("%d", value, 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::summarize::evidence::shell::CommandLine;

    /// Whether `output` of `line` reports a failure of the attempt.
    fn reported(line: &str, output: &str) -> Option<bool> {
        CommandLine::read(line, "/app").exit_code?.shows_failure(output)
    }

    #[test]
    fn a_printed_exit_code_is_read() {
        for (line, output, wanted) in [
            ("npm run build > /tmp/b.log 2>&1; echo \"exit=$?\"", "exit=1\n", true),
            ("npm run build > /tmp/b.log 2>&1; echo \"exit=$?\"", "exit=0\n", false),
            ("npx tsc --noEmit; echo \"EXIT: $?\"", "a.ts\nEXIT: 2\n", true),
            ("npm run lint | tail -3; echo \"exit ${PIPESTATUS[0]}\"", "x\nexit 1\n", true),
            ("npm run lint | tail -3; echo \"rc: $pipestatus[1]\"", "rc: 1\n", true),
            ("set -o pipefail; npm run lint | tail -3; echo \"rc=$?\"", "rc=2\n", true),
            (
                "make > /tmp/o; echo \"--- exit: $? ---\"; tail -3 /tmp/o",
                "--- exit: 2 ---\nx 3\n",
                true,
            ),
            ("make; printf '\\nexit %d\\n' $?", "exit 2\n", true),
            ("make; printf \"exit $?\\n\"; ls", "exit 0\na 1\n", false),
            ("make; echo $?", "built\n0\n", false),
            ("make && ls dist; echo \"exit=$?\"", "a.js\nexit=0\n", false),
            ("make || echo \"failed with $?\"", "failed with 2\n", true),
        ] {
            assert_eq!(reported(line, output), Some(wanted), "{line}");
        }
    }

    #[test]
    fn other_numbers_are_no_exit_codes() {
        for (line, output) in [
            ("make; echo \"5 files\"", "5 files\n"),
            ("make; echo '$?'", "1\n"),
            ("grep -c x a; echo $?", "1\n1\n"),
            ("make | tail -3; echo \"exit=$?\"", "exit=1\n"),
            ("make && cat x | tail -3; echo \"exit ${PIPESTATUS[0]}\"", "exit 1\n"),
            ("make > log; tail -3 log; echo \"exit=$?\"", "exit=1\n"),
            ("make | tail -3; echo \"exit ${PIPESTATUS[1]}\"", "exit 1\n"),
            ("cat a | make; echo \"exit ${PIPESTATUS[0]}\"", "exit 1\n"),
            ("make; echo $?; ls", "0\n12\nz\n"),
            ("make; echo $?; wc -l < a", "0\n12\n"),
            ("make; echo \"exit=$?\"", "exit=12 of 13\n"),
            ("make || echo none", "none\n"),
        ] {
            assert_eq!(reported(line, output), None, "{line}");
        }
    }
}
