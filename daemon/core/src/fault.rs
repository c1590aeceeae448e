//! Named points at which a test can make the daemon abort, like `kill -9`, or panic.
//!
//! A debug build that is started with `GRAPHITI_DIE_AT=<point>:<n>` aborts when it reaches this
//! point for the n-th time. With `GRAPHITI_PANIC_AT` it panics there, as with a bug, so that only
//! the work at that point ends. With `<point>:<n>+` it aborts or panics at the n-th time and at
//! each later time.
//! In a release build the points have no effect.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

/// The environment variable with the point of an abort.
pub const DIE_AT: &str = "GRAPHITI_DIE_AT";

/// The environment variable with the point of a panic.
pub const PANIC_AT: &str = "GRAPHITI_PANIC_AT";

/// The message of a panic at a point. No answer of the daemon may contain this message.
pub const QUOTED: &str = "the quick numbat jumps";

/// All points.
pub const POINTS: &[&str] = &[
    "follower: turn",
    "embedder: turn",
    "engine: turn",
    "keeper: turn",
    "spool: turn",
    "server: turn",
    "request: taken",
    "job: begun",
    "read: messages queued",
    "read: to the end",
    "close: recorded",
    "job: made",
    "job: queued",
    "store: applied",
    "store: synced",
    "store: marked",
    "index: applied",
    "index: committed",
    "index: taken queued",
    "spool: written",
    "spool: kept",
    "spool: acted",
    "quota: text evicted",
    "smaller: copied",
    "smaller: complete",
    "smaller: moved aside",
    "smaller: in place",
    "redact: noted",
    "redact: index removed",
    "redact: written anew",
];

/// Aborts or panics if an environment variable contains this point and this occurrence's number.
pub fn point(name: &'static str) {
    if cfg!(debug_assertions) {
        reached(name);
    }
}

fn reached(name: &'static str) {
    static DEATH: OnceLock<Option<FaultTrigger>> = OnceLock::new();
    static PANIC: OnceLock<Option<FaultTrigger>> = OnceLock::new();
    debug_assert!(POINTS.contains(&name), "`{name}` is not in the list of points");
    let fires = |trigger: &OnceLock<Option<FaultTrigger>>, variable| {
        trigger
            .get_or_init(|| FaultTrigger::of(variable))
            .as_ref()
            .is_some_and(|trigger| trigger.fires(name))
    };
    if fires(&DEATH, DIE_AT) {
        std::process::abort();
    }
    if fires(&PANIC, PANIC_AT) {
        std::panic::panic_any(QUOTED);
    }
}

/// A point, and the number of its occurrence at which the process aborts or panics.
struct FaultTrigger {
    point: String,
    occurrence: u32,
    and_later: bool,
    count: AtomicU32,
}

impl FaultTrigger {
    fn of(variable: &str) -> Option<FaultTrigger> {
        let value = std::env::var(variable).ok()?;
        let (point, occurrence) = value.rsplit_once(':')?;
        let first = occurrence.trim_end_matches('+');
        Some(FaultTrigger {
            point: point.to_owned(),
            occurrence: first.parse().ok()?,
            and_later: first != occurrence,
            count: AtomicU32::new(0),
        })
    }

    fn fires(&self, name: &str) -> bool {
        if self.point != name {
            return false;
        }
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        count == self.occurrence || self.and_later && count > self.occurrence
    }
}
