//! Recognises text that is written in place of a secret: placeholders, references and code.

use crate::randomness::looks_random;

/// Words that mark a placeholder at any position of a value. They are too long to occur in random
/// text by chance.
#[rustfmt::skip]
const LONG_WORDS: &[&str] = &[
    "example", "placeholder", "changeit", "changeme", "change_me", "change-me", "changethis", "redacted",
    "replaceme", "replace_", "replace-", "insert_", "insert-", "process.env", "os.environ",
    "getenv", "import.meta", "env::var", "undefined", "abcdefghijklm", "hijklmnop",
];

/// Words that mark a placeholder if no letter is next to them and the text does not look random.
const SHORT_WORDS: &[&str] =
    &["dummy", "fake", "todo", "fixme", "here", "masked", "hidden", "sample"];

/// Words that often follow "password" in code, forms and documents, and are not passwords.
#[rustfmt::skip]
const PLAIN_WORDS: &[&str] = &[
    "again", "any", "argument", "auto", "bool", "boolean", "bytes", "char", "disabled", "else",
    "empty", "enabled", "env", "false", "file", "flag", "flags", "forgot", "func", "function",
    "here", "instead", "interactively", "invalid", "keyring", "manually", "missing", "never",
    "new", "nil", "no", "none", "null", "number", "object", "off", "on", "option", "optional",
    "options", "parameter", "pass", "passphrase", "passwd", "password", "passwort", "plain",
    "prompt", "pwd", "required", "secret", "self", "set", "stdin", "str", "string", "test",
    "text", "this", "token", "true", "type", "undefined", "unknown", "unset", "value", "var",
    "varchar", "void", "wrong", "yes",
];

/// Words of labels and messages about passwords.
#[rustfmt::skip]
const LABEL_WORDS: &[&str] = &[
    "be", "cannot", "characters", "choose", "confirm", "contain", "contains", "could", "do",
    "does", "enter", "field", "forgot", "incorrect", "invalid", "least", "match", "missing",
    "must", "new", "not", "password", "passwords", "please", "provide", "required", "reset",
    "should", "type", "use", "user", "value", "wrong", "you", "your",
];

/// Function words of sentences. A passphrase may contain them, too.
#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "a", "and", "are", "at", "can", "for", "from", "has", "have", "if", "in", "is", "of", "or",
    "the", "to", "with",
];

pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let bytes = value.as_bytes();
    let Some(first) = bytes.first() else { return true };
    value.contains("[REDACTED:")
        || bytes.iter().all(|byte| byte == first)
        || bytes.iter().all(u8::is_ascii_punctuation)
        || is_reference(value)
        || is_abbreviated(value)
        || is_pattern(value)
        || is_format(value)
        || mentions_placeholder(value)
}

/// Whether `value` is a word that often follows "password" in code and documents.
pub(super) fn is_plain_word(value: &str) -> bool {
    let word = value.trim_matches(|c: char| !c.is_alphanumeric());
    let lower = word.to_ascii_lowercase();
    PLAIN_WORDS.binary_search(&lower.as_str()).is_ok()
}

/// Whether `value` is a label or a message rather than a passphrase. Text with function words is a
/// passphrase only if it begins with a lower-case letter and contains a digit.
pub(super) fn is_label(value: &str) -> bool {
    let has = |words: &[&str]| {
        value
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| words.binary_search(&word.to_ascii_lowercase().as_str()).is_ok())
    };
    let is_plausible_passphrase = value.starts_with(|c: char| c.is_ascii_lowercase())
        && value.bytes().any(|byte| byte.is_ascii_digit());
    has(LABEL_WORDS) || (has(FUNCTION_WORDS) && !is_plausible_passphrase)
}

