//! Parses the command lines of Codex's shell tools.

use std::borrow::Cow;

/// A patch that a command line passes to `apply_patch`.
pub(super) struct EmbeddedPatch<'c> {
    /// The directory that the command line changes to first.
    pub(super) directory: Option<&'c str>,
    pub(super) patch: &'c str,
}

/// Returns the command line for a program and its arguments. For a shell with an option such as
/// `-lc`, returns the inner command line.
pub(super) fn of_words(words: &[&str]) -> String {
    if let Some(inner) = shell_command_argument(words) {
        return inner.to_owned();
    }
    let words: Vec<Cow<'_, str>> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}

/// Returns the inner command line of `bash -lc '...'`, and other command lines unchanged.
pub(super) fn inner(line: &str) -> String {
    let is_shell = SHELLS.iter().any(|shell| {
        let rest = line.trim_start().split_once(shell).map(|(before, rest)| {
            (before.is_empty() || before.ends_with('/') && !before.contains(' ')).then_some(rest)
        });
        rest.flatten().is_some_and(|rest| rest.starts_with(" -"))
    });
    let words = is_shell.then(|| words(line)).flatten().unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    shell_command_argument(&words).map_or_else(|| line.to_owned(), str::to_owned)
}

/// Finds the patch in a command line that does nothing but apply the patch: `apply_patch <<'EOF'`,
/// possibly after `cd <directory> &&`.
pub(super) fn embedded_patch(line: &str) -> Option<EmbeddedPatch<'_>> {
    let line = line.trim();
    let (directory, rest) = match line.strip_prefix("cd ").and_then(|rest| rest.split_once("&&")) {
        Some((directory, rest)) => (Some(directory.trim().trim_matches(['\'', '"'])), rest.trim()),
        None => (None, line),
    };
    let rest = rest.strip_prefix("apply_patch").or_else(|| rest.strip_prefix("applypatch"))?;
    let (opening, rest) = rest.split_once(PATCH_BEGIN)?;
    let (patch, after) = rest.split_once(PATCH_END)?;
    let is_argument =
        opening.trim().is_empty() || opening.trim_start().starts_with(['<', '"', '\'']);
    let after = after.trim().trim_end_matches(['"', '\'']);
    let marker = opening.trim().trim_start_matches(['<', '-']).trim().trim_matches(['\'', '"']);
    (is_argument && after == marker).then_some(EmbeddedPatch { directory, patch })
}

const PATCH_BEGIN: &str = "*** Begin Patch";
const PATCH_END: &str = "*** End Patch";

const SHELLS: &[&str] = &["bash", "zsh", "sh", "dash"];

/// Returns the last of three words if the first is a shell and the second is an option that ends in
/// `c`, such as `-lc`.
fn shell_command_argument<'w>(words: &[&'w str]) -> Option<&'w str> {
    let [shell, option, command] = words else { return None };
    let name = shell.rsplit('/').next().unwrap_or(shell);
    let is_command = option.starts_with('-') && !option.starts_with("--") && option.ends_with('c');
    (SHELLS.contains(&name) && is_command).then_some(command)
}

/// Quotes a word for a shell where that is necessary.
pub(super) fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=:,@%+^~".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Splits a command line into words; `None` if it has operators, expansions or an unclosed quote.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            c if c.is_whitespace() => words.extend(word.take()),
            ';' | '&' | '|' | '<' | '>' | '(' | ')' | '`' | '$' => return None,
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => double_quoted(&mut chars, word.get_or_insert_default())?,
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

fn double_quoted(chars: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match chars.next()? {
            '"' => return Some(()),
            '\\' => match chars.next()? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                '\n' => {}
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_command_of_a_shell_is_the_command() {
        for (line, wanted) in [
            ("bash -lc 'cargo test'", "cargo test"),
            (r#"/bin/zsh -lc "echo \"a\" && ls""#, r#"echo "a" && ls"#),
            ("cargo test", "cargo test"),
            ("bash build.sh", "bash build.sh"),
            ("bash -c 'a' && b", "bash -c 'a' && b"),
            ("bash -lc 'a", "bash -lc 'a"),
        ] {
            assert_eq!(inner(line), wanted);
        }
        assert_eq!(of_words(&["/bin/bash", "-lc", "a | b"]), "a | b");
        assert_eq!(
            of_words(&["git", "commit", "-m", "it's done"]),
            r"git commit -m 'it'\''s done'"
        );
    }

    #[test]
    fn a_patch_is_found_only_if_the_command_does_nothing_else() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        for (line, directory) in [
            (format!("apply_patch <<'EOF'\n{patch}\nEOF"), None),
            (format!("apply_patch <<EOF\n{patch}\nEOF\n"), None),
            (format!("cd sub/dir && apply_patch << 'PATCH'\n{patch}\nPATCH"), Some("sub/dir")),
            (format!("apply_patch '{patch}'"), None),
            (of_words(&["apply_patch", patch]), None),
        ] {
            let embedded = embedded_patch(&line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(embedded.patch.trim(), "*** Delete File: a");
            assert_eq!(embedded.directory, directory);
        }
        let more = format!("apply_patch <<'EOF'\n{patch}\nEOF\ncargo test");
        assert!(embedded_patch(&more).is_none());
        assert!(embedded_patch(&format!("cat <<'EOF'\n{patch}\nEOF")).is_none());
    }
}
