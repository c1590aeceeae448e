//! Redacts JSON values, using the key of each value.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    KnownSecrets, Redactor, SecretCounts, SecretKind,
    assignment::{
        name::{self, NameMeaning, Strength},
        value::{self, Quoting},
    },
    rule_parts::cookies,
};

impl Redactor {
    /// Redacts the keys and values in `value`, in place. A value is replaced as a whole if its key
    /// denotes a secret and the value may be this secret. A number is replaced only if the key
    /// denotes a password or a code such as a PIN. The key of a list also applies to its elements.
    /// The key of an object also applies to fields such as `value`: `{"password": {"value": "…"}}`.
    pub fn redact_value(&self, value: &mut Value) -> SecretCounts {
        self.redact_value_noting(value, &mut |_, _| {})
    }

    /// Redacts the keys and values of a session's `value`. In values, also redacts the secrets in
    /// `known`. Adds the secrets that were recognised in `value` to `known`.
    pub fn redact_value_of_session(&self, value: &mut Value, known: &mut KnownSecrets) {
        self.redact_value_noting(value, &mut |secret, kind| known.note(secret, kind));
        known.replace_in(value);
    }

    fn redact_value_noting(
        &self,
        value: &mut Value,
        note: &mut dyn FnMut(&str, SecretKind),
    ) -> SecretCounts {
        let mut counts = SecretCounts::default();
        let mut pending: Vec<(&mut Value, Option<NameMeaning>)> = vec![(value, None)];
        while let Some((value, meaning)) = pending.pop() {
            match value {
                Value::String(text) => self.redact_string(text, meaning, &mut counts, note),
                Value::Number(number) => {
                    // A PIN or a password that consists of digits.
                    let digits = number.to_string();
                    if let Some(meaning) = meaning.filter(|meaning| hides_number(*meaning, &digits))
                    {
                        counts.add(meaning.kind, 1);
                        *value = Value::String(meaning.kind.mark());
                    }
                }
                Value::Array(items) => {
                    pending.extend(items.iter_mut().map(|item| (item, meaning)));
                }
                Value::Object(fields) => {
                    self.redact_keys(fields, &mut counts);
                    let named = named_by_sibling(fields);
                    let form = form_field(fields);
                    for (key, field) in fields.iter_mut() {
                        if let Some(kind) = code_kind(key).filter(|_| is_code(field)) {
                            counts.add(kind, 1);
                            *field = Value::String(kind.mark());
                            continue;
                        }
                        let own = name::classify(key);
                        let named = named.or(form).filter(|_| is_value_key(key));
                        let outer = meaning.filter(|_| is_value_key(key));
                        let typed = form.filter(|_| key == "text");
                        pending.push((field, named.or(own).or(outer).or(typed)));
                    }
                }
                Value::Null | Value::Bool(_) => {}
            }
        }
        counts
    }

    fn redact_string(
        &self,
        text: &mut String,
        meaning: Option<NameMeaning>,
        counts: &mut SecretCounts,
        note: &mut dyn FnMut(&str, SecretKind),
    ) {
        let redacted = self.redact_noting(text, note);
        let quoting = Quoting::Field;
        let value = value::Value { text, quoting, is_cut: false };
        match meaning.filter(|meaning| redacted.counts.is_empty() && value.is_secret(*meaning)) {
            Some(meaning) => {
                counts.add(meaning.kind, 1);
                note(text, meaning.kind);
                *text = meaning.kind.mark();
            }
            None => {
                counts.merge(&redacted.counts);
                if !redacted.counts.is_empty() {
                    *text = redacted.text.into_owned();
                }
            }
        }
    }

    /// Redacts keys: some files have secrets as keys. Keys that become equal are made distinct.
    fn redact_keys(&self, fields: &mut Map<String, Value>, counts: &mut SecretCounts) {
        let redact = |key: &String| {
            let redacted = self.redact(key);
            (!redacted.counts.is_empty()).then(|| (redacted.text.into_owned(), redacted.counts))
        };
        let redacted: Vec<_> = fields.keys().map(redact).collect();
        if redacted.iter().all(Option::is_none) {
            return;
        }
        // The last number of each name: a dump of sessions may have thousands of tokens as keys.
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for ((key, value), redacted) in std::mem::take(fields).into_iter().zip(redacted) {
            let name = match redacted {
                Some((name, found)) => {
                    counts.merge(&found);
                    name
                }
                None => key,
            };
            let mut free = name.clone();
            while fields.contains_key(&free) {
                let number = numbers.entry(name.clone()).or_insert(1);
                *number += 1;
                free = format!("{name}#{number}");
            }
            fields.insert(free, value);
        }
    }
}

