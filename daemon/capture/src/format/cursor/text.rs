//! Parses the texts of messages, in which tags separate the user's prompts from texts of the
//! program.

use std::borrow::Cow;

use crate::model::time::Timestamp;

/// Returns the user's prompts: the contents of `<user_query>`, or a text that does not start with a
/// tag.
pub(super) fn prompts(text: &str) -> Vec<&str> {
    let mut prompts = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("<user_query>") {
        let (query, after) = after.split_once("</user_query>").unwrap_or((after, ""));
        prompts.push(query.trim());
        rest = after;
    }
    if prompts.is_empty() && !text.trim_start().starts_with('<') {
        prompts.push(text.trim());
    }
    prompts.retain(|prompt| !prompt.is_empty());
    prompts
}

/// Removes the placeholder that Cursor writes for the agent's reasoning.
pub(super) fn without_redacted(text: &str) -> Cow<'_, str> {
    const MARK: &str = "[REDACTED]";
    if text.contains(MARK) {
        Cow::Owned(text.replace(MARK, "").trim().to_owned())
    } else {
        Cow::Borrowed(text.trim())
    }
}

/// Reads the time in `<timestamp>`, such as `Friday, Sep 4, 2026, 2:21 AM (UTC+8)`.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    let (_, rest) = text.split_once("<timestamp>")?;
    let (stamp, _) = rest.split_once("</timestamp>")?;
    let (date, zone) = stamp.trim().strip_suffix(')')?.rsplit_once(" (UTC")?;
    let parts: Vec<&str> = date.split(", ").collect();
    let [.., month_and_day, year, time] = *parts.as_slice() else { return None };
    let (month, day) = month_and_day.split_once(' ')?;
    let month = MONTHS.iter().position(|name| month.starts_with(name))? + 1;
    let (time, half) = time.split_once(|c: char| c.is_whitespace())?;
    let (hour, minute) = time.split_once(':')?;
    let hour: u8 = hour.parse().ok().filter(|hour| (1..=12).contains(hour))?;
    let hour = hour % 12 + if half.eq_ignore_ascii_case("pm") { 12 } else { 0 };
    let day: u8 = day.parse().ok()?;
    let zone = offset(zone)?;
    Timestamp::parse(&format!("{year}-{month:02}-{day:02}T{hour:02}:{minute}:00{zone}"))
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Turns `+8` or `-3:30` into the form of RFC 3339.
fn offset(zone: &str) -> Option<String> {
    if zone.is_empty() {
        return Some("+00:00".to_owned());
    }
    let sign = zone.chars().next().filter(|sign| "+-".contains(*sign))?;
    let (hours, minutes) = zone[1..].split_once(':').unwrap_or((&zone[1..], "00"));
    let hours: u8 = hours.parse().ok()?;
    Some(format!("{sign}{hours:02}:{minutes}"))
}
