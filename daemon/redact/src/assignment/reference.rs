//! Recognises unquoted values that are references or calls rather than passwords.

use crate::{assignment::name, randomness::looks_random};

/// The context of a value, which decides how much evidence of code is necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surrounding {
    /// The value is probably an expression: a path such as `a.b` is a reference unless one of its
    /// names looks random.
    Code,
    /// The value is a setting: a path such as `a.b` is a reference only if it contains the name of
    /// a secret, ends with a file extension, or begins with a known root.
    Settings,
}

/// Objects whose fields are settings, secrets and arguments.
#[rustfmt::skip]
const ROOTS: &[&str] = &[
    "app", "args", "argv", "body", "cfg", "conf", "config", "context", "credentials", "creds",
    "ctx", "data", "db", "dict", "env", "environ", "event", "form", "github", "input", "local",
    "module", "opt", "options", "opts", "os", "params", "process", "props", "req", "request",
    "response", "result", "secrets", "self", "session", "settings", "spec", "state", "steps",
    "sys", "this", "user", "values", "var", "vars",
];

/// Extensions of files. The name of a file refers to a secret in the file.
#[rustfmt::skip]
const FILES: &[&str] = &[
    "asc", "cfg", "conf", "crt", "env", "gpg", "ini", "jks", "js", "json", "key", "p12", "pem",
    "pfx", "pub", "py", "rb", "rs", "sh", "toml", "ts", "txt", "xml", "yaml", "yml",
];

/// Whether `value` is a path of names, a call or an index: `config.token`, `get_token()`,
/// `os.environ[`, `Option<String>`. If `is_cut`, an open bracket may be closed after the value, as
/// in `getenv("TOKEN")`.
pub(super) fn is_code(value: &str, surrounding: Surrounding, is_cut: bool) -> bool {
    let bare = value.trim_start_matches(['&', '*', '!', '@', '~', ':']);
    let length = path_length(bare);
    let (head, rest) = bare.split_at(length);
    let has_sigil = bare.len() < value.len();
    if head.is_empty() {
        return surrounding == Surrounding::Code && value.starts_with(['(', '[', '{']);
    }
    match rest.as_bytes().first() {
        None => is_reference(head, surrounding, has_sigil),
        Some(b'(') => closes(rest, b')', is_cut),
        Some(b'[') => closes(rest, b']', is_cut),
        Some(b'{') => closes(rest, b'}', is_cut),
        Some(b'<') => closes(rest, b'>', false),
        Some(b'?' | b'!') if rest.len() == 1 && head.contains('.') => {
            is_reference(head, surrounding, has_sigil)
        }
        Some(_) => false,
    }
}

/// Whether the bracket at the start of `rest` is part of an expression. The expression ends with
/// the closing bracket, or continues after it (`f(x).y`, `a[0]?`).
fn closes(rest: &str, close: u8, is_cut: bool) -> bool {
    match rest.bytes().rposition(|byte| byte == close) {
        None => is_cut || rest.len() == 1,
        Some(at) => {
            let after = &rest[at + 1..];
            after.is_empty() || after.starts_with(['.', '?', ';', '!', '(', '[', '{'])
        }
    }
}

fn is_reference(path: &str, surrounding: Surrounding, has_sigil: bool) -> bool {
    if path.contains("::") || path.contains("->") || path.contains("?.") || path.contains("!.") {
        return true;
    }
    let mut segments = path.split('.').filter(|segment| !segment.is_empty());
    let is_path = segments.clone().count() > 1;
    if surrounding == Surrounding::Code {
        let has_digit = path.bytes().any(|byte| byte.is_ascii_digit());
        let is_mixed = has_digit && path.bytes().any(|byte| byte.is_ascii_uppercase());
        return (has_sigil && !is_mixed)
            || (is_path && segments.all(|segment| !looks_random(segment)));
    }
    let is_lower = path.bytes().all(|byte| byte.is_ascii_lowercase() || b"_.".contains(&byte));
    if has_sigil {
        return is_lower || names_secret(path);
    }
    let root = segments.next().unwrap_or("").to_ascii_lowercase();
    let last = segments.next_back().unwrap_or("");
    let is_file = FILES.contains(&last);
    is_path && (ROOTS.binary_search(&root.as_str()).is_ok() || is_file || names_secret(path))
}

/// Whether a part of `path` is the name of a secret: `newPassword`, `user.api_key`.
pub(super) fn names_secret(path: &str) -> bool {
    path.split(['.', ':']).any(|segment| name::classify(segment).is_some())
}

/// Returns the length of the names at the start of `text`, including the characters that join them.
fn path_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let is_start = |at: usize| bytes.get(at).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    let mut at = 0;
    while is_start(at) {
        at += bytes[at..].iter().take_while(is_name).count();
        let joint = ["::", "->", "?.", "!.", "."]
            .iter()
            .find(|joint| text[at..].starts_with(**joint) && is_start(at + joint.len()));
        match joint {
            Some(joint) => at += joint.len(),
            None => break,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_roots_are_sorted() {
        assert!(ROOTS.is_sorted());
    }

    #[test]
    fn references_and_calls_are_code_everywhere() {
        for value in [
            "get_token()",
            "config.secret",
            "self.token",
            "Option<String>",
            "auth::Token",
            "tokens[i]",
            "os.environ[]",
            "user?.password",
            "this.form.value!.password",
            "hash(salt).hex",
            "&password",
            "*password",
            "secret.txt",
        ] {
            assert!(is_code(value, Surrounding::Code, false), "{value}");
            assert!(is_code(value, Surrounding::Settings, false), "{value}");
        }
    }

    #[test]
    fn settings_that_resemble_code_are_not_code() {
        for value in [
            "hunter2",
            "kJ8s2Lq0.Zx9Vb4Nm",
            "pa$$w0rd",
            "Falcon(Berlin41",
            "Falcon[4]berlin",
            "Falcon!Berlin41",
            "falcon?berlin",
            "&Falcon41",
            "falcon.berlin",
            "Falcon<Berlin41",
        ] {
            assert!(!is_code(value, Surrounding::Settings, false), "{value}");
        }
        assert!(is_code("falcon.berlin", Surrounding::Code, false));
        assert!(is_code("getenv(", Surrounding::Settings, true));
    }
}
