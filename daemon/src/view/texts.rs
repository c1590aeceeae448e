//! All texts of the pages. A translation needs its own [`PageTexts`] and its own versions of the
//! functions in this file.

use std::time::Duration;

use jiff::Zoned;

/// The texts in use.
pub(super) static T: &PageTexts = &ENGLISH;

macro_rules! texts {
    ($($name:ident: $english:literal,)*) => {
        pub(super) struct PageTexts { $(pub(super) $name: &'static str,)* }

        static ENGLISH: PageTexts = PageTexts { $($name: $english,)* };
    };
}

texts! {
    language: "en",
    skip: "Skip to the content",
    views: "Views",
    // Menu
    search: "Search",
    sessions: "Sessions",
    calendar: "Calendar",
    projects: "Projects",
    open_ends: "Open ends",
    facts: "Facts",
    usage: "Usage",
    health: "Health",
    forgotten: "Forgotten",
    // Search
    search_label: "Search all messages and tool calls",
    search_facts: "Search facts",
    show_source: "Show the source of this statement",
    results: "Results",
    nothing_found: "Nothing found.",
    more_results: "More results",
    only_in: "Only in",
    in_all_projects: "Search all projects",
    known_error: "Known error",
    seen_last: "Last seen",
    latest_sessions: "Latest sessions",
    no_sessions: "No sessions yet. They appear here as soon as an agent writes one.",
    // Static copies
    search_copy: "Search titles and summaries",
    search_needs_script: "The search needs JavaScript. The lists do not.",
    too_long: "This page is too long for a copy.",
    // Lists and filters
    project: "Project",
    agent: "Agent",
    outcome: "Outcome",
    day: "Day",
    kind: "Kind",
    any: "any",
    all: "Show all",
    show: "Show",
    more_sessions: "More sessions",
    untitled: "(no title)",
    none: "None.",
    // Session
    conversation: "Conversation",
    summary: "Summary",
    no_summary: "There is no summary. Usually, the summary is written when the session has ended.",
    phases: "Phases of the work",
    done_tasks: "Done",
    decisions: "Decisions",
    because: "Because:",
    instead_of: "Instead of:",
    errors: "Errors",
    cause: "Cause",
    fix: "Fix",
    verified_by: "Verified by",
    left_open: "Left open",
    preferences: "Preferences",
    discoveries: "Discoveries",
    known_failures: "Known failures",
    settings: "Settings",
    tests: "Tests",
    repository: "Repository",
    files: "Files",
    symbols: "Symbols",
    tickets: "Tickets",
    related: "Related",
    about_session: "About this session",
    state: "State",
    transcript: "Transcript",
    forked_from: "Forked from",
    summary_by: "Summary by",
    evidence: "rules, from the transcript",
    branches: "Branches",
    session_file: "session",
    no_messages: "No messages.",
    earlier: "Earlier",
    later: "Later",
    whole_message: "Show the whole message",
    message: "Message",
    no_message: "this message does not exist",
    line: "line",
    parts: "Parts",
    previous: "Previous part",
    next: "Next part",
    // Facts
    as_of: "As of",
    also_ended: "include ended facts",
    since: "since",
    from: "from",
    until: "until",
    neighbours_link: "neighbours",
    done: "Done",
    wrong: "Wrong",
    keep: "Still true",
    failing_tests: "Failing tests",
    neighbours: "Neighbours",
    history: "History",
    ended_by: "Ended by:",
    also_named: "Also named",
    no_node: "this node does not exist",
    // Projects
    handoff: "Handoff",
    handoff_hint: "The text that the next session in this project gets at its start.",
    // Calendar
    weekdays: "Mo Tu We Th Fr Sa Su",
    years: "Years",
    // Usage
    model: "Model",
    no_model: "none: summaries come from rules",
    calls_today: "Calls today",
    calls_for_limit: "Of these, counted for the daily limit",
    usage_hint: "A request may need several calls: a failed call is repeated. A call that no model processed is not counted for the daily limit. A cost with “?” lacks the requests of unknown price.",
    cost: "Cost",
    purpose: "Purpose",
    answered: "Answered",
    failed_count: "Failed",
    tokens_in: "Tokens in",
    tokens_out: "Tokens out",
    memory_use: "Use of the memory",
    memory_use_hint: "How often information was offered to sessions, and how often they used it.",
    topic: "Topic",
    offered: "Offered",
    used: "Used",
    // Health
    problems: "Problems",
    running_since: "Running for",
    active: "Active",
    summaries: "Summaries",
    summaries_and_texts: "Summaries and remembered texts",
    without_summary: "Without summary",
    stored_messages: "Messages",
    database: "Database",
    search_index: "Search index",
    not_searchable_yet: "Changes not searchable yet",
    jobs: "Jobs",
    watching: "File watcher",
    agents: "Agents",
    version: "Version",
    records: "Records",
    watched_folders: "Watched folders",
    // Forgetting
    forget_link: "Forget this session…",
    forget_question: "Forget this session?",
    forget_explanation: "The messages, the summary and the facts that only this session contains \
    are removed from the memory.",
    forget_transcript: "The transcript is kept, and is not read again until you undo this.",
    forget_for_good: "There is no transcript on this machine: this cannot be undone.",
    forget_damaged: "Some messages of this session were damaged: if a copy or a fork of the \
    transcript contains them, they may be read from it again.",
    forget_now: "Forget",
    cancel: "Cancel",
    relatives: "Sessions that share text with this session (they are kept)",
    entities: "Entities that only this session mentions",
    hook_events: "Waiting hook events",
    is_forgotten: "Forgotten",
    forgotten_hint: "These sessions are not read again until you press Undo.",
    restored: "Restored",
    read_again: "its transcript is read again",
    forgotten_text: "A remembered text. It cannot be restored.",
    transcript_gone: "nothing was restored, because there is no transcript on this machine",
    undo: "Undo",
    // Notices
    saved: "Saved.",
    request_failed: "The request failed.",
    closed: "This page is no longer served: it was not used for some time, or the daemon has stopped. Open it again with: graphiti view",
    failed: "The request failed",
    no_page: "This page does not exist.",
    refused_site: "This page is open only to the browser in which it was opened, and not to other sites.",
    refused_cookie: "This page is open only to the browser in which it was opened. Open it with: graphiti view",
    refused_token: "This address was already used, or has expired. Get a new address with: \
    graphiti view",
}

fn counted(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{} {noun}", grouped(count))
}

fn to_u64(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

pub(super) fn messages(count: u32) -> String {
    counted(count.into(), "message", "messages")
}

pub(super) fn sessions(count: usize) -> String {
    counted(to_u64(count), "session", "sessions")
}

/// Returns the description of a static copy.
pub(super) fn copied(at: &str, count: usize) -> String {
    format!("A copy from {at} with {}. The copy does not change.", sessions(count))
}

pub(super) fn all_sessions(count: usize) -> String {
    format!("All {}", sessions(count))
}

pub(super) fn tool_messages(count: usize) -> String {
    counted(to_u64(count), "tool message", "tool messages")
}

pub(super) fn calls(count: u32) -> String {
    counted(count.into(), "tool call", "tool calls")
}

pub(super) fn calls_of_days(days: u32) -> String {
    format!("Calls in {days} days")
}

pub(super) fn characters(count: usize) -> String {
    counted(to_u64(count), "character", "characters")
}

pub(super) fn unfinished(count: usize) -> String {
    format!("{} not completed", sessions(count))
}

pub(super) fn more(count: usize) -> String {
    format!("and {} more", grouped(to_u64(count)))
}

/// Same as [`more`], if there may be even more items.
pub(super) fn at_least_more(count: usize) -> String {
    format!("and at least {} more", grouped(to_u64(count)))
}

/// Returns the note below an incomplete list of facts.
pub(super) fn only_latest(count: usize) -> String {
    format!("Only the latest {} are shown.", grouped(to_u64(count)))
}

/// Returns the note below incomplete search results.
pub(super) fn only_best(count: usize) -> String {
    format!(
        "Only the best {} are shown. More words or filters find the others.",
        grouped(to_u64(count))
    )
}

/// Returns the note that says how to find the facts of a kind that are not in a static copy.
pub(super) fn other_facts(kind: &str) -> String {
    format!("On the machine with the memory, graphiti facts --kind {kind} WORDS finds the others.")
}

pub(super) fn found(count: usize, has_more: bool) -> String {
    let results = counted(to_u64(count), "result", "results");
    if has_more { format!("{results}, and more") } else { results }
}

pub(super) fn range(from: u32, to: u32, total: u32) -> String {
    format!("{}–{} of {}", from + 1, to.min(total.max(from + 1)), grouped(total.into()))
}

pub(super) fn tests(passed: u32, failed: u32) -> String {
    match failed {
        0 => format!("{passed} passed"),
        failed => format!("{failed} failed, {passed} passed"),
    }
}

pub(super) fn replaced_word(asked: &str, used: &[String]) -> String {
    format!("No session contains “{asked}”; searched instead: {}", used.join(", "))
}

pub(super) fn dollars(usd: f64) -> String {
    if usd == 0.0 { "–".to_owned() } else { format!("${usd:.2}") }
}

/// Formats a number with groups of three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a size in bytes, and its limit if there is one.
pub(super) fn size_and_limit(bytes: u64, limit: u64) -> String {
    let size = |bytes: u64| match bytes as f64 / 1e6 {
        megabytes if megabytes < 1_000.0 => format!("{megabytes:.1} MB"),
        megabytes => format!("{:.1} GB", megabytes / 1_000.0),
    };
    if limit == 0 { size(bytes) } else { format!("{} of {}", size(bytes), size(limit)) }
}

pub(super) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => counted(seconds / 86_400, "day", "days"),
    }
}

/// Formats how long ago `at` was: from yesterday on, in calendar days.
pub(super) fn ago(at: &Zoned, now: &Zoned) -> String {
    let seconds = now.timestamp().as_second() - at.timestamp().as_second();
    match (seconds, (now.date() - at.date()).get_days()) {
        (..60, _) => "just now".to_owned(),
        (60..3_600, _) => format!("{} min ago", seconds / 60),
        (_, 0) => format!("{} h ago", seconds / 3_600),
        (_, 1) => "yesterday".to_owned(),
        (_, days) => format!("{days} days ago"),
    }
}

pub(super) fn month(number: i8) -> &'static str {
    #[rustfmt::skip]
    const MONTHS: [&str; 12] = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ];
    let index = usize::try_from(number - 1).unwrap_or(0);
    MONTHS.get(index).copied().unwrap_or_default()
}

