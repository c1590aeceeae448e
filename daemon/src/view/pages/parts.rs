//! Renders elements that several pages use.

use std::{borrow::Cow, fmt::Write as _};

use graphiti_proto::{
    clean::is_unsafe_to_display,
    tools::{SessionRow, graph::SourceLine},
};
use maud::{Markup, html};

use crate::{
    clock,
    model::Timestamp,
    view::{
        dates::{day_and_time, day_of, time_of_day},
        texts::{self, T},
    },
};

/// Replaces control characters in external text, except line feeds and tabs, by visible text.
/// Otherwise, for example, a character that changes the writing direction could make the text look
/// like another text.
pub(in crate::view) fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| is_unsafe_to_display(c) && !matches!(c, '\n' | '\t');
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            c if is_hidden(c) => {
                // Writing to a string cannot fail.
                let _ = write!(visible, "‹U+{:04X}›", u32::from(c));
            }
            c => visible.push(c),
        }
    }
    Cow::Owned(visible)
}

/// Renders external text inside a sentence. The writing direction of `text` does not affect the
/// rest of the sentence.
pub(in crate::view) fn text(text: &str) -> Markup {
    html! { bdi { (visible(text)) } }
}

/// Renders external text inside a sentence, with the parts between backticks as code, and the parts
/// between two marks `**` as important.
pub(in crate::view) fn prose(given: &str) -> Markup {
    if given.matches('`').count() % 2 == 1 {
        return text(given);
    }
    html! {
        bdi {
            @for (number, part) in given.split('`').enumerate() {
                @if number % 2 == 1 { code { (visible(part)) } } @else { (emphasised(part)) }
            }
        }
    }
}

fn emphasised(text: &str) -> Markup {
    let is_marked = text.matches("**").count().is_multiple_of(2);
    let parts = text.split("**").enumerate();
    html! {
        @if is_marked {
            @for (number, part) in parts {
                @if number % 2 == 1 { strong { (visible(part)) } } @else { (visible(part)) }
            }
        } @else { (visible(text)) }
    }
}

/// Renders external text with its line breaks.
pub(in crate::view) fn lines(text: &str) -> Markup {
    html! { span .lines dir="auto" { (visible(text)) } }
}

pub(in crate::view) fn percent_encoded(value: &str) -> String {
    let mut percent_encoded = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                percent_encoded.push(char::from(byte));
            }
            byte => {
                // Writing to a string cannot fail.
                let _ = write!(percent_encoded, "%{byte:02X}");
            }
        }
    }
    percent_encoded
}

/// Returns an address with the parameters that are not empty.
pub(in crate::view) fn address(page: &str, parameters: &[(&str, &str)]) -> String {
    let given = parameters.iter().filter(|(_, value)| !value.is_empty());
    let pairs: Vec<String> =
        given.map(|(name, value)| format!("{name}={}", percent_encoded(value))).collect();
    match pairs.as_slice() {
        [] => page.to_owned(),
        pairs => format!("{page}?{}", pairs.join("&")),
    }
}

/// Returns the address of a message in its conversation.
pub(in crate::view) fn message_address(session: &str, source: u32, seq: u32) -> String {
    let source_text = if source == 0 { String::new() } else { source.to_string() };
    let at = seq.to_string();
    let page = address("session", &[("id", session), ("source", &source_text), ("at", &at)]);
    format!("{page}#m{source}-{seq}")
}

/// Renders a day and time; a tooltip shows how long ago it was.
pub(in crate::view) fn moment(rfc3339: &str) -> Markup {
    let Some(at) = Timestamp::parse(rfc3339) else { return html! {} };
    html! { time datetime=(rfc3339) title=(texts::ago(&clock::local(at), &clock::zoned())) { (day_and_time(rfc3339)) } }
}

/// Renders how long ago a time was; a tooltip shows the day and time.
pub(in crate::view) fn ago(rfc3339: &str) -> Markup {
    let Some(at) = Timestamp::parse(rfc3339) else { return html! {} };
    html! { time datetime=(rfc3339) title=(day_and_time(rfc3339)) { (texts::ago(&clock::local(at), &clock::zoned())) } }
}

/// Returns the name of a project: the last part of its directory.
pub(in crate::view) fn project_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(path)
}

/// Renders the outcome of a session, or its state if the session has no outcome or has not ended.
pub(in crate::view) fn outcome(session: &SessionRow) -> Markup {
    let is_live = matches!(session.state.as_str(), "active" | "inactive");
    match &session.episode {
        Some(episode) if !is_live => outcome_badge(&episode.outcome),
        _ => {
            html! { span class={ "badge state-" (session.state) } { (texts::state(&session.state)) } }
        }
    }
}

