//! Properties that hold for any text.

use std::sync::LazyLock;

use proptest::{collection::vec, prelude::*, sample::select};

use crate::{Redactor, tests::fake_secrets::secret};

static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::new);

/// Text fragments that are relevant to the redactor. The random texts consist mostly of them.
const PIECES: &[&str] = &[
    "password",
    "PASSWORD",
    "api_key",
    "token",
    "secret",
    "key",
    "auth",
    "Authorization",
    "Cookie",
    "=",
    ": ",
    ":",
    " = ",
    "\"",
    "'",
    "\\\"",
    "`",
    " ",
    "\n",
    "\\n",
    ", ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "&",
    ";",
    "@",
    "://",
    "/",
    "--",
    "-p ",
    "is ",
    "hunter2",
    "swordfish",
    "name",
    "value",
    "Bearer ",
    "Basic ",
    "[REDACTED:",
    "[REDACTED:token]",
    "[REDACTED:private-key]",
    "-----BEGIN ",
    "-----END ",
    "PRIVATE KEY-----",
    "MIIEvQIBADANBgkqhkiG9w0BAQEF",
    "mysql ",
    "curl ",
    "-u ",
    "user",
    "%3D",
    "\\u0022",
    "&quot;",
    "é",
    "日",
    "\u{1F511}",
    "\u{0}",
    "→",
    "12",
    "sk-",
    "ghp_",
    "AKIA",
    "eyJ",
    ".",
    "-",
    "_",
    "=>",
    "==",
    "||",
    ":-",
    "$",
    "${",
];

fn text() -> impl Strategy<Value = String> {
    let template = select(vec![
        "gh|p_{a36}",
        "AK|IA{216}",
        "sk-|ant-{w40}",
        "ey|J{a20}.eyJ{a20}.{a20}",
        "{a32}",
        "{h40}",
        "{u}",
        "{b40}",
        "gl|pat-{w20}",
        "xo|xb-{n12}-{a24}",
    ]);
    let planted = (template, 1..u64::MAX).prop_map(|(template, seed)| secret(template, seed));
    let piece = prop_oneof![
        6 => select(PIECES).prop_map(str::to_owned),
        2 => planted,
        1 => any::<String>(),
        1 => "[a-zA-Z0-9]{1,12}",
    ];
    vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redacting_again_changes_nothing(text in text()) {
        let once = REDACTOR.redact(&text);
        let twice = REDACTOR.redact(&once.text);
        prop_assert_eq!(&once.text, &twice.text);
        prop_assert!(twice.counts.is_empty());
    }

    #[test]
    fn a_token_is_redacted_in_any_surrounding(before in text(), after in text(), seed in 1..u64::MAX) {
        let token = secret("gh|p_{a36}", seed);
        let redacted = REDACTOR.redact(&format!("{before} {token} {after}")).text.into_owned();
        prop_assert!(!redacted.contains(&token[4..]));
    }

    #[test]
    fn a_password_is_redacted_before_any_text(after in text()) {
        let text = format!("PASSWORD='hunter2hunter3'\n{after}");
        prop_assert!(!REDACTOR.redact(&text).text.contains("hunter2hunter3"));
    }

    #[test]
    fn text_without_findings_is_unchanged(text in any::<String>()) {
        let redacted = REDACTOR.redact(&text);
        if redacted.counts.is_empty() {
            prop_assert_eq!(redacted.text.as_ref(), text.as_str());
        }
    }
}
