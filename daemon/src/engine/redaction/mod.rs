//! Redacts data that do not come from transcripts, and data that are stored already.
//!
//! The items of a transcript are redacted when they are read ([`pipeline`](super::pipeline)). Data
//! from other sources (ids, reasons, displayed paths, imported episodes) are redacted by the
//! functions here. [`StoredRedactor`] redacts data that were stored under older rules; [`note`]
//! records the version of the rules by which the stored data were redacted, and [`known`] the
//! secrets of each session.

pub mod known;
pub mod note;
mod stored;

use std::borrow::Cow;

use sha2::{Digest, Sha256};

pub use self::stored::{RedactionReport, StoredRedactor};
use crate::{
    model::{CloseReason, SessionId, hex},
    redact::Redactor,
};

/// Returns `text` without its secrets.
pub fn text(text: &str) -> Cow<'_, str> {
    Redactor::new().redact(text).text
}

/// Like [`text`], for an owned text.
pub fn owned(given: String) -> String {
    let clean = match text(&given) {
        Cow::Owned(clean) => Some(clean),
        Cow::Borrowed(_) => None,
    };
    clean.unwrap_or(given)
}

/// Returns an id, or a name that serves as a key, without its secrets. A name without secrets is
/// unchanged. Two names that differ only in their secrets get different results. The result for a
/// name is always the same.
pub fn id(id: &str) -> Cow<'_, str> {
    match text(id) {
        Cow::Borrowed(_) => Cow::Borrowed(id),
        Cow::Owned(clean) => {
            let digest = Sha256::digest(id);
            Cow::Owned(format!("{clean}-{}", hex::encode(&digest[..4])))
        }
    }
}

/// Returns the id that an agent gave to a session, without secrets.
pub fn session_id(given: SessionId) -> SessionId {
    SessionId { id: id(&given.id).into_owned(), ..given }
}

/// Returns the reason for a close, without secrets.
pub fn reason(reason: CloseReason) -> CloseReason {
    match reason {
        CloseReason::Explicit(note) => CloseReason::Explicit(note.map(|note| text(&note).into())),
        CloseReason::Hook(word) => CloseReason::Hook(text(&word).into()),
        CloseReason::PreCompact
        | CloseReason::LazyQuery
        | CloseReason::InactivityTimeout
        | CloseReason::AgentExited
        | CloseReason::HistorySync => reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_without_a_secret_is_unchanged() {
        for plain in [
            "6f0d2a5e-0d1c-4a53-9a6b-1d2e3f405162",
            "rollout-2026-03-01T10-00-00-abc",
            "agent-a4776357374349619",
            "mcp__linear__get_issue",
            "token",
            "",
        ] {
            assert_eq!(id(plain), plain);
        }
    }

    #[test]
    fn redacted_ids_are_distinct_and_stable() {
        let secret = |n: u32| format!("backup-ghp{}{n}", "_kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4NmQw1");
        let (one, other) = (secret(1), secret(2));
        let (one, other) = (id(&one), id(&other));
        assert!(one.starts_with("backup-[REDACTED:github-token]-"), "{one}");
        assert_ne!(one, other);
        assert_eq!(id(&secret(1)), one);
        assert_eq!(id(&one), one);
    }

    #[test]
    fn only_the_secret_in_a_reason_is_redacted() {
        let given = CloseReason::from_argument(Some("done, password=hunter2hunter2"));
        assert_eq!(
            reason(given),
            CloseReason::Explicit(Some("done, password=[REDACTED:password]".to_owned()))
        );
        let plain = CloseReason::from_argument(Some("hook_clear"));
        assert_eq!(reason(plain.clone()), plain);
    }
}
