//! Quotes single items of lists.

use crate::summarize::{
    from_evidence::{
        entries::{Entries, cut_at_clause, without_number},
        quotable::{is_balanced, is_banner, is_part, leans_back},
        wording::begins_as_order,
    },
    report::{Passage, Topic, is_phrase},
    text::{one_line, pattern, sentences, without_full_stop},
};

/// Maximum length, in bytes, of an item with those nested in it.
pub(super) const NEST: usize = 440;
/// Maximum length, in bytes, of the sentences of an item, except a longer first sentence.
const ITEM: usize = 300;

/// Returns the first sentence of an item, if it is not only a label, without its full stop.
pub(super) fn first_sentence(part: &str) -> &str {
    let first = sentences(part).first().copied().unwrap_or(part);
    let is_whole =
        first.split_whitespace().count() >= 5 && is_balanced(first) && !first.ends_with('?');
    if is_whole { without_full_stop(first) } else { part }
}

/// Whether an item begins with a pronoun for something in the item before it.
pub(super) fn begins_with_pronoun(part: &str) -> bool {
    pattern!(r"^(?:It|This|That|These|Those|They) ").is_match(part)
}

pub(super) fn is_numbered(passage: &Passage) -> bool {
    passage.label.as_deref().is_some_and(|label| without_number(label) != label)
}

/// Whether an item is an instruction rather than a statement.
pub(super) fn is_step(part: &str) -> bool {
    let after = part.split_once(": ").map_or("", |(_, after)| after);
    // `fix: Sort the rows` is the subject of a commit.
    let is_subject = pattern!(r"^[a-z]+(?:\([a-z0-9, /_-]+\))?!?: ").is_match(after);
    begins_as_order(part)
        || begins_as_order(after) && after.starts_with(char::is_lowercase) && !is_subject
        || is_phrase(Topic::Instruction, part)
}

/// Returns an item with its label, in whole sentences; `None` if it cannot be quoted.
pub(super) fn item_text(entries: &Entries<'_>, passage: &Passage) -> Option<String> {
    let text = entries.tidy_line(&passage.text);
    let mut told: Vec<&str> = Vec::new();
    let mut broken = false;
    for sentence in sentences(&text) {
        // A sentence that depends on a skipped one is skipped, too.
        broken = !is_part(sentence) || broken && leans_back(sentence);
        if !broken {
            told.push(sentence);
        }
    }
    let label = passage.label.as_deref().map(one_line);
    let label = label.map(|label| entries.tidy_line(without_number(&label)));
    if told.is_empty() && !text.is_empty() {
        return None;
    }
    while told.len() > 1 && told.iter().map(|one| one.len()).sum::<usize>() > ITEM {
        told.pop();
    }
    let text = cut_at_clause(&told.join(" "), NEST);
    // `Added a lock 2. Removed the cache 3. …`: the next items of the source follow without a line
    // end.
    let text = pattern!(r"([^.;:,]) (?:[2-9]|1\d)[.)] ([A-Z`])").replace_all(&text, "$1; $2");
    let text = without_full_stop(&text);
    let line = match label {
        Some(label) if label.ends_with('?') => return None,
        Some(label) if text.is_empty() => label,
        Some(label) => format!("{label}: {text}"),
        None => text.to_owned(),
    };
    let says = line.chars().filter(|c| c.is_alphanumeric()).count() >= 4 && !is_banner(&line);
    (says && is_balanced(&line)).then_some(line)
}