/// Whether the field `key` of an object contains the value that the object describes.
fn is_value_key(key: &str) -> bool {
    let keys = [
        "value",
        "val",
        "secret_value",
        "plain",
        "plaintext",
        "raw",
        "current",
        "new",
        "old",
        "previous",
    ];
    keys.iter().any(|known| key.eq_ignore_ascii_case(known))
}

/// Returns the meaning of the name that the field `name` or `key` contains: `{"name": "TOKEN",
/// "value": "…"}`.
fn named_by_sibling(fields: &Map<String, Value>) -> Option<NameMeaning> {
    ["name", "Name", "key", "Key", "variable", "secret_name", "field"]
        .iter()
        .find_map(|sibling| fields.get(*sibling)?.as_str())
        .and_then(|name| name::classify(name).or_else(|| cookie_meaning(name)))
}

/// Returns the meaning of the name of a session cookie, as in the export of a browser.
fn cookie_meaning(name: &str) -> Option<NameMeaning> {
    const NAMES: &[&str] = cookies!("");
    NAMES.contains(&name).then_some(NameMeaning {
        strength: Strength::Key,
        kind: SecretKind("cookie"),
        is_variable: false,
    })
}

/// Returns the meaning of the password field into which a tool types: `{"element": "Password
/// field", "text": "…"}`, `{"selector": "#password", "value": "…"}`.
fn form_field(fields: &Map<String, Value>) -> Option<NameMeaning> {
    ["element", "selector", "label", "placeholder"]
        .iter()
        .filter_map(|sibling| fields.get(*sibling)?.as_str())
        .flat_map(|field| field.split(|c: char| !c.is_alphanumeric() && !"_-".contains(c)))
        .filter_map(name::classify)
        .find(|meaning| meaning.strength == Strength::Password)
}

/// Returns the kind of the code of a few digits that the field `key` contains.
fn code_kind(key: &str) -> Option<SecretKind> {
    if ends_with_pin(key) {
        return Some(SecretKind("pin"));
    }
    let key: String = key.chars().filter(|c| !"_-".contains(*c)).collect();
    match key.to_ascii_lowercase().as_str() {
        "otp" | "totp" | "verificationcode" | "onetimecode" | "mfacode" | "2facode" | "smscode" => {
            Some(SecretKind("one-time-code"))
        }
        _ => None,
    }
}

/// Whether the last word of `key` is `pin`: `pin`, `card_pin`, `userPin`.
fn ends_with_pin(key: &str) -> bool {
    let is_after_lower = |rest: &str| rest.ends_with(|c: char| c.is_ascii_lowercase());
    ["pin", "Pin", "PIN"].iter().find_map(|pin| Some((pin, key.strip_suffix(pin)?))).is_some_and(
        |(pin, rest)| {
            rest.is_empty() || rest.ends_with(['_', '-']) || (*pin != "pin" && is_after_lower(rest))
        },
    )
}

