//! Decides what happens to a session whose request failed (Graphiti's `resilience` settings).

use std::time::Duration;

use crate::{
    config::{OnUnavailable, Resilience},
    error::{Error, Retry},
    model::Timestamp,
};

/// The action for the session. A session that is stored without the model gets a summary derived
/// from evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    Fail,
    /// Store the session without the model, and do not retry.
    StoreRaw,
    /// Store the session without the model, and retry at this time.
    StoreRawAndRetry(Timestamp),
}

impl Plan {
    /// Returns when the request is repeated; `None` if it is not repeated.
    pub fn retry_at(self) -> Option<Timestamp> {
        match self {
            Plan::StoreRawAndRetry(at) => Some(at),
            Plan::Fail | Plan::StoreRaw => None,
        }
    }
}

/// Decides what to do after `error`, when the request was retried `retried` times before.
///
/// `on_unavailable` decides about outages, a session that could not be read, a spent budget and a
/// wrong configuration, because a later retry may succeed. Waiting for a new budget does not count
/// as a retry and has no limit. An unusable answer may be accidental: with
/// [`OnUnavailable::StoreRawAndRetry`], the request is retried like after an outage. After other
/// errors, the session is stored without the model.
pub fn plan(resilience: &Resilience, error: &Error, retried: u32, now: Timestamp) -> Plan {
    let delay = delay(resilience, retried);
    let may_be_accidental = matches!(error, Error::BadReply { .. })
        && resilience.on_unavailable == OnUnavailable::StoreRawAndRetry;
    let next = match error.retry() {
        Retry::Never if may_be_accidental => delay.map(|delay| now.plus(delay)),
        Retry::Never | Retry::Smaller => return Plan::StoreRaw,
        Retry::At(until) => Some(until.max(now)),
        Retry::AfterChange if *error == Error::Off => return Plan::StoreRaw,
        Retry::AfterChange => delay.map(|delay| now.plus(delay)),
        Retry::Later(least) => {
            delay.map(|delay| now.plus(delay.max(least.unwrap_or(Duration::ZERO))))
        }
    };
    match (resilience.on_unavailable, next) {
        (OnUnavailable::Fail, _) => Plan::Fail,
        (OnUnavailable::StoreRawAndRetry, Some(next)) => Plan::StoreRawAndRetry(next),
        (OnUnavailable::StoreRaw, _) | (OnUnavailable::StoreRawAndRetry, None) => Plan::StoreRaw,
    }
}

/// Returns the pause before the next retry; `None` after the last retry.
fn delay(resilience: &Resilience, retried: u32) -> Option<Duration> {
    if retried >= resilience.max_retries {
        return None;
    }
    let delays = &resilience.retry_delays;
    delays.get(retried as usize).or(delays.last()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_seconds(seconds)
    }

    fn outage(seconds: u64) -> Error {
        let retry_after = Some(Duration::from_secs(seconds));
        Error::Unavailable { reason: String::new(), retry_after }
    }

    #[test]
    fn each_error_has_its_plan() {
        let spent = Error::BudgetSpent { limit: String::new(), until: at(9_000) };
        let bad = Error::BadReply { reason: String::new() };
        let wrong = Error::misconfigured("", "");
        let retry = |seconds| Plan::StoreRawAndRetry(at(seconds));
        for (error, retried, expected) in [
            (outage(0), 0, retry(1_300)),
            (outage(0), 1, retry(1_900)),
            (outage(400), 0, retry(1_400)),
            (outage(0), 4, retry(22_600)),
            (outage(0), 5, Plan::StoreRaw),
            (spent, 99, retry(9_000)),
            (wrong.clone(), 0, retry(1_300)),
            (wrong, 5, Plan::StoreRaw),
            (bad.clone(), 0, retry(1_300)),
            (bad.clone(), 4, retry(22_600)),
            (bad, 5, Plan::StoreRaw),
            (Error::Refused { reason: String::new() }, 0, Plan::StoreRaw),
            (Error::CutOff { limit: 1 }, 0, Plan::StoreRaw),
            (Error::Off, 0, Plan::StoreRaw),
        ] {
            let found = plan(&Resilience::default(), &error, retried, at(1_000));
            assert_eq!(found, expected, "{error} after {retried}");
        }
    }

    #[test]
    fn the_setting_decides_what_follows_an_outage() {
        let with = |on_unavailable| Resilience { on_unavailable, ..Resilience::default() };
        let found = |setting| plan(&with(setting), &outage(0), 0, at(0));
        assert_eq!(found(OnUnavailable::Fail), Plan::Fail);
        assert_eq!(found(OnUnavailable::StoreRaw), Plan::StoreRaw);
        assert_eq!(found(OnUnavailable::StoreRawAndRetry), Plan::StoreRawAndRetry(at(300)));
    }

    #[test]
    fn the_last_pause_applies_to_all_further_retries() {
        let delays = vec![Duration::from_secs(1), Duration::from_secs(5)];
        let resilience =
            Resilience { max_retries: 10, retry_delays: delays, ..Resilience::default() };
        let next = |retried| plan(&resilience, &outage(0), retried, at(0));
        assert_eq!(next(0), Plan::StoreRawAndRetry(at(1)));
        assert_eq!(next(9), Plan::StoreRawAndRetry(at(5)));
        assert_eq!(next(10), Plan::StoreRaw);
        let none = Resilience { retry_delays: Vec::new(), ..Resilience::default() };
        assert_eq!(plan(&none, &outage(0), 0, at(0)), Plan::StoreRaw);
    }
}
