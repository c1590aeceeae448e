//! Renders a page of a conversation. Tool calls are collapsed.

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

/// Maximum number of characters of a message on the page. A separate page shows the whole message.
const MAX_CHARS: usize = 6_000;
/// Maximum number of characters of a message on a page with many long messages.
const MAX_CHARS_OF_MANY: usize = 1_000;
/// If the messages on a page are larger than this, in bytes, [`MAX_CHARS_OF_MANY`] applies.
const MANY_BYTES: usize = 3 << 19;
/// Maximum number of characters of the first line of a tool call.
const MAX_HEADING_CHARS: usize = 160;

pub(super) struct ConversationPage<'s> {
    pub(super) session: &'s SessionRow,
    pub(super) source: u32,
    /// The number of the first message.
    pub(super) first: u32,
    /// The number of the message to mark.
    pub(super) at: Option<u32>,
    /// Maximum number of messages on a page.
    pub(super) page: u32,
    /// Number of messages in the file; the session's own count does not apply to sub-agents' files.
    pub(super) total: u32,
    pub(super) answer: &'s GetSessionAnswer,
    /// Maximum number of characters of a message that are shown.
    pub(super) shown_chars: usize,
}

/// Returns how many characters of a message are shown, so that the page has at most a few
/// megabytes.
pub(super) fn shown_chars(messages: &[MessageRow]) -> usize {
    let all = messages.iter().flat_map(|message| message.text.chars().take(MAX_CHARS));
    let bytes: usize = all.map(escaped_length).sum();
    if bytes > MANY_BYTES { MAX_CHARS_OF_MANY } else { MAX_CHARS }
}

/// Returns the maximum size, in bytes, of a character in the HTML of a page.
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
        // Consecutive tool calls are one group.
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
                span { (texts::range(self.first, self.first + self.page, self.total)) }
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
        let end = text.char_indices().nth(self.shown_chars).map_or(text.len(), |(end, _)| end);
        visible(&text[..end])
    }

    /// Renders a link to the whole message if the page shows only its beginning.
    fn rest(&self, message: &MessageRow) -> Markup {
        let length = message.text.chars().count();
        if length <= self.shown_chars {
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
                    summary { span .role { (texts::tool_messages(group.len())) } " " span .tools { (text(&shortened(&names.join(", ")))) } }
                    ol .calls { @for message in group { (self.call(message)) } }
                }
            }
        }
    }

    fn call(&self, message: &MessageRow) -> Markup {
        let (heading, body) = message.text.split_once('\n').unwrap_or((&message.text, ""));
        let is_diff = heading.contains(" (+") && heading.contains(')');
        let is_long = heading.chars().count() > MAX_HEADING_CHARS;
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
    match line.char_indices().nth(MAX_HEADING_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Renders the lines of a change. Removed and added lines can be distinguished without colours.
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
    fn the_lines_of_a_change_are_escaped() {
        let shown = diff("-<b>\n+new\n same").into_string();
        assert_eq!(shown, "<del>-&lt;b&gt;</del>\n<ins>+new</ins>\n<span> same</span>\n");
    }

    #[test]
    fn on_a_page_of_many_long_messages_each_is_cut_earlier() {
        let messages = |count, text: &str| -> Vec<MessageRow> {
            vec![MessageRow { text: text.to_owned(), ..MessageRow::default() }; count]
        };
        assert_eq!(shown_chars(&messages(150, "short")), MAX_CHARS);
        assert_eq!(
            shown_chars(&messages(1, &"x".repeat(5 << 20))),
            MAX_CHARS,
            "only the beginning counts"
        );
        assert_eq!(shown_chars(&messages(150, &"x".repeat(MAX_CHARS))), MAX_CHARS);
        assert_eq!(shown_chars(&messages(150, &"\"".repeat(MAX_CHARS))), MAX_CHARS_OF_MANY);
        assert_eq!(shown_chars(&messages(150, &"\u{1b}".repeat(MAX_CHARS))), MAX_CHARS_OF_MANY);
    }

    #[test]
    fn the_pager_shows_the_number_of_messages_of_the_file() {
        let session = SessionRow { message_count: 12, ..SessionRow::default() };
        let answer = GetSessionAnswer { next: Some(150), ..GetSessionAnswer::default() };
        let page = ConversationPage {
            session: &session,
            source: 1,
            first: 0,
            at: None,
            page: 150,
            total: 1_180,
            answer: &answer,
            shown_chars: MAX_CHARS,
        };
        let pager = page.pager().into_string();
        assert!(pager.contains("<span>1–150 of 1,180</span>"), "{pager}");
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let line = "ü".repeat(MAX_HEADING_CHARS + 1);
        assert_eq!(shortened(&line).chars().count(), MAX_HEADING_CHARS + 1);
        assert_eq!(shortened("short"), "short");
    }
}