/// Whether `value` is a path, a URL or a port.
pub(super) fn is_location(value: &str) -> bool {
    let path = ["./", "../", "~/", "\\\\", "file:"];
    let is_word =
        |part: &str| part.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-.".contains(&byte));
    // `/Falcon41` is a password, `/run` and `/etc/passwd` are paths.
    let is_absolute = value.strip_prefix('/').is_some_and(|rest| {
        rest.contains('/') || !rest.bytes().any(|byte| byte.is_ascii_uppercase())
    });
    let is_path = is_absolute || path.iter().any(|start| value.starts_with(start));
    // `464/tcp`
    let is_port = value.split_once('/').is_some_and(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    value.contains("://")
        || is_port
        || (value.contains('/') && value.split('/').all(is_word))
        || (is_path && !looks_random(value))
        || value.as_bytes().get(1..3) == Some(b":\\")
}

/// Whether `value` consists of at least seven hexadecimal digits and any number of hyphens, for
/// example a hash or a UUID, or begins like a digest (`sha256:`).
pub(super) fn is_hash(value: &str) -> bool {
    let digits = value.bytes().filter(|byte| *byte != b'-');
    value.bytes().filter(u8::is_ascii_hexdigit).count() >= 7
        && digits.clone().all(|byte| byte.is_ascii_hexdigit())
        || ["sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "md5:"]
            .iter()
            .any(|start| value.starts_with(start))
}

fn is_identifier(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Matches `$VAR`, `${VAR}`, `{{ var }}`, `<token>`, `%VAR%`, `[token]`, `:param`, `@param`,
/// `a${VAR}`.
fn is_reference(value: &str) -> bool {
    let bytes = value.as_bytes();
    let last = bytes[bytes.len() - 1];
    let second = bytes.get(1).copied().unwrap_or(b' ');
    let is_name_start = second.is_ascii_alphabetic() || second == b'_';
    let inner = &value[value.ceil_char_boundary(1)..];
    // `:Falcon41` is a password, `:password` and `@user_id` are parameters.
    let is_parameter = || !inner.bytes().any(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    match bytes[0] {
        b'$' => second == b'{' || second == b'(' || is_variable(value),
        b'<' => last == b'>' || (is_name_start && is_parameter()),
        b'{' => last == b'}',
        b'[' => last == b']',
        b'%' => last == b'%' || second == b'(' || value.get(..2) == Some("%s") && value.len() < 4,
        b':' | b'@' => is_name_start && is_identifier(inner) && is_parameter(),
        _ => {
            ["${", "{{", "$(", "#{", "<%"].iter().any(|open| value.contains(open))
                || is_static_field(value)
        }
    }
}

/// Whether `value` is a variable or a part of it: `$VAR`, and in scripts of PHP, Perl and
/// PowerShell `$a->b`, `$a['b']`, `$a{b}`, `$a.B`, `$env:B`. A value ends before `>` and quotes, so
/// that these values are `$a-` and `$a[`.
pub(super) fn is_variable(value: &str) -> bool {
    let Some(rest) = after_variable(value) else { return false };
    let name = &value[1..value.len() - rest.len()];
    let is_name = |text: &str| !text.is_empty() && is_identifier(text);
    match rest.as_bytes().first() {
        None => true,
        Some(b'-' | b'?' | b'[' | b'{') => is_access(rest),
        Some(b':') => {
            rest.strip_prefix("::").is_some_and(is_name)
                || (SCOPES.iter().any(|scope| name.eq_ignore_ascii_case(scope))
                    && is_name(&rest[1..]))
        }
        // `$ecret.Falcon41` is a password.
        Some(b'.') => {
            let end = rest.find(['(', '[', '{']).unwrap_or(rest.len());
            let (path, behind) = rest[1..].split_at(end - 1);
            let has_digit = path.bytes().any(|byte| byte.is_ascii_digit());
            !has_digit && path.split('.').all(is_name) && is_access(behind)
        }
        Some(_) => false,
    }
}

/// Whether `rest`, the text after a name, continues only with members, indices and arguments:
/// `->b`, `[0]`, `{b}`, `().B`. In `$Winter[2024]!x`, other text follows.
fn is_access(rest: &str) -> bool {
    let close = match rest.as_bytes().first() {
        None => return true,
        Some(b'[') => ']',
        Some(b'{') => '}',
        Some(b'(') => ')',
        Some(b'.') => {
            let member = rest[1..].trim_start_matches(is_in_name);
            let is_member = member.len() + 1 < rest.len() && is_access(member);
            return is_member || is_variable(&rest[1..]);
        }
        Some(_) => {
            let member = rest.trim_start_matches('?');
            let Some(member) = member.strip_prefix("->") else { return member == "-" };
            let behind = member.trim_start_matches(is_in_name);
            let is_name = !member.starts_with(|c: char| c.is_ascii_digit());
            return is_name && (behind.starts_with('(') || is_access_end(behind));
        }
    };
    rest.len() == 1 || rest.split_once(close).is_some_and(|(_, behind)| is_access_end(behind))
}

/// Whether a statement ends at the start of `rest`, or an access continues.
fn is_access_end(rest: &str) -> bool {
    rest.trim_end_matches([';', ')', ',']).is_empty() || is_access(rest)
}

fn is_in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Scopes of PowerShell, which precede the name of a variable: `$env:PATH`.
const SCOPES: [&str; 6] = ["env", "global", "local", "private", "script", "using"];

/// Whether `value` is a variable with a member of PowerShell: `$credential.Password`.
pub(super) fn has_dotted_member(value: &str) -> bool {
    after_variable(value).is_some_and(|rest| rest.starts_with('.') && !rest.starts_with(".."))
}

/// Returns the text after the variable at the start of `value`.
fn after_variable(value: &str) -> Option<&str> {
    let name = value.strip_prefix('$')?;
    let is_begun = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_begun.then(|| name.trim_start_matches(is_in_name))
}

/// Matches `self::$password`, `Config::$values['password']`.
fn is_static_field(value: &str) -> bool {
    value.split_once("::").is_some_and(|(class, field)| is_identifier(class) && is_variable(field))
}

/// Matches `abc...`, `sk-…xyz`, `••••`, `****1234`: an abbreviated secret.
fn is_abbreviated(value: &str) -> bool {
    let dots = ["...", "…", "***", "•••"];
    let Some(dots) = dots.iter().find(|dots| value.contains(**dots)) else { return false };
    value.replace(dots, "").bytes().filter(u8::is_ascii_alphanumeric).count() < 16
}

/// Matches `ghp_[0-9A-Za-z]{36}`, `.*`: a pattern of secrets.
fn is_pattern(value: &str) -> bool {
    const PATTERN_PARTS: [&str; 12] =
        ["[a-", "[A-", "[0-9", "[^", "\\d", "\\w", "\\b", "\\s", "\\S", "(?:", "(?i", ".*"];
    PATTERN_PARTS.iter().any(|part| value.contains(part))
}

/// Matches `%s:%s`, `{}`, `\x73\x65\x72`: format strings and escaped text.
fn is_format(value: &str) -> bool {
    let verbs = value.match_indices("%s").map(|(at, verb)| &value[at + verb.len()..]);
    let has_verb =
        verbs.into_iter().any(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()));
    has_verb || value.contains("{}") || value.matches("\\x").count() > 2
}

fn mentions_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    if LONG_WORDS.iter().any(|word| lower.contains(word)) {
        return true;
    }
    let mut runs = lower.split(|c: char| !c.is_ascii_alphabetic()).filter(|run| run.len() > 2);
    let many_x = lower.bytes().filter(|byte| *byte == b'x').count() * 2 > lower.len();
    let mentions = runs.any(|run| {
        let is_x = run.bytes().all(|byte| byte == b'x');
        SHORT_WORDS.contains(&run) || run.starts_with("your") || is_x
    });
    let ends_in_x = value.len() < 24 && lower.ends_with("xxxx");
    many_x || ends_in_x || (mentions && !looks_random(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_lists_are_sorted() {
        assert!(PLAIN_WORDS.is_sorted());
        assert!(LABEL_WORDS.is_sorted());
        assert!(FUNCTION_WORDS.is_sorted());
    }

    #[test]
    fn placeholders_are_recognised() {
        for value in [
            "",
            "xxx",
            "xxxxxxxxxxxx",
            "XXXXXXXXXXXX",
            "********",
            "...",
            "your-api-key",
            "YOUR_API_KEY",
            "yourApiKeyHere",
            "<token>",
            "<your token>",
            "${API_KEY}",
            "$API_KEY",
            "$request-",
            "$user?->password",
            "$_POST[",
            "$row[0]",
            "$row[0];",
            "$row[0]->key[",
            "$user->find(1)->password;",
            "$credential.GetNetworkCredential().Password",
            "$ENV{DB_PASSWORD}",
            "$env:DB_PASSWORD",
            "$config::PASSWORD",
            "$credential.Password",
            "self::$password",
            "$(cat key)",
            "{{ secrets.KEY }}",
            "%API_KEY%",
            "%s",
            "changeme",
            "sk-...",
            "sk-ant-…",
            "process.env.TOKEN",
            "AKIAIOSFODNN7EXAMPLE",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "[REDACTED:token]",
            "paste-token-here",
            "ghp_[0-9A-Za-z]{36,}",
            "github_pat_xxxx",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in [
            "hunter2",
            "p@ss$word1",
            "Tr0ub4dor&3",
            "$2b$10$abc",
            "a<b>c1",
            "herewego9",
            "$ecret-Word1",
            "$ecret!Word1",
            "$ecret:Word1",
            "$ecret.Falcon41",
            "$ecret[Falcon41",
            "$ecret{Falcon41",
            "$ecret[Fal]con41!",
            "$ecret{Fal}con41!",
            "$Winter[2024]!x",
            "$ecret.Falcon(41",
            "$ecret->Falcon!41",
            "$ecret->41Falcon",
            "a::$ecret!Word1",
        ] {
            assert!(!is_placeholder(value), "{value}");
        }
    }
}
