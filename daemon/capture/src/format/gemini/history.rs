//! Reads `$set.messages`, in which the program repeats the history when it starts, resumes or
//! compacts a session. Only new content is emitted.

use std::borrow::Cow;

use crate::{
    format::{
        Memory, RecordVerdict,
        emitter::Emitter,
        gemini::{message, seen},
        genai::{
            text_of,
            typed::{ACKNOWLEDGEMENT, skipped},
        },
        json::{self, Object},
    },
    model::transcript::{Entry, Item, RecapKind},
};

pub(super) fn read(
    raw: &str,
    memory: &mut Memory,
    emit: &mut dyn FnMut(Entry<'_>),
) -> RecordVerdict {
    let messages = json::objects(raw);
    let mut verdict = skipped("$set.messages");
    let mut rest = messages.as_slice();
    while let [first, others @ ..] = rest {
        let read = match others {
            [next, following @ ..] if is_acknowledgement(next) => {
                rest = following;
                compaction(first, next, memory, emit)
            }
            _ => {
                rest = others;
                message::read_again(first, memory, emit)
            }
        };
        if read == RecordVerdict::Read {
            verdict = read;
        }
    }
    verdict
}

fn is_acknowledgement(message: &Object<'_>) -> bool {
    message.raw("type") == Some("\"gemini\"")
        && text_of(message.raw("content").unwrap_or_default()).starts_with(ACKNOWLEDGEMENT)
}

/// Emits the summary of a compacted history. Marks the answer that the program adds after the
/// summary as read.
fn compaction(
    summary: &Object<'_>,
    answer: &Object<'_>,
    memory: &mut Memory,
    emit: &mut dyn FnMut(Entry<'_>),
) -> RecordVerdict {
    message::mark(answer, memory);
    let text = text_of(summary.raw("content").unwrap_or_default());
    if !message::mark(summary, memory) || !seen(memory).insert("summary", &text) {
        return skipped("$set.messages");
    }
    let (at, uuid) = (message::time(summary), message::uuid(summary));
    let mut out = Emitter::new(emit);
    (out.at, out.uuid) = (at, uuid);
    out.item(Item::Boundary);
    if !text.trim().is_empty() {
        let (kind, text) = (RecapKind::Compaction, Cow::Borrowed(text.trim()));
        out.item(Item::Recap { kind, text });
    }
    RecordVerdict::Read
}
