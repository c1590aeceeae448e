//! The tokens of a session by day and model.

use serde::{Deserialize, Serialize};

use crate::model::{Evidence, time::Timestamp, transcript::Tokens};

/// The tokens that one model used on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUse {
    /// Days since 1970-01-01, in UTC.
    pub day: i64,
    /// The model; empty when the transcript does not contain it.
    pub model: String,
    #[serde(flatten)]
    pub tokens: Tokens,
}

/// Maximum number of entries of one session. The tokens of further days and models are added to the
/// last entry.
const MAX_ENTRIES: usize = 100;
const MICROS_A_DAY: i64 = 86_400_000_000;

/// Returns the day of an instant: days since 1970-01-01, in UTC.
pub fn day_of(at: Timestamp) -> i64 {
    at.micros().div_euclid(MICROS_A_DAY)
}

/// Returns the entry of a day and a model. Adds the entry if it is missing. If the list is full,
/// returns its last entry instead, which is of another day or model.
pub fn use_of<'u>(uses: &'u mut Vec<TokenUse>, day: i64, model: &str) -> &'u mut TokenUse {
    let is_it = |one: &TokenUse| one.day == day && one.model == model;
    let at = uses.iter().rposition(is_it).unwrap_or_else(|| {
        if uses.len() < MAX_ENTRIES {
            uses.push(TokenUse { day, model: model.to_owned(), ..TokenUse::default() });
        }
        uses.len() - 1
    });
    &mut uses[at]
}

impl Tokens {
    /// Subtracts `other`, down to 0.
    pub fn remove(&mut self, other: Tokens) {
        self.input = self.input.saturating_sub(other.input);
        self.output = self.output.saturating_sub(other.output);
        self.cache_read = self.cache_read.saturating_sub(other.cache_read);
        self.cache_write = self.cache_write.saturating_sub(other.cache_write);
    }
}

impl Evidence {
    /// Returns the tokens by day and model. Tokens that an older version counted are attributed to
    /// the first model and the last day of the session.
    pub fn tokens_by_day(&self) -> Vec<TokenUse> {
        let mut uses = self.token_uses.clone();
        let mut rest = self.tokens;
        uses.iter().for_each(|one| rest.remove(one.tokens));
        if rest != Tokens::default() {
            let day = self.span.last.map_or(0, day_of);
            let model = self.models.first().map_or("", String::as_str);
            use_of(&mut uses, day, model).tokens.add(rest);
        }
        uses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64, cache_read: u64) -> Tokens {
        Tokens { input, cache_read, ..Tokens::default() }
    }

    #[test]
    fn tokens_of_an_older_version_belong_to_the_first_model() {
        let mut evidence = Evidence {
            tokens: tokens(30, 8),
            models: vec!["a".to_owned(), "b".to_owned()],
            ..Evidence::default()
        };
        evidence.span.last = Timestamp::parse("1970-01-03T10:00:00Z");
        use_of(&mut evidence.token_uses, 2, "b").tokens.add(tokens(10, 8));
        let uses = evidence.tokens_by_day();
        assert_eq!(uses.len(), 2);
        assert_eq!((uses[0].day, &*uses[0].model, uses[0].tokens), (2, "b", tokens(10, 8)));
        assert_eq!((uses[1].day, &*uses[1].model, uses[1].tokens), (2, "a", tokens(20, 0)));
    }

    #[test]
    fn the_list_is_bounded_but_counts_all_tokens() {
        let mut uses = Vec::new();
        for day in 0..300 {
            use_of(&mut uses, day, "a").tokens.add(tokens(1, 0));
        }
        assert_eq!(uses.len(), MAX_ENTRIES);
        assert_eq!(uses.iter().map(|one| one.tokens.input).sum::<u64>(), 300);
    }

    #[test]
    fn days_begin_at_midnight_in_utc() {
        for (at, day) in [("1970-01-01T23:59:59Z", 0), ("1970-01-02T00:00:00Z", 1)] {
            assert_eq!(day_of(Timestamp::parse(at).unwrap()), day);
        }
    }
}
