//! Errors of requests to a model, grouped by who acts on them.

use std::time::Duration;

use crate::{model::Timestamp, reply::TokenUsage};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No model is configured. Nobody has to act.
    #[error("no model is configured: the provider is \"none\"")]
    Off,
    /// The model is unavailable at present. The retry queue retries.
    #[error("the model is not available: {reason}")]
    Unavailable {
        reason: String,
        /// The minimum time until a retry is useful, if it is known.
        retry_after: Option<Duration>,
    },
    /// The session of the request could not be read. The retry queue retries.
    #[error("the request could not be prepared: {reason}")]
    NotPrepared { reason: String },
    /// The model, or a filter in front of it, declines this prompt. A retry does not help.
    #[error("the model declines the prompt: {reason}")]
    Refused {
        /// The words of the model or its server, or a description of the refusal.
        reason: String,
    },
    /// The prompt is longer than the model's context. The caller sends a shorter prompt.
    #[error("the prompt is too long for the model: {reason}")]
    TooLong {
        /// The estimated length and the limit, or the words of the server.
        reason: String,
    },
    /// The reply exceeded its limit and is incomplete. The caller requests a shorter reply.
    #[error("the reply was cut off at {limit} tokens")]
    CutOff { limit: u32 },
    /// The reply does not have the requested form. The caller continues without a reply, and
    /// [`resilience`](crate::resilience) may plan retries.
    #[error("the model's reply cannot be used: {reason}")]
    BadReply {
        /// What is wrong with the reply, without quoting it.
        reason: String,
    },
    /// The day's budget is spent. The retry queue retries on the next day.
    #[error("the model's daily budget of {limit} is spent; the next one starts at {until}")]
    BudgetSpent { limit: String, until: Timestamp },
    /// The user has to change the configuration.
    #[error("the model cannot be called: {what}; {remedy}")]
    Misconfigured { what: String, remedy: String },
}

impl Error {
    pub fn misconfigured(what: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Misconfigured { what: what.into(), remedy: remedy.into() }
    }

    /// Returns the error of a request that ends because the client or the daemon stops.
    pub(crate) fn stopping() -> Error {
        Error::Unavailable {
            reason: "its settings are changing, or the daemon is stopping".to_owned(),
            retry_after: None,
        }
    }

    pub fn retry(&self) -> Retry {
        match self {
            Error::Off | Error::Misconfigured { .. } => Retry::AfterChange,
            Error::Unavailable { retry_after, .. } => Retry::Later(*retry_after),
            Error::NotPrepared { .. } => Retry::Later(None),
            Error::BudgetSpent { until, .. } => Retry::At(*until),
            Error::TooLong { .. } | Error::CutOff { .. } => Retry::Smaller,
            Error::Refused { .. } | Error::BadReply { .. } => Retry::Never,
        }
    }

    /// Returns the name of the variant, for logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Off => "off",
            Error::Unavailable { .. } => "unavailable",
            Error::NotPrepared { .. } => "not_prepared",
            Error::Refused { .. } => "refused",
            Error::TooLong { .. } => "too_long",
            Error::CutOff { .. } => "cut_off",
            Error::BadReply { .. } => "bad_reply",
            Error::BudgetSpent { .. } => "budget_spent",
            Error::Misconfigured { .. } => "misconfigured",
        }
    }

    /// Passes external texts through `clean` and shortens them.
    pub(crate) fn redacted(self, clean: impl Fn(&str) -> String) -> Error {
        let clean = |text: String| shortened(&clean(&text));
        match self {
            Error::Unavailable { reason, retry_after } => {
                Error::Unavailable { reason: clean(reason), retry_after }
            }
            Error::NotPrepared { reason } => Error::NotPrepared { reason: clean(reason) },
            Error::Refused { reason } => Error::Refused { reason: clean(reason) },
            Error::TooLong { reason } => Error::TooLong { reason: clean(reason) },
            Error::BadReply { reason } => Error::BadReply { reason: clean(reason) },
            Error::Misconfigured { what, remedy } => {
                Error::Misconfigured { what: clean(what), remedy }
            }
            Error::Off | Error::CutOff { .. } | Error::BudgetSpent { .. } => self,
        }
    }
}

