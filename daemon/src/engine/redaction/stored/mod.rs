//! Redacts stored records again, by the current rules.

mod records;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{id, reason};
use crate::{
    model::{
        CloseReason, Project, SessionId,
        session::{Failure, Indexing, State},
    },
    redact::{Redactor, SecretCounts},
    store::Note,
};

/// The changes, or in a dry run the changes that would be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RedactionReport {
    /// The number of changed records, by kind.
    pub changed: BTreeMap<String, u64>,
    /// The number of replaced secrets, by kind. A secret that is in several records is counted
    /// once for each record.
    pub kinds: BTreeMap<String, u64>,
    /// The number of records that cannot be read. Such records are not changed.
    pub unreadable: u64,
}

/// Redacts records again, and counts the changes.
#[derive(Debug, Default)]
pub struct StoredRedactor {
    redactor: Redactor,
    /// The changes so far.
    pub report: RedactionReport,
}

impl RedactionReport {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    fn count(&mut self, what: &str, is_changed: bool) -> bool {
        if is_changed {
            *self.changed.entry(what.to_owned()).or_default() += 1;
        }
        is_changed
    }
}

impl StoredRedactor {
    /// Continues from earlier counts.
    pub fn resumed(report: RedactionReport) -> StoredRedactor {
        StoredRedactor { redactor: Redactor::new(), report }
    }

    pub fn text(&mut self, text: &mut String) -> bool {
        let redacted = self.redactor.redact(text);
        if redacted.counts.is_empty() {
            return false;
        }
        let clean = redacted.text.into_owned();
        self.count_kinds(&redacted.counts, text, &clean);
        *text = clean;
        true
    }

    /// Redacts every text in a JSON document that this program wrote. In such a document, the name
    /// of a member does not show that its value is a secret. The name of a setting may show it.
    pub fn value(&mut self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                items.iter_mut().fold(false, |changed, item| self.value(item) | changed)
            }
            Value::Object(members) => {
                let is_changed = self.setting(members);
                let mut in_members = false;
                for (name, member) in members.iter_mut() {
                    in_members |= match member {
                        Value::String(id) if name == "session_id" => self.id(id),
                        member => self.value(member),
                    };
                }
                self.names(members) | in_members | is_changed
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// Redacts the arguments of a call. The name of an argument may show that its value is a
    /// secret.
    pub(in crate::engine) fn arguments(&mut self, arguments: &mut Value) -> bool {
        let before = arguments.to_string();
        let counts = self.redactor.redact_value(arguments);
        let after = arguments.to_string();
        self.count_kinds(&counts, &before, &after);
        before != after
    }

    /// Redacts every text in data that are stored as JSON.
    pub(in crate::engine) fn part<P: Serialize + DeserializeOwned>(
        &mut self,
        part: &mut P,
    ) -> bool {
        let Ok(mut value) = serde_json::to_value(&*part) else { return false };
        let kinds = self.report.kinds.clone();
        if !self.value(&mut value) {
            return false;
        }
        let clean = serde_json::from_value(value);
        let is_changed = clean.is_ok();
        match clean {
            Ok(clean) => *part = clean,
            Err(_) => {
                self.report.kinds = kinds;
                self.report.unreadable += 1;
            }
        }
        is_changed
    }

    pub fn id(&mut self, given: &mut String) -> bool {
        let clean = id(given).into_owned();
        if clean == *given {
            return false;
        }
        let counts = self.redactor.redact(given).counts;
        self.count_kinds(&counts, given, &clean);
        *given = clean;
        true
    }

    fn session_id(&mut self, given: &mut SessionId) -> bool {
        let SessionId { agent: _, id } = given;
        self.id(id)
    }

    fn texts<'t>(&mut self, texts: impl IntoIterator<Item = &'t mut String>) -> bool {
        texts.into_iter().fold(false, |changed, text| self.text(text) | changed)
    }

    fn project(&mut self, project: &mut Project) -> bool {
        let mut path = project.path().to_owned();
        let is_changed = self.text(&mut path);
        if is_changed {
            *project = Project::new(&path);
        }
        is_changed
    }

    fn reason(&mut self, given: &mut CloseReason) -> bool {
        let clean = reason(given.clone());
        let is_changed = clean != *given;
        *given = clean;
        is_changed
    }

    fn state(&mut self, state: &mut State) -> bool {
        match state {
            State::Active | State::Inactive | State::Indexed | State::Unindexed(_) => false,
            State::Indexing(Indexing {
                reason,
                since: _,
                attempts: _,
                written_since: _,
                again,
            }) => {
                let again = again.as_mut().is_some_and(|again| self.reason(again));
                self.reason(reason) | again
            }
            State::Failed(Failure { error, attempts: _, retry_at: _, reason }) => {
                self.text(error) | self.reason(reason)
            }
        }
    }

    /// Redacts the old and the new value of a setting. The name of the setting may show that these
    /// values are secrets.
    fn setting(&mut self, members: &mut Map<String, Value>) -> bool {
        let Some(Value::String(name)) = members.get("setting").cloned() else { return false };
        let values = ["old_value", "new_value"].into_iter();
        values.fold(false, |changed, value| match members.get_mut(value) {
            Some(Value::String(value)) => self.named(&name, value) | changed,
            _ => changed,
        })
    }

    /// Redacts the value of `name`. The name may show that the value is a secret.
    fn named(&mut self, name: &str, value: &mut String) -> bool {
        let mut line = format!("{name}={value}");
        if !self.text(&mut line) {
            return false;
        }
        match line.strip_prefix(name).and_then(|rest| rest.strip_prefix('=')) {
            Some(clean) => clean.clone_into(value),
            // The name itself contains a secret, which is redacted separately.
            None => return false,
        }
        true
    }

    /// Redacts the names of members. Such a name may be data, for example a path or a tool.
    fn names(&mut self, members: &mut Map<String, Value>) -> bool {
        let is_clean = |name: &String| id(name) == name.as_str();
        if members.keys().all(is_clean) {
            return false;
        }
        for (mut name, member) in std::mem::take(members) {
            self.id(&mut name);
            members.insert(name, member);
        }
        true
    }

    fn json(
        &mut self,
        note: &mut Note,
        redact: impl FnOnce(&mut StoredRedactor, &mut Value) -> bool,
    ) -> bool {
        let Some(content) = &mut note.content else { return false };
        let Ok(mut value) = serde_json::from_slice::<Value>(content) else {
            self.report.unreadable += 1;
            return false;
        };
        let is_changed = redact(self, &mut value);
        if is_changed {
            *content = value.to_string().into_bytes();
        }
        is_changed
    }

    /// Counts the marks of replaced secrets that are in `after` but not in `before`.
    fn count_kinds(&mut self, counts: &SecretCounts, before: &str, after: &str) {
        for (kind, _) in counts.iter() {
            let mark = format!("[REDACTED:{kind}]");
            let new = after.matches(&mark).count().saturating_sub(before.matches(&mark).count());
            if new > 0 {
                *self.report.kinds.entry(kind.to_string()).or_default() += new as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests;
