//! Removes fenced code from text, and keeps short code that a sentence introduces.

use std::borrow::Cow;

use super::pattern;

/// Maximum length, in characters, of a line of code that is kept.
const MAX_CODE_CHARS: usize = 80;

/// Maximum length, in bytes, of a command that the user runs later.
const MAX_COMMAND_BYTES: usize = 140;

/// Removes fenced code as [`without_code`] does, but keeps a single line that completes the
/// sentence before the code, such as a name after `There is one mode:`. Commands for the reader are
/// kept only if the sentence tells the reader to run them later.
pub(crate) fn with_short_code(text: &str) -> String {
    let fence = pattern!(
        r"(?m)^([^\n|#>]{4,}):[ \t]*\n(?:[ \t]*\n)?[ \t]*```[\w-]*[ \t]*\n[ \t]*([^\n`]+?)[ \t]*\n[ \t]*```[ \t]*$"
    );
    let is_for_reader = pattern!(
        r"(?i)\b(?:run|rerun|use|try|execute|install|you|your|command|example|e\.g|then|first|do|check|start|with|to \w+)$|\b(?:run|try|execute|install|you)\b"
    );
    // `The mode that you should use is` names the mode.
    let names = pattern!(r"\b(?:is|are)$");
    let shortened = fence.replace_all(text, |found: &regex::Captures<'_>| {
        let is_short = found[2].chars().count() <= MAX_CODE_CHARS;
        match is_short && (names.is_match(&found[1]) || !is_for_reader.is_match(&found[1])) {
            true => format!("{}: `{}`.\n", &found[1], &found[2]),
            false => found[0].to_owned(),
        }
    });
    removed_code(&with_later_commands(&shortened), true)
}

/// Moves up to three commands from fenced code into the sentence before it, if this sentence asks
/// the user to run them later, for example `After the merge, run:`.
fn with_later_commands(text: &str) -> Cow<'_, str> {
    let fence = pattern!(
        r"(?m)^([^\n|#>]{4,}):[ \t]*\n(?:[ \t]*\n)?[ \t]*```[\w-]*[ \t]*\n((?:[^\n`]+\n){1,3})[ \t]*```[ \t]*$"
    );
    let is_for_later = pattern!(
        r"(?i)(?:^|[.;:] )(?:after|once|when|before|to (?:finish|release|publish|deploy|recover))\b[^.]*\b(?:run|rerun|execute)$"
    );
    fence.replace_all(text, |found: &regex::Captures<'_>| {
        let lines = found[2].lines().map(str::trim).filter(|line| !line.starts_with('#'));
        let lines: Vec<&str> = lines.collect();
        let are_short = lines.iter().all(|line| line.len() <= MAX_COMMAND_BYTES);
        if !are_short || lines.is_empty() || !is_for_later.is_match(&found[1]) {
            return found[0].to_owned();
        }
        let lines: Vec<String> = lines.iter().map(|line| format!("`{line}`")).collect();
        format!("{} {}.\n", &found[1], lines.join(" and "))
    })
}

/// Returns the text after code that a line opens and closes, such as "```npm test``` fails".
pub(super) fn after_closed_fence(line: &str) -> Option<&str> {
    let (_, prose) = line.trim_start().strip_prefix("```")?.rsplit_once("```")?;
    Some(prose.trim_start_matches('`'))
}

/// Removes fenced code, so that the prose around pasted code remains.
pub(crate) fn without_code(text: &str) -> String {
    removed_code(text, false)
}

/// Removes fenced code. If `marks`, `… ` is put before text that continues a sentence before the
/// code.
fn removed_code(text: &str, marks: bool) -> String {
    let (mut inside, mut is_after_code) = (false, false);
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let prose = after_closed_fence(line);
        if prose.is_some() && inside {
            continue;
        }
        let line = prose.unwrap_or(line);
        if line.trim_start().starts_with("```") {
            is_after_code = inside;
            inside = !inside;
            // The text before the code and the text after it are two paragraphs.
            kept.push('\n');
        } else if !inside {
            if marks && is_after_code && line.starts_with(|c: char| c.is_ascii_lowercase()) {
                kept.push_str("… ");
            }
            is_after_code &= line.trim().is_empty();
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_a_sentence_names_is_kept_and_the_rest_of_a_sentence_is_marked() {
        let short = |text: &str| with_short_code(text).trim().to_owned();
        assert_eq!(
            short("The only mode you should use is:\n\n```json\n\"mode\": \"a\"\n```\n"),
            "The only mode you should use is: `\"mode\": \"a\"`."
        );
        let text =
            "The list cannot use:\n\n```yaml\na: 1\nb: 2\n```\n\nwithout more work. It waits.\n";
        assert!(short(text).ends_with("\n… without more work. It waits."), "{}", short(text));
    }

    #[test]
    fn code_that_is_closed_in_its_line_opens_no_fence() {
        let plain = |text: &str| without_code(text).trim().to_owned();
        for (text, wanted) in [
            (
                "```TypeError: x is undefined```\nfix this, and never push",
                "fix this, and never push",
            ),
            ("```npm test``` fails on CI\nfix it", "fails on CI\nfix it"),
            ("```text\n```a```\n```\nfix it", "fix it"),
            ("```TypeError: x is undefined\nat a.ts", ""),
            ("````md\na\n````\nfix it", "fix it"),
        ] {
            assert_eq!(plain(text), wanted, "{text}");
        }
    }

    #[test]
    fn commands_for_later_stay_with_their_sentence() {
        let code = "```bash\nacme publish next\nacme publish latest\n```\n";
        assert_eq!(
            with_short_code(&format!("It is stale. After it lands on `main`, run:\n\n{code}"))
                .trim(),
            "It is stale. After it lands on `main`, run `acme publish next` and `acme publish latest`."
        );
        assert_eq!(
            with_short_code(&format!("To try it, run:\n\n{code}")).trim(),
            "To try it, run:"
        );
    }
}
