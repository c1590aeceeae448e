//! Named points at which a test has the daemon die as `kill -9` would have it.
//!
//! A debug build that is started with `GRAPHITI_DIE_AT=<point>:<n>` aborts when it reaches the point
//! for the n-th time. A release build has no such points.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

/// The variable that names the point.
pub const DIE_AT: &str = "GRAPHITI_DIE_AT";

/// Every point, in the order in which a session comes to them.
pub const POINTS: &[&str] = &[
    "read: messages queued",
    "read: to the end",
    "close: taken down",
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
    "room: text gone",
    "smaller: copied",
    "smaller: complete",
    "smaller: moved aside",
    "smaller: in place",
];

/// Dies here if that is wished.
pub fn point(name: &'static str) {
    if cfg!(debug_assertions) {
        reached(name);
    }
}

fn reached(name: &'static str) {
    static WISHED: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static TIMES: AtomicU32 = AtomicU32::new(0);
    debug_assert!(POINTS.contains(&name), "`{name}` is not in the list of points");
    let wished = WISHED.get_or_init(|| {
        let wished = std::env::var(DIE_AT).ok()?;
        let (point, times) = wished.rsplit_once(':')?;
        Some((point.to_owned(), times.parse().ok()?))
    });
    if let Some((point, times)) = wished
        && point == name
        && TIMES.fetch_add(1, Ordering::Relaxed) + 1 == *times
    {
        std::process::abort();
    }
}