pub(super) fn role(name: &str) -> &str {
    match name {
        "user" => "You",
        "assistant" => "Agent",
        "tool" => "Tool",
        "recap" => "Recap",
        other => other,
    }
}

pub(super) fn outcome(name: &str) -> &str {
    match name {
        "completed" => "completed",
        "blocked" => "blocked",
        "in_progress" => "in progress",
        "abandoned" => "abandoned",
        "none" => "no summary yet",
        other => other,
    }
}

pub(super) fn state(name: &str) -> &str {
    match name {
        "active" => "active now",
        "inactive" => "paused",
        "indexing" => "being summarized",
        "indexed" => "summarized",
        "failed" => "summary failed",
        "unindexed" => "no summary yet",
        other => other,
    }
}

pub(super) fn certainty(name: &str) -> &str {
    match name {
        "verified" => "verified",
        "refuted" => "refuted",
        other => other,
    }
}

/// Returns the name of a kind of fact.
pub(super) fn relation(name: &str) -> String {
    name.to_lowercase().replace('_', " ")
}

/// Returns the name of a kind of node.
pub(super) fn entity(name: &str) -> &str {
    match name {
        "PullRequest" => "Pull request",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_formatted() {
        assert_eq!(messages(1), "1 message");
        assert_eq!(messages(12_345), "12,345 messages");
        let now: Zoned = "2026-03-20T12:00:00[UTC]".parse().unwrap();
        for (at, expected) in [
            ("2026-03-20T12:00:30[UTC]", "just now"),
            ("2026-03-20T11:48:00[UTC]", "12 min ago"),
            ("2026-03-20T09:58:00[UTC]", "2 h ago"),
            ("2026-03-19T23:00:00[UTC]", "yesterday"),
            ("2026-03-18T23:00:00[UTC]", "2 days ago"),
        ] {
            assert_eq!(ago(&at.parse().unwrap(), &now), expected, "{at}");
        }
        assert_eq!(range(150, 300, 210), "151–210 of 210");
        assert_eq!(size_and_limit(3_000_000, 2_000_000_000), "3.0 MB of 2.0 GB");
        assert_eq!(month(11), "November");
    }
}
