//! Text made to cost much: every pattern of work that could grow with the square of its length.

use std::time::{Duration, Instant};

use crate::redact::Redactor;

/// Each is repeated to a line of a million characters.
const UNITS: &[&str] = &[
    "a",
    " ",
    "\\",
    "\"",
    "=",
    "key=",
    "key=\"",
    "key:'",
    "password=",
    "password=\"",
    "token ",
    "PASSWORD:",
    "sk-",
    "eyJ",
    "eyJ.",
    "eyJhbGciOi-",
    "-eyJ",
    "AKIA",
    "ghp_",
    "MT",
    "Mz.",
    "://",
    "://a:b",
    "://a:b@",
    "http://x:",
    "-----BEGIN PRIVATE KEY-----",
    "-----END PRIVATE KEY-----",
    "BEGIN PRIVATE KEY-----MIIEvQIBADANBgkqhkiG9w0B ",
    "MIIEvQIBADANBgkqhkiG9w0B -----END PRIVATE KEY----- ",
    "Private-Lines: 3 ",
    "mysql -u x ",
    "curl ",
    "curl -u a:",
    "docker login ",
    "echo a | ",
    "sudo -S",
    "chpasswd",
    "Bearer ",
    "Basic ",
    "Cookie: a=",
    "Authorization: ",
    "Authorization: Digest a=",
    "[REDACTED:",
    "[REDACTED:token]",
    "[REDACTED:token]=",
    "sig=",
    ":AA",
    "-us",
    "JQQJ99",
    "AZDO",
    ".atlasv1.",
    "NRAL",
    "A",
    "0",
    "u+",
    "pass:",
    "-pass pass:",
    ":5432:",
    "\\n",
    "\\\\\\\"key\\\\\\\":",
    "&quot;",
    "%22key%22%3A",
    "key\\u0022:",
    "name: TOKEN value: ",
    "\u{65e5}",
    "key=\u{65e5}",
    "login x\npassword ",
    "AGE-SECRET-KEY-",
    "hooks.slack.com/services/",
    "glpat-",
    "x.x.x.",
    "AAAAAAAAAAAAAAAAAAAA",
    "sk_live_",
    "s.",
    "\"d\":\"",
    "key,\"",
    "${KEY:-",
];

#[test]
fn a_line_of_a_million_characters_costs_moments() {
    let redactor = Redactor::new();
    for unit in UNITS {
        let text = unit.repeat(1_000_000 / unit.len());
        let start = Instant::now();
        let _ = redactor.redact(&text);
        // In release it is tens of milliseconds; anything quadratic takes minutes.
        assert!(start.elapsed() < Duration::from_secs(10), "{unit:?}: {:?}", start.elapsed());
    }
}

#[test]
fn pairs_of_them_cost_no_more() {
    let redactor = Redactor::new();
    for (index, unit) in UNITS.iter().enumerate() {
        let other = UNITS[(index * 7 + 3) % UNITS.len()];
        let text =
            format!("{}{other}", unit.repeat(5)).repeat(300_000 / (5 * unit.len() + other.len()));
        let start = Instant::now();
        let _ = redactor.redact(&text);
        assert!(start.elapsed() < Duration::from_secs(10), "{unit:?} {other:?}");
    }
}