/// Whether and when a retry is useful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The request would fail again.
    Never,
    Smaller,
    /// After the retry queue's own pause, and at least after this time, if it is known.
    Later(Option<Duration>),
    At(Timestamp),
    AfterChange,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The error that the caller gets if this was the last attempt.
    pub error: Error,
    pub again: Again,
    pub bill: Bill,
}

/// Whether an immediate retry is useful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// A retry would fail, too.
    Never,
    /// A retry may help but is expensive: only one more attempt is made.
    Once,
    /// The configured number of retries is made.
    Usual,
}

/// The cost of a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bill {
    /// No cost: the model did not process the request.
    Nothing,
    /// The model may have processed the request; the expected maximum is counted.
    Expected,
    Reported(TokenUsage),
}

impl Failure {
    /// Creates a temporary failure of the server or the network.
    pub fn unavailable(reason: impl Into<String>, retry_after: Option<Duration>) -> Failure {
        let error = Error::Unavailable { reason: reason.into(), retry_after };
        Failure { error, again: Again::Usual, bill: Bill::Nothing }
    }

    /// Creates a failure for a late or incomplete reply: the model may have processed the request.
    pub fn lost(reason: impl Into<String>) -> Failure {
        let error = Error::Unavailable { reason: reason.into(), retry_after: None };
        Failure { error, again: Again::Once, bill: Bill::Expected }
    }

    /// Creates a failure for a reply that cannot be parsed, with its usage if the usage is known.
    pub fn bad_reply(reason: impl Into<String>, usage: Option<TokenUsage>) -> Failure {
        let error = Error::BadReply { reason: reason.into() };
        Failure { error, again: Again::Once, bill: usage.map_or(Bill::Expected, Bill::Reported) }
    }

    /// Creates a permanent failure that was not charged.
    pub fn lasting(error: Error) -> Failure {
        Failure { error, again: Again::Never, bill: Bill::Nothing }
    }

    /// Creates a permanent failure, with its usage if the usage is known.
    pub fn charged(error: Error, usage: Option<TokenUsage>) -> Failure {
        let bill = usage.map_or(Bill::Expected, Bill::Reported);
        Failure { error, again: Again::Never, bill }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::lasting(error)
    }
}

/// Maximum length, in bytes, of an external text in a message.
const SHOWN: usize = 400;

/// Returns `text` as one line. A line of more than [`SHOWN`] bytes is cut and gets an ellipsis.
fn shortened(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(SHOWN));
    for word in text.split_whitespace() {
        if line.len() + word.len() >= SHOWN {
            let remaining = word.floor_char_boundary(SHOWN.saturating_sub(line.len() + 1));
            line.extend([" ", &word[..remaining], "…"]);
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line.trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_text_is_redacted_and_becomes_one_short_line() {
        let long = format!("a\n  secret  \t{}", "x".repeat(1_000));
        let error = Error::Unavailable { reason: long, retry_after: None };
        let redacted = error.redacted(|text| text.replace("secret", "[gone]")).to_string();
        assert!(redacted.starts_with("the model is not available: a [gone] xxx"), "{redacted}");
        assert!(redacted.ends_with('…') && redacted.len() < 460, "{}", redacted.len());
        assert!(!redacted.contains('\n'));
    }

    #[test]
    fn multibyte_text_is_cut_between_characters() {
        assert_eq!(shortened("  kurz  "), "kurz");
        let cut = shortened(&"語".repeat(1_000));
        assert!(cut.len() <= SHOWN + '…'.len_utf8(), "{}", cut.len());
        assert_eq!(shortened(""), "");
    }

    #[test]
    fn remedies_are_not_redacted() {
        let error = Error::misconfigured("it says: secret", "set secret");
        assert_eq!(
            error.redacted(|text| text.replace("secret", "x")).to_string(),
            "the model cannot be called: it says: x; set secret"
        );
    }
}
