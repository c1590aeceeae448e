//! Prints how much of the limits on disk space is used, and what was evicted.

use std::fmt;

use graphiti_proto::tools::health::HealthAnswer;

use super::{bytes, number};
use crate::screen::{Screen, local};

/// Describes the use of each quota of which at least half is used, and what to do near a limit.
pub(super) fn limits(answer: &HealthAnswer, screen: &Screen) -> Option<String> {
    let uses: Vec<QuotaUse> =
        quota_uses(answer).into_iter().filter(|quota| quota.used >= quota.limit / 2).collect();
    let (near, others): (Vec<QuotaUse>, Vec<QuotaUse>) =
        uses.into_iter().partition(QuotaUse::is_near);
    let joined =
        |uses: &[QuotaUse]| uses.iter().map(QuotaUse::to_string).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    if !others.is_empty() {
        parts.push(joined(&others));
    }
    if !near.is_empty() {
        parts.push(screen.warn(format!("{}; remedy: {}", joined(&near), remedies(&near))));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns the remedies for the quotas near their limits. Each remedy names its setting.
pub(in crate::commands) fn remedies(near: &[QuotaUse]) -> String {
    near.iter().map(QuotaUse::remedy).collect::<Vec<_>>().join("; ")
}

/// How much of a quota is used.
#[derive(Clone, Copy)]
pub(in crate::commands) struct QuotaUse {
    /// The name, as in the setting.
    name: &'static str,
    /// The bytes in use.
    used: u64,
    /// The limit in bytes.
    limit: u64,
}

impl QuotaUse {
    /// Whether at least five eighths of the limit are used. The user is then warned.
    pub(in crate::commands) fn is_near(&self) -> bool {
        self.used >= self.limit / 8 * 5
    }

    /// Returns what the user can do near the limit, and what happens otherwise.
    fn remedy(&self) -> String {
        let name = self.name;
        let raise = format!("raise session_tracking.limits.{name}_bytes, then graphiti reload");
        match name {
            // Hook events wait for the daemon, and no session can be removed from them.
            "spool" => format!("{raise}; otherwise further hook events are refused"),
            "database" => format!(
                "{raise}, or remove sessions with graphiti forget; otherwise what does not fit is \
                 evicted, the text of the oldest sessions first (the rest of the limit is reserved for \
                 the copy that a compaction makes)"
            ),
            _ => format!(
                "{raise}, or remove sessions with graphiti forget; otherwise what does not fit is \
                 evicted, the text of the oldest sessions first"
            ),
        }
    }
}

impl fmt::Display for QuotaUse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} of {}", self.name, bytes(self.used), bytes(self.limit))
    }
}

pub(in crate::commands) fn quota_uses(answer: &HealthAnswer) -> Vec<QuotaUse> {
    let (kept, limits) = (&answer.kept, &answer.limits);
    let quota = |name, used, limit| QuotaUse { name, used, limit };
    // The spool comes first, because hook events are refused when it is full.
    let all = [
        quota("spool", kept.spool_bytes, limits.spool_bytes),
        quota("database", kept.database_bytes, limits.database_bytes),
        quota("index", kept.index_bytes, limits.index_bytes),
    ];
    // An older daemon reports no limits.
    all.into_iter().filter(|quota| quota.limit > 0).collect()
}

/// Describes what was evicted to comply with the limits.
pub(in crate::commands) fn evicted(answer: &HealthAnswer) -> Option<String> {
    // Daemons before 0.2 use only the older field.
    let older = Some(&answer.let_go);
    let gone =
        [Some(&answer.evicted), older].into_iter().flatten().find(|gone| gone.at.is_some())?;
    let at = gone.at.as_ref()?;
    let text = format!("text of {} sessions ({})", number(gone.sessions), bytes(gone.text_bytes));
    let episodes = match gone.episodes {
        0 => String::new(),
        count => format!(", {} episodes", number(count)),
    };
    Some(format!("{text}{episodes}, last on {}", local(at, "%Y-%m-%d")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    #[test]
    fn the_day_of_an_eviction_is_a_day_of_this_machine() {
        let mut answer = HealthAnswer::default();
        // One of these instants is on another day in each time zone other than UTC.
        for at in ["2026-03-01T00:30:00Z", "2026-03-01T23:30:00Z"] {
            answer.evicted.at = Some(at.to_owned());
            let shown = evicted(&answer).unwrap();
            let day = at.parse::<jiff::Timestamp>().unwrap().to_zoned(jiff::tz::TimeZone::system());
            assert!(shown.ends_with(&format!("last on {}", day.date())), "{shown}");
        }
    }

    #[test]
    fn near_a_limit_the_reserve_and_the_remedy_are_shown() {
        let screen = Screen::new(cli::Color::Never);
        let mut answer = HealthAnswer::default();
        (answer.limits.database_bytes, answer.limits.index_bytes) = (4_000_000_000, 2_000_000_000);
        answer.kept.index_bytes = 1_100_000_000;
        let index = "index 1.1 GB of 2.0 GB";
        assert_eq!(limits(&answer, &screen).as_deref(), Some(index), "not near the limit");
        answer.kept.database_bytes = 2_500_000_000;
        let shown = limits(&answer, &screen).unwrap();
        let wanted = format!(
            "{index}, database 2.5 GB of 4.0 GB; remedy: raise session_tracking.limits.database_bytes, \
             then graphiti reload"
        );
        assert!(shown.starts_with(&wanted), "{shown}");
        assert!(shown.contains("reserved for the copy that a compaction makes"), "{shown}");
        answer.kept.database_bytes = 0;
        answer.kept.index_bytes = 1_300_000_000;
        let shown = limits(&answer, &screen).unwrap();
        assert!(shown.contains("limits.index_bytes") && !shown.contains("reserved"), "{shown}");
        (answer.kept.index_bytes, answer.kept.spool_bytes) = (0, 50);
        answer.limits.spool_bytes = 64;
        let shown = limits(&answer, &screen).unwrap();
        assert!(shown.ends_with("otherwise further hook events are refused"), "{shown}");
        answer.kept.database_bytes = 3_900_000_000;
        let shown = limits(&answer, &screen).unwrap();
        let parts =
            ["spool ", "database ", "limits.spool_bytes", "are refused", "limits.database_bytes"];
        let places =
            parts.map(|part| shown.find(part).unwrap_or_else(|| panic!("{part}: {shown}")));
        assert!(places.is_sorted(), "{shown}");
        assert_eq!(limits(&HealthAnswer::default(), &screen), None);
    }
}
