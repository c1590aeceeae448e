//! Renders a page of a conversation: what was said, with calls of tools folded.

use graphiti_proto::{
    clean::is_unsafe_to_display,
    tools::{
        SessionRow,
        get_session::{GetSessionAnswer, MessageRow},
    },
};
use maud::{Markup, html};

use crate::view::{
    pages::parts::{address, clock_time, text, visible},
    texts::{self, T},
};

/// Maximum number of characters of a message on the page; the rest is on a page of its own.
const SHOWN: usize = 6_000;
/// The same on a page with many long messages.
const SHOWN_OF_MANY: usize = 1_000;
/// Size, in bytes, of the messages on a page, above which [`SHOWN_OF_MANY`] applies.
const MANY: usize = 3 << 19;
/// Maximum length, in characters, of the first line of a tool's call.
const HEADING: usize = 160;

pub(super) struct ConversationPage<'s> {
    pub(super) session: &'s SessionRow,
    pub(super) source: u32,
    /// The number of the first message.
    pub(super) first: u32,
    /// The message to show.
    pub(super) at: Option<u32>,
    /// Maximum number of messages on a page.
    pub(super) page: u32,
    pub(super) answer: &'s GetSessionAnswer,
    /// Maximum number of characters of a message that are shown.
    pub(super) shown: usize,
}

/// Returns the maximum number of characters of a message that are shown, so that a page stays below
/// a few megabytes.
pub(super) fn shown(messages: &[MessageRow]) -> usize {
    let all = messages.iter().flat_map(|message| message.text.chars().take(SHOWN));
    let bytes: usize = all.map(escaped_length).sum();
    if bytes > MANY { SHOWN_OF_MANY } else { SHOWN }
}

/// Returns the size, in bytes, of a character in a page.
fn escaped_length(c: char) -> usize {
    match c {
        '<' | '>' | '&' | '"' => "&quot;".len(),
        c if is_unsafe_to_display(c) && c != '\n' => "‹U+0000›".len(),
        c => c.len_utf8(),
    }
}