pub(in crate::view) fn outcome_badge(outcome: &str) -> Markup {
    html! { span class={ "badge outcome-" (outcome) } { (texts::outcome(outcome)) } }
}

/// Returns the title of a session, or a placeholder.
pub(in crate::view) fn title(session: &SessionRow) -> &str {
    if session.title.trim().is_empty() { T.untitled } else { &session.title }
}

/// Renders the details of a session under its title.
pub(in crate::view) fn session_meta(session: &SessionRow) -> Markup {
    html! {
        p .meta {
            (outcome(session))
            @if !session.project.is_empty() {
                " " a href=(address("project", &[("dir", &session.project)])) title=(visible(&session.project)) { (text(project_name(&session.project))) }
            }
            " " span { (text(&session.agent)) }
            " " (ago(&session.last_activity))
            " " span { (texts::messages(session.message_count)) }
            @for (activity, _) in session.episode.iter().flat_map(|episode| &episode.activities).take(2) {
                " " span .activity { (text(activity)) }
            }
        }
    }
}

pub(in crate::view) fn session_row(session: &SessionRow) -> Markup {
    html! {
        li .row #{ "s-" (session.session_id) } {
            a .row-title href=(address("session", &[("id", &session.session_id)])) { (text(title(session))) }
            (session_meta(session))
        }
    }
}

/// Renders links to the sources of a statement: lines of transcripts.
pub(in crate::view) fn source_links(sources: &[SourceLine]) -> Markup {
    const MAX_LINKS: usize = 3;
    html! {
        @for source in sources.iter().take(MAX_LINKS) {
            @let name = if source.short_id.is_empty() { &source.session_id } else { &source.short_id };
            " "
            @if let Some(message) = source.message {
                a .source href=(message_address(&source.session_id, source.source, message)) { (text(name)) ":" (source.line) }
            } @else {
                a .source href=(address("session", &[("id", &source.session_id)])) { (text(name)) ":" (source.line) }
            }
        }
        @if sources.len() > MAX_LINKS { " " (texts::more(sources.len() - MAX_LINKS)) }
    }
}

/// Returns the heading of a day in a list.
pub(in crate::view) fn day_heading(at: &str) -> String {
    Timestamp::parse(at).map(|at| day_of(at).to_string()).unwrap_or_default()
}

/// Returns the time of day of an RFC 3339 text.
pub(in crate::view) fn clock_time(rfc3339: &str) -> String {
    Timestamp::parse(rfc3339).map(time_of_day).unwrap_or_default()
}

/// Renders a form with one button that changes something.
pub(in crate::view) fn action(address: &str, label: &str, class: &str) -> Markup {
    html! {
        form .action method="post" action=(address) { button class=(class) { (label) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn external_text_cannot_reverse_or_hide_other_text() {
        assert_eq!(visible("a\nb\tc"), "a\nb\tc");
        assert_eq!(visible("a\r\nb"), "a\nb");
        assert_eq!(visible("pay \u{202e}001\u{200b}"), "pay ‹U+202E›001‹U+200B›");
        assert_eq!(visible("\u{1b}[31m"), "‹U+001B›[31m");
        let escaped = text("<script>alert(1)</script>").into_string();
        assert_eq!(escaped, "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi>");
    }

    #[test]
    fn parts_between_backticks_are_code_and_are_escaped() {
        let shown = prose("`<b>` is set").into_string();
        assert_eq!(shown, "<bdi><code>&lt;b&gt;</code> is set</bdi>");
        assert_eq!(prose("it`s").into_string(), "<bdi>it`s</bdi>");
        let shown = prose("**Decision:** <i> `a**b`").into_string();
        assert_eq!(shown, "<bdi><strong>Decision:</strong> &lt;i&gt; <code>a**b</code></bdi>");
        assert_eq!(prose("2 ** 3").into_string(), "<bdi>2 ** 3</bdi>");
    }

    #[test]
    fn any_value_can_be_in_an_address() {
        let found = address("facts", &[("q", "a&b=c \"d\" ü"), ("project", "")]);
        assert_eq!(found, "facts?q=a%26b%3Dc%20%22d%22%20%C3%BC");
        assert_eq!(address("facts", &[]), "facts");
        assert_eq!(message_address("x", 0, 7), "session?id=x&at=7#m0-7");
    }
}