/// Whether `value` is a number or a text of 4 to 8 digits.
fn is_code(value: &Value) -> bool {
    let is_digits = |text: &str| {
        (4..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    match value {
        Value::String(text) => is_digits(text),
        Value::Number(number) => is_digits(&number.to_string()),
        _ => false,
    }
}

fn hides_number(meaning: NameMeaning, digits: &str) -> bool {
    meaning.strength == Strength::Password && digits.len() >= 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_give_context() {
        let redactor = Redactor::new();
        let mut value = json!({
            "user": "bob",
            "password": "swordfish",
            "nested": {"api_key": "kJ8s2Lq0Zx9Vb4Nm", "api_key_env": "MISTRAL_API_KEY"},
            "passwords": ["hunter2", "hunter3"],
            "env": [{"name": "DB_PASSWORD", "value": "swordfish"}, {"name": "PORT", "value": "80"}],
            "pwd": 123_456,
            "login_password": {"value": "swordfish", "at": "2026-01-01", "old": ["hunter2"]},
            "password_field": {"type": "string", "minLength": 8},
            "tokens": 4_711,
            "text": "password=hunter2 and more",
            "url": "postgres://bob:hunter2@db/x",
            "token": "your-token",
        });
        let counts = redactor.redact_value(&mut value);
        assert_eq!(
            value,
            json!({
                "user": "bob",
                "password": "[REDACTED:password]",
                "nested": {"api_key": "[REDACTED:api-key]", "api_key_env": "MISTRAL_API_KEY"},
                "passwords": ["hunter2", "hunter3"],
                "env": [
                    {"name": "DB_PASSWORD", "value": "[REDACTED:password]"},
                    {"name": "PORT", "value": "80"},
                ],
                "pwd": "[REDACTED:password]",
                "login_password": {
                    "value": "[REDACTED:password]",
                    "at": "2026-01-01",
                    "old": ["[REDACTED:password]"],
                },
                "password_field": {"type": "string", "minLength": 8},
                "tokens": 4_711,
                "text": "password=[REDACTED:password] and more",
                "url": "postgres://bob:[REDACTED:url-password]@db/x",
                "token": "your-token",
            })
        );
        assert_eq!(counts.total(), 8);
    }

    #[test]
    fn codes_of_digits_are_redacted_by_their_keys() {
        let mut value = json!({
            "verificationCode": "482913", "pin": 4821, "one_time-code": "482913", "OTP": "1234",
            "pins": 4821, "totp": "a1b2", "mfa_code": 12, "cardPin": "4821", "user_pin": 4821,
            "spin": 4821, "led_pin": 18,
        });
        Redactor::new().redact_value(&mut value);
        let code = "[REDACTED:one-time-code]";
        assert_eq!(
            value,
            json!({
                "verificationCode": code, "pin": "[REDACTED:pin]", "one_time-code": code,
                "OTP": code, "pins": 4821, "totp": "a1b2", "mfa_code": 12,
                "cardPin": "[REDACTED:pin]", "user_pin": "[REDACTED:pin]",
                "spin": 4821, "led_pin": 18,
            })
        );
    }

    #[test]
    fn a_secret_used_as_a_key_is_redacted() {
        let redactor = Redactor::new();
        let secret = |n: u32| format!("ghp{}{n}", "_kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw1");
        let mut value = json!({ secret(1): 1, secret(2): 2, "plain": 3 });
        redactor.redact_value(&mut value);
        assert_eq!(
            value,
            json!({ "[REDACTED:github-token]": 1, "[REDACTED:github-token]#2": 2, "plain": 3 })
        );
    }

    #[test]
    fn a_number_that_another_key_has_is_not_used_again() {
        let secret = |n: u32| format!("ghp{}{n}", "_kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw1");
        let mark = "[REDACTED:github-token]";
        let mut value = json!({
            format!("{mark}#2"): 0, secret(1): 1, secret(2): 2, secret(3): 3,
        });
        assert_eq!(Redactor::new().redact_value(&mut value).total(), 3);
        let mut names: Vec<&String> = value.as_object().unwrap().keys().collect();
        names.sort();
        assert_eq!(names, [mark, &format!("{mark}#2"), &format!("{mark}#3"), &format!("{mark}#4")]);
    }

    #[test]
    fn redaction_of_a_value_is_idempotent() {
        let redactor = Redactor::new();
        let mut once = json!({"password": "swordfish", "a": ["token=kJ8s2Lq0Zx9Vb4Nm", 1, null]});
        redactor.redact_value(&mut once);
        let mut twice = once.clone();
        assert!(redactor.redact_value(&mut twice).is_empty());
        assert_eq!(once, twice);
    }

    #[test]
    fn deeply_nested_values_are_redacted() {
        let redactor = Redactor::new();
        let mut value = json!("password=hunter2");
        for _ in 0..2_000 {
            // `json!([value])` would serialize `value` recursively.
            value = Value::Array(vec![value]);
        }
        assert_eq!(redactor.redact_value(&mut value).total(), 1);
        // The value is dropped level by level, because the drop of serde_json is recursive.
        while let Value::Array(mut items) = value {
            value = items.pop().unwrap_or_default();
        }
    }
}
