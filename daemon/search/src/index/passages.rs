//! Splits messages and episodes into the passages that are indexed.

use crate::{
    index::{
        attributes,
        change::{Card, EpisodeField},
        work,
    },
    model::{Message, Timestamp},
    passage::PassageKind,
};

/// The source number of an episode's passages. Passages of messages have the number of their file.
pub(crate) const EPISODE_SOURCE: u32 = u32::MAX;

/// The target size of a passage in bytes: about 250 words, usually one subject. A message that is
/// more than a quarter longer becomes several passages.
const PASSAGE_BYTES: usize = 1_800;

/// Maximum number of bytes of a message that are indexed. Of a longer message, the start (three
/// quarters of this number) and the end (one quarter) are indexed.
const MESSAGE_BYTES: usize = 128 * 1024;

/// One indexed text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PassageRow {
    pub(crate) session: u64,
    pub(crate) source: u32,
    /// The message's number in its source, or the field's number in an episode.
    pub(crate) seq: u32,
    /// The number of the passage within the message or field.
    pub(crate) part: u32,
    pub(crate) kind: PassageKind,
    /// Time of the message (if unknown, the start of its session), or for an episode the end of its
    /// session, in seconds since the epoch.
    pub(crate) at: i64,
    pub(crate) text: String,
    pub(crate) files: Vec<String>,
    pub(crate) tool: Option<String>,
    pub(crate) branches: Vec<String>,
    /// The changed files, commits and tickets of the session that the passage names, in the form in
    /// which a query looks them up, and the mark of a call that edited a file; see [`work`].
    pub(crate) work: Vec<String>,
}

pub(crate) fn of_message(card: &Card, message: Message) -> Vec<PassageRow> {
    let at = message.at.or(card.started_at).unwrap_or(card.ended_at);
    let work = message.edits_files().then(|| work::EDIT.to_owned()).into_iter().collect();
    let mut text = message.text;
    for file in &message.files {
        if !text.contains(file.as_str()) {
            text.push('\n');
            text.push_str(file);
        }
    }
    let whole = PassageRow {
        session: card.session.0,
        source: message.origin.source,
        seq: message.seq,
        part: 0,
        kind: PassageKind::of(message.role),
        at: seconds(at),
        text: String::new(),
        files: message.files,
        tool: message.tool,
        branches: message.branch.into_iter().collect(),
        work,
    };
    parts(&text)
        .into_iter()
        .zip(0..)
        .map(|(text, part)| PassageRow { part, text, ..whole.clone() })
        .collect()
}

pub(crate) fn of_episode(
    card: &Card,
    fields: Vec<EpisodeField>,
    branches: &[String],
) -> Vec<PassageRow> {
    let mut passages = Vec::new();
    for (seq, field) in (0..).zip(fields) {
        let files = match field.kind {
            PassageKind::File => field.text.lines().map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let work = match field.kind {
            PassageKind::File => {
                files.iter().flat_map(|path| attributes::ends_of_path(path)).collect()
            }
            PassageKind::Title => branches.iter().flat_map(|name| work::of_branch(name)).collect(),
            PassageKind::Body => work::of_summary(&field.text),
            _ => Vec::new(),
        };
        let whole = PassageRow {
            session: card.session.0,
            source: EPISODE_SOURCE,
            seq,
            part: 0,
            kind: field.kind,
            at: seconds(card.ended_at),
            text: String::new(),
            files,
            tool: None,
            branches: branches.to_vec(),
            work: Vec::new(),
        };
        let parts = parts(&field.text).into_iter().zip(0..);
        let first = passages.len();
        passages.extend(parts.map(|(text, part)| PassageRow { part, text, ..whole.clone() }));
        passages[first].work = work;
    }
    passages
}

/// Returns whole seconds since the epoch.
pub(crate) fn seconds(at: Timestamp) -> i64 {
    at.micros().div_euclid(1_000_000)
}

/// Splits `text`, if possible at the end of a paragraph, a line or a word. Omits the middle of a
/// text that is longer than [`MESSAGE_BYTES`]. The result is never empty, so that a message without
/// text can be found by its files and its tool.
fn parts(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let tail = text.ceil_char_boundary(text.len().saturating_sub(MESSAGE_BYTES / 4));
    let head = text.floor_char_boundary(MESSAGE_BYTES * 3 / 4).min(tail);
    let pieces =
        if text.len() > MESSAGE_BYTES { vec![&text[..head], &text[tail..]] } else { vec![text] };
    for piece in pieces {
        let mut rest = piece;
        while rest.len() > PASSAGE_BYTES + PASSAGE_BYTES / 4 {
            let (part, after) = rest.split_at(good_cut(rest));
            parts.push(part.to_owned());
            rest = after;
        }
        parts.push(rest.to_owned());
    }
    parts
}

/// Returns the best position to split `text`, in the second half of its first [`PASSAGE_BYTES`]
/// bytes.
fn good_cut(text: &str) -> usize {
    let least = text.ceil_char_boundary(PASSAGE_BYTES / 2);
    let most = text.floor_char_boundary(PASSAGE_BYTES);
    let window = &text[least..most];
    let after = |mark: &str| window.rfind(mark).map(|at| least + at + mark.len());
    after("\n\n").or_else(|| after("\n")).or_else(|| after(" ")).unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_is_one_passage_even_when_empty() {
        assert_eq!(parts("hello"), ["hello"]);
        assert_eq!(parts(""), [""]);
    }

    #[test]
    fn a_long_text_is_cut_at_its_paragraphs_and_nothing_is_lost() {
        let paragraph = "word ".repeat(200) + "\n\n";
        let text = paragraph.repeat(6);
        let parts = parts(&text);
        assert!(parts.len() >= 4);
        assert!(parts.iter().all(|part| part.len() <= PASSAGE_BYTES * 5 / 4));
        assert!(parts[..parts.len() - 1].iter().all(|part| part.ends_with("\n\n")));
        assert_eq!(parts.concat(), text);
    }

    #[test]
    fn a_text_without_any_space_is_cut_between_characters() {
        let text = "é".repeat(5_000);
        assert_eq!(parts(&text).concat(), text);
    }

    #[test]
    fn the_start_and_the_end_of_a_huge_text_are_kept() {
        let text = format!("first {} last", "x ".repeat(MESSAGE_BYTES));
        let parts = parts(&text);
        assert!(parts[0].starts_with("first"));
        assert!(parts[parts.len() - 1].ends_with("last"));
        assert!(parts.concat().len() <= MESSAGE_BYTES + 8);
    }
}
