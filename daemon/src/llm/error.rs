//! What can go wrong, told apart by who acts on it.

use std::time::Duration;

use crate::{llm::reply::TokenUsage, model::Timestamp};

/// Why there is no reply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No model is configured. No one has to do anything.
    #[error("no model is asked: llm.provider is \"none\"")]
    Off,
    /// It does not answer at present. The retry queue asks again.
    #[error("the model does not answer: {reason}")]
    Unavailable {
        reason: String,
        /// When it is worth asking again, where that is known.
        retry_after: Option<Duration>,
    },
    /// The model, or a filter before it, declines this prompt. Asking again does not help.
    #[error("the model declines the prompt: {reason}")]
    Refused {
        /// In its own words.
        reason: String,
    },
    /// The prompt is longer than the model can read. The caller packs less into it.
    #[error("the prompt is too long for the model: {reason}")]
    TooLong {
        /// By how much, where that is known.
        reason: String,
    },
    /// The reply was longer than allowed and ends in the middle. The caller asks for less.
    #[error("the reply was cut off at {limit} tokens")]
    CutOff { limit: u32 },
    /// The reply is not what was asked for, asked twice. The caller does without.
    #[error("the model's reply cannot be used: {reason}")]
    BadReply {
        /// What is wrong with it, without its text.
        reason: String,
    },
    /// The day's budget is spent. The retry queue asks again when the day is over.
    #[error("the model's daily budget of {limit} is spent until {until}")]
    BudgetSpent {
        /// The bound that was reached.
        limit: String,
        /// The end of the day.
        until: Timestamp,
    },
    /// The user has to change something.
    #[error("the model cannot be asked: {what}; {remedy}")]
    Misconfigured { what: String, remedy: String },
}

impl Error {
    /// Builds an [`Error::Misconfigured`] of two texts.
    pub fn misconfigured(what: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Misconfigured { what: what.into(), remedy: remedy.into() }
    }

    /// Whether asking again is of use, and when.
    pub fn retry(&self) -> Retry {
        match self {
            Error::Off | Error::Misconfigured { .. } => Retry::AfterChange,
            Error::Unavailable { retry_after, .. } => Retry::Later(*retry_after),
            Error::BudgetSpent { until, .. } => Retry::At(*until),
            Error::TooLong { .. } | Error::CutOff { .. } => Retry::Smaller,
            Error::Refused { .. } | Error::BadReply { .. } => Retry::Never,
        }
    }

    /// A word for logs.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Off => "off",
            Error::Unavailable { .. } => "unavailable",
            Error::Refused { .. } => "refused",
            Error::TooLong { .. } => "too_long",
            Error::CutOff { .. } => "cut_off",
            Error::BadReply { .. } => "bad_reply",
            Error::BudgetSpent { .. } => "budget_spent",
            Error::Misconfigured { .. } => "misconfigured",
        }
    }

    /// The same with what others wrote into it passed through `clean` and shortened.
    pub(in crate::llm) fn cleaned(self, clean: impl Fn(&str) -> String) -> Error {
        let clean = |text: String| shortened(&clean(&text));
        match self {
            Error::Unavailable { reason, retry_after } => {
                Error::Unavailable { reason: clean(reason), retry_after }
            }
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

/// Whether asking again is of use, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The same question would end the same way.
    Never,
    /// A smaller question may be answered.
    Smaller,
    /// By the retry queue's own pauses; not before this much time, where it is known.
    Later(Option<Duration>),
    /// Not before this time.
    At(Timestamp),
    /// When the configuration has changed.
    AfterChange,
}

/// How one attempt failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// What the caller is told if this was the last attempt.
    pub error: Error,
    /// Whether another attempt at once is of use.
    pub again: Again,
    /// What it cost all the same.
    pub bill: Bill,
}

/// Whether another attempt at once is of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It would end the same way.
    Never,
    /// It may help, but it is expensive: one more attempt and no further.
    Once,
    /// As often as configured.
    Usual,
}

/// What an attempt that failed cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bill {
    /// Nothing: the model did not work on it.
    Nothing,
    /// It may have worked on it; as much as was expected is counted.
    Expected,
    /// What the provider says.
    Told(TokenUsage),
}

impl Failure {
    /// A passing condition of the server or the way to it.
    pub fn unavailable(reason: impl Into<String>, retry_after: Option<Duration>) -> Failure {
        let error = Error::Unavailable { reason: reason.into(), retry_after };
        Failure { error, again: Again::Usual, bill: Bill::Nothing }
    }

    /// The reply did not come in time or not to its end: the model has worked for it.
    pub fn lost(reason: impl Into<String>) -> Failure {
        let error = Error::Unavailable { reason: reason.into(), retry_after: None };
        Failure { error, again: Again::Once, bill: Bill::Expected }
    }

    /// A reply that makes no sense, with what it cost where that is known.
    pub fn bad_reply(reason: impl Into<String>, usage: Option<TokenUsage>) -> Failure {
        let error = Error::BadReply { reason: reason.into() };
        Failure { error, again: Again::Once, bill: usage.map_or(Bill::Expected, Bill::Told) }
    }

    /// What would end the same way every time, for which nothing was charged.
    pub fn lasting(error: Error) -> Failure {
        Failure { error, again: Again::Never, bill: Bill::Nothing }
    }

    /// What would end the same way every time, with what it cost where that is known.
    pub fn charged(error: Error, usage: Option<TokenUsage>) -> Failure {
        let bill = usage.map_or(Bill::Expected, Bill::Told);
        Failure { error, again: Again::Never, bill }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::lasting(error)
    }
}

/// Bytes of what others wrote that are kept in a message.
const SHOWN: usize = 400;

/// One line of at most [`SHOWN`] bytes.
fn shortened(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(SHOWN));
    for word in text.split_whitespace() {
        if line.len() + word.len() >= SHOWN {
            let room = word.floor_char_boundary(SHOWN.saturating_sub(line.len() + 1));
            line.extend([" ", &word[..room], "…"]);
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
    fn what_others_wrote_is_cleaned_and_becomes_one_short_line() {
        let long = format!("a\n  secret  \t{}", "x".repeat(1_000));
        let error = Error::Unavailable { reason: long, retry_after: None };
        let cleaned = error.cleaned(|text| text.replace("secret", "[gone]")).to_string();
        assert!(cleaned.starts_with("the model does not answer: a [gone] xxx"), "{cleaned}");
        assert!(cleaned.ends_with('…') && cleaned.len() < 460, "{}", cleaned.len());
        assert!(!cleaned.contains('\n'));
    }

    #[test]
    fn text_of_many_bytes_a_character_is_cut_between_characters() {
        assert_eq!(shortened("  kurz  "), "kurz");
        let cut = shortened(&"語".repeat(1_000));
        assert!(cut.len() <= SHOWN + '…'.len_utf8(), "{}", cut.len());
        assert_eq!(shortened(""), "");
    }

    #[test]
    fn remedies_are_our_own_words_and_stay() {
        let error = Error::misconfigured("it says: secret", "set secret");
        assert_eq!(
            error.cleaned(|text| text.replace("secret", "x")).to_string(),
            "the model cannot be asked: it says: x; set secret"
        );
    }
}