impl ConversationPage<'_> {
    pub(super) fn markup(&self) -> Markup {
        let messages = &self.answer.messages;
        // Consecutive calls of tools are one group.
        let groups = messages.chunk_by(|one, other| one.role == "tool" && other.role == "tool");
        html! {
            (self.pager())
            @if messages.is_empty() { p .empty { (T.no_messages) } }
            ol .messages {
                @for group in groups {
                    @if group[0].role == "tool" { (self.tools(group)) } @else { (self.message(&group[0])) }
                }
            }
            (self.pager())
        }
    }

    fn pager(&self) -> Markup {
        let link = |at: u32| {
            let source = if self.source == 0 { String::new() } else { self.source.to_string() };
            address(
                "session",
                &[("id", &self.session.session_id), ("source", &source), ("at", &at.to_string())],
            )
        };
        if self.first == 0 && self.answer.next.is_none() {
            return html! {};
        }
        html! {
            p .pager {
                @if self.first > 0 { a rel="prev" href=(link(self.first.saturating_sub(self.page))) { "← " (T.earlier) } }
                span { (texts::range(self.first, self.first + self.page, self.session.message_count)) }
                @if let Some(next) = self.answer.next { a rel="next" href=(link(next)) { (T.later) " →" } }
            }
        }
    }

    fn id(&self, message: &MessageRow) -> String {
        format!("m{}-{}", self.source, message.seq)
    }

    fn is_here(&self, message: &MessageRow) -> bool {
        self.at == Some(message.seq)
    }

    fn message(&self, message: &MessageRow) -> Markup {
        html! {
            li .message .{ "role-" (message.role) } .here[self.is_here(message)] #(self.id(message)) {
                @if self.is_here(message) { a #here {} }
                p .message-head {
                    span .role { (texts::role(&message.role)) }
                    " " a .anchor href={ "#" (self.id(message)) } title={ (T.line) " " (message.line) } { (clock_time(&message.at)) }
                }
                div .message-text dir="auto" { (self.beginning(&message.text)) (self.rest(message)) }
            }
        }
    }

    fn beginning<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        let end = text.char_indices().nth(self.shown).map_or(text.len(), |(end, _)| end);
        visible(&text[..end])
    }

    /// Renders a link to the whole message, if the page shows only its beginning.
    fn rest(&self, message: &MessageRow) -> Markup {
        let length = message.text.chars().count();
        if length <= self.shown {
            return html! {};
        }
        let numbers = [self.source.to_string(), message.seq.to_string()];
        let whole = [
            ("id", self.session.session_id.as_str()),
            ("source", &numbers[0]),
            ("seq", &numbers[1]),
        ];
        html! { " … " a href=(address("message", &whole)) { (T.whole_message) " (" (texts::characters(length)) ")" } }
    }

    fn tools(&self, group: &[MessageRow]) -> Markup {
        let is_open = group.iter().any(|message| self.is_here(message));
        let mut names: Vec<&str> =
            group.iter().filter_map(|message| message.tool.as_deref()).collect();
        names.dedup();
        let id = format!("t{}-{}", self.source, group[0].seq);
        html! {
            li .message .role-tool {
                details #(id) open[is_open] {
                    summary { span .role { (texts::tool_calls(group.len())) } " " span .tools { (text(&shortened(&names.join(", ")))) } }
                    ol .calls { @for message in group { (self.call(message)) } }
                }
            }
        }
    }

    fn call(&self, message: &MessageRow) -> Markup {
        let (heading, body) = message.text.split_once('\n').unwrap_or((&message.text, ""));
        let is_diff = heading.contains(" (+") && heading.contains(')');
        let is_long = heading.chars().count() > HEADING;
        let body = if is_long { message.text.as_str() } else { body };
        html! {
            li .call .here[self.is_here(message)] #(self.id(message)) {
                @if self.is_here(message) { a #here {} }
                @if body.is_empty() { p .call-line { (text(heading)) } }
                @else {
                    details open[self.is_here(message)] #{ "d" (self.source) "-" (message.seq) } {
                        summary .call-line { (text(&shortened(heading))) }
                        pre dir="auto" tabindex="0" aria-label=(T.message) {
                            @if is_diff { (diff(&self.beginning(body))) } @else { (self.beginning(body)) }
                        }
                        (self.rest(message))
                    }
                }
            }
        }
    }
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(HEADING) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Renders the lines of a change. Removed and added lines look different even without colours.
fn diff(lines: &str) -> Markup {
    html! {
        @for line in lines.lines() {
            @match line.as_bytes().first() {
                Some(b'+') => { ins { (line) } }
                Some(b'-') => { del { (line) } }
                _ => { span { (line) } }
            }
            "\n"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_shows_its_lines_as_text() {
        let shown = diff("-<b>\n+new\n same").into_string();
        assert_eq!(shown, "<del>-&lt;b&gt;</del>\n<ins>+new</ins>\n<span> same</span>\n");
    }

    #[test]
    fn a_page_of_many_long_messages_shows_less_of_each() {
        let messages = |count, text: &str| -> Vec<MessageRow> {
            vec![MessageRow { text: text.to_owned(), ..MessageRow::default() }; count]
        };
        assert_eq!(shown(&messages(150, "short")), SHOWN);
        assert_eq!(shown(&messages(1, &"x".repeat(5 << 20))), SHOWN, "only the beginning counts");
        assert_eq!(shown(&messages(150, &"x".repeat(SHOWN))), SHOWN);
        assert_eq!(shown(&messages(150, &"\"".repeat(SHOWN))), SHOWN_OF_MANY);
        assert_eq!(shown(&messages(150, &"\u{1b}".repeat(SHOWN))), SHOWN_OF_MANY);
    }

    #[test]
    fn a_long_line_is_cut_at_a_character() {
        let line = "ü".repeat(HEADING + 1);
        assert_eq!(shortened(&line).chars().count(), HEADING + 1);
        assert_eq!(shortened("short"), "short");
    }
}
