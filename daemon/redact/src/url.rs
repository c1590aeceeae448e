//! Passwords and tokens in URLs: `scheme://user:password@host`, `https://token@host`.

use std::ops::Range;

use crate::{
    placeholder::{has_dotted_member, is_placeholder, is_plain_word},
    randomness::looks_random,
};

/// Maximum number of bytes after `://` that are read.
const LONGEST: usize = 512;

/// Returns the secret in the URL whose `://` ends at `at`.
pub(super) fn secret_after(text: &str, at: usize) -> Option<Range<usize>> {
    let limit = text.floor_char_boundary(text.len().min(at + LONGEST));
    let rest = &text[at..limit];
    let is_end = |c: char| c.is_whitespace() || "\"'`\\".contains(c);
    let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    let end = word.find(['<', '>', '|']).unwrap_or(word.len());
    // `<` ends a URL, but a password may contain it unescaped.
    let is_user_info = word[..end].split_once(':').is_some_and(|(user, password)| {
        let is_port = password.bytes().all(|byte| byte.is_ascii_digit());
        !is_port && !user.contains(['@', '/']) && !password.contains(['@', '/'])
    });
    let is_whole = is_user_info && word[end..].contains('@') && !word.starts_with('<');
    let address = if is_whole { word } else { &word[..end] };
    let host_end = address.find(['/', '?', '#']).unwrap_or(address.len());
    if let Some(before) = address[..host_end].rfind('@') {
        let is_web = ["http://", "https://"].iter().any(|scheme| text[..at].ends_with(scheme));
        let later = if is_web { None } else { later_at(address, before + 1..host_end) };
        let before = later.unwrap_or(before);
        return user_info(&address[..before]).map(|range| at + range.start..at + range.end);
    }
    // A password may contain an unescaped `/`: the apparent port is then not a number.
    let colon = address[..host_end].find(':')?;
    let before = address.rfind('@').filter(|before| *before > colon)?;
    let port = &address[colon + 1..host_end];
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    (!is_port && is_password(&address[colon + 1..before])).then_some(at + colon + 1..at + before)
}

/// Returns the last `@` of an address whose password contains both an unescaped `@` and `/`, `?` or
/// `#`: the apparent host is then a part of the password, and another host follows the last `@`.
fn later_at(address: &str, host: Range<usize>) -> Option<usize> {
    let last = address.rfind('@').filter(|last| *last > host.end)?;
    let rest = &address[last + 1..];
    let real = &rest[..rest.find(['/', ':', '?']).unwrap_or(rest.len())];
    let is_host = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
    };
    let is_password = !address[host.clone()].contains(['.', ':', ','])
        && !address[host.end..last].contains(['=', ':']);
    (is_password && is_host(real)).then_some(last)
}

fn user_info(info: &str) -> Option<Range<usize>> {
    match info.split_once(':') {
        Some((user, password)) => {
            let is_masked = !user.is_empty() && user.bytes().all(|byte| byte == b'*');
            let is_user = is_masked || !user.contains(['[', '(', '^', '*']);
            (is_user && is_password(password)).then_some(user.len() + 1..info.len())
        }
        None => (info.len() >= 20 && looks_random(info) && !is_placeholder(info))
            .then_some(0..info.len()),
    }
}

fn is_password(password: &str) -> bool {
    // An address contains no expression of PowerShell, so that `$uper.Secret` is a password.
    !password.is_empty()
        && (!is_placeholder(password) || has_dotted_member(password))
        && !is_plain_word(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_addresses() {
        for (text, wanted) in [
            ("postgres://bob:hunter2@db:5432/x", Some("hunter2")),
            ("https://oauth2:kJ8s2Lq0Zx9V@gitlab.com/a/b.git", Some("kJ8s2Lq0Zx9V")),
            ("redis://:hunter2@localhost:6379", Some("hunter2")),
            ("amqp://bob:p%40ss@host/vhost", Some("p%40ss")),
            ("mongodb+srv://bob:pa:ss@c.net/?w=1", Some("pa:ss")),
            ("http://bob:pa/ss@host/x", Some("pa/ss")),
            ("http://bob:p@ss@host/x", Some("p@ss")),
            ("http://bob:/Falcon41@host/x", Some("/Falcon41")),
            ("http://bob:Falcon<Berlin41@host/x", Some("Falcon<Berlin41")),
            ("postgres://bob:S@mm/er#24!@db.host:5432/x", Some("S@mm/er#24!")),
            ("redis://:S@m/mer@cache:6379/0", Some("S@m/mer")),
            ("postgres://bob:Som@mer?24@db/x?sslmode=require", Some("Som@mer?24")),
            ("postgres://bob:hunter2@db/x?options=a@b", Some("hunter2")),
            ("amqp://bob:hunter2@mq.host/x@2", Some("hunter2")),
            ("https://bob:hunter2@host/@scope/package", Some("hunter2")),
            ("http://host:80<br>ann@host", None),
            ("https://<user>:<password>@host/x", None),
            (
                "https://9f86d081884c7d659a2feaa0c55ad015@o1.host/2",
                Some("9f86d081884c7d659a2feaa0c55ad015"),
            ),
            ("https://bob@host/x", None),
            ("https://host:8080/a@2x.png", None),
            ("https://host/a:b@c", None),
            ("https://user:password@host", None),
            ("https://bob:${PASSWORD}@host", None),
            ("https://bob:***@host", None),
            ("postgres://bob:$uper.Secret@db/x", Some("$uper.Secret")),
            ("mysql://bob:$ecret[Fal]con41!@db/x", Some("$ecret[Fal]con41!")),
            ("mysql://bob:$PASSWORD@db/x", None),
            ("mysql://bob:$config->password@db/x", None),
            ("://[^:]+:([^@]{8,})@", None),
            ("https://host/", None),
            ("https://", None),
        ] {
            let at = text.find("://").unwrap() + 3;
            assert_eq!(secret_after(text, at).map(|range| &text[range]), wanted, "{text}");
        }
    }
}
