//! Quotes single items of lists.

use crate::{
    report::{Passage, Topic, is_phrase},
    summarize::from_evidence::{
        entries::{Entries, cut_at_clause, without_number},
        reported::quotable::{depends_on_previous, is_balanced, is_banner, is_part, names_numbers},
        request::wording::begins_as_order,
    },
    text::{one_line, pattern, sentences, without_full_stop},
};

/// Maximum length of an item: in characters for the item itself, in bytes with its nested items.
pub(crate) const NEST: usize = 440;
/// Maximum total length, in bytes, of the sentences of an item. A longer first sentence is kept,
/// too.
const ITEM: usize = 300;
/// Maximum number of items that are shortened so that all of them fit. Of a longer list, only the
/// first items are quoted.
const SHORTENED: usize = 10;
/// The lengths, in bytes, to which the items of a list are shortened, the longest first.
const LENGTHS: [usize; 8] = [300, 240, 200, 160, 130, 100, 80, 60];
/// Length, in bytes, of the separator of items.
const SEPARATOR: usize = 2;
/// Minimum length, in bytes, of a shortened item.
const LEAST: usize = 24;
/// Maximum length, in bytes, of the label of an item. A label is never cut off.
const LABEL: usize = 80;

/// Returns all items. If they do not fit into about `budget` bytes, shortens them to first
/// sentences or clauses: the starts of all items are more useful than a few whole items. `None` if
/// they still do not fit.
pub(crate) fn shortened_to_fit(items: &[String], budget: usize) -> Option<Vec<String>> {
    let whole = items.to_vec();
    let firsts = items.iter().map(|item| first_sentence(item).to_owned()).collect();
    let lengths = LENGTHS.into_iter().filter(|_| items.len() <= SHORTENED);
    let shorter = lengths.map(|length| {
        items.iter().map(|item| clauses(item, length).to_owned()).collect::<Vec<String>>()
    });
    let mut all = [whole, firsts].into_iter().chain(shorter);
    all.find(|items| size(items) <= budget + SEPARATOR)
}

/// Returns the first items that fit into about `budget` bytes, at least one, and the number of the
/// others.
pub(crate) fn first_that_fit(items: &[String], budget: usize) -> (Vec<String>, usize) {
    let mut fitting: Vec<String> = Vec::new();
    for item in items {
        if !fitting.is_empty() && size(&fitting) + item.len() > budget {
            break;
        }
        fitting.push(item.clone());
    }
    let left = items.len() - fitting.len();
    (fitting, left)
}

/// Returns the length, in bytes, of items with the separator after each.
fn size(items: &[String]) -> usize {
    items.iter().map(|item| item.len() + SEPARATOR).sum()
}

/// Returns the first sentence or clauses of an item, in at most `length` bytes; the whole item if
/// it fits or cannot be cut.
fn clauses(item: &str, length: usize) -> &str {
    let first = first_sentence(item);
    if item.len() <= length || first.len() <= length {
        return if item.len() <= length { item } else { first };
    }
    let label = item.find(": ").filter(|at| *at <= LABEL);
    let text = label.map_or(item, |at| &item[at + 2..]);
    // The main clause comes last, so the item cannot be cut.
    if pattern!(r"(?i)^(?:if|when|once|after|before|since|because|unless|although|while|for|in|on|with|as|to)\b").is_match(text) {
        return item;
    }
    let marks = pattern!(
        r"[;,] | [—–-] | \(|\. | (?:because|since|so that|which|where|while|until|unless|instead of|rather than|e\.g\.) "
    );
    let ends = marks.find_iter(item).map(|found| found.start());
    let is_whole = |end: &usize| {
        let start = &item[..*end];
        (LEAST..=length).contains(end)
            && label.is_none_or(|label| label + LEAST / 2 < *end)
            && is_balanced(start)
            && start.split(' ').count() >= 3
            // `Rows (old), Pages (new)` does not end after `Pages`.
            && start.rsplit([',', ';']).next().is_some_and(|last| last.split(' ').count() > 3)
    };
    ends.filter(is_whole).last().map_or(item, |end| &item[..end])
}

/// Returns the first sentence of an item without its full stop, or the whole item if that sentence
/// is only a label, is cut or is a question.
pub(crate) fn first_sentence(part: &str) -> &str {
    let first = sentences(part).first().copied().unwrap_or(part);
    let is_whole =
        first.split_whitespace().count() >= 5 && is_balanced(first) && !first.ends_with('?');
    if is_whole { without_full_stop(first) } else { part }
}

/// Whether an item begins with a pronoun that refers to the item before.
pub(crate) fn begins_with_pronoun(part: &str) -> bool {
    pattern!(r"^(?:It|This|That|These|Those|They) ").is_match(part)
}

/// Whether an item is an option, such as `C — Two pages`, or says what would follow from a possible
/// result, for example `**Present** → the reader works`.
pub(crate) fn is_case_of_plan(passage: &Passage) -> bool {
    passage.label.as_deref().is_some_and(|label| {
        passage.text.starts_with('→')
            || pattern!(
                r"(?i)\bwould\b|^if\b|^(?:option )?(?-i:[A-D]) [—–-] |^option (?-i:[A-D])\b"
            )
            .is_match(label)
    })
}

pub(crate) fn is_numbered(passage: &Passage) -> bool {
    passage.label.as_deref().is_some_and(|label| without_number(label) != label)
}

/// Whether an item is an instruction rather than a statement.
pub(crate) fn is_step(part: &str) -> bool {
    let after = part.split_once(": ").map_or("", |(_, after)| after);
    // `fix: Sort the rows` is the subject of a commit.
    let is_subject = pattern!(r"^[a-z]+(?:\([a-z0-9, /_-]+\))?!?: ").is_match(after);
    begins_as_order(part)
        || begins_as_order(after) && after.starts_with(char::is_lowercase) && !is_subject
        || is_phrase(Topic::Instruction, part)
}

/// Returns an item with its label, in whole sentences; `None` if the item cannot be quoted.
pub(crate) fn item_text(entries: &Entries<'_>, passage: &Passage) -> Option<String> {
    let text = entries.tidy_line(&passage.text);
    let mut kept: Vec<&str> = Vec::new();
    let mut broken = false;
    // The rest of `Same change as #2. Renamed the key` describes only a part of the change.
    if sentences(&text).first().is_some_and(|first| names_numbers(first)) {
        return None;
    }
    for sentence in sentences(&text) {
        // A sentence that depends on a skipped one is skipped, too.
        broken = !is_part(sentence) || broken && depends_on_previous(sentence);
        if !broken {
            kept.push(sentence);
        }
    }
    let label = passage.label.as_deref().map(one_line);
    let label = label.map(|label| entries.tidy_line(without_number(&label)));
    if kept.is_empty() && !text.is_empty() {
        return None;
    }
    while kept.len() > 1 && kept.iter().map(|one| one.len()).sum::<usize>() > ITEM {
        kept.pop();
    }
    let text = cut_at_clause(&kept.join(" "), NEST);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_do_not_fit_are_shortened_before_any_is_left_out() {
        let items = [
            "Reader: reads one row at a time, with the order of the file, and closes it at the end",
            "`w.rs`: writes the rows to a new file (the old one is renamed) because a crash may come",
            "If the file is gone, the list is empty",
        ];
        let items: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
        assert_eq!(shortened_to_fit(&items, 400), Some(items.clone()));
        let short = shortened_to_fit(&items, 180).unwrap();
        assert_eq!(
            short,
            [
                "Reader: reads one row at a time, with the order of the file",
                "`w.rs`: writes the rows to a new file (the old one is renamed)",
                "If the file is gone, the list is empty"
            ]
        );
        assert_eq!(shortened_to_fit(&items, 120), None);
        let (short, left) = first_that_fit(&items, 120);
        assert_eq!((short.len(), left), (1, 2));
    }
}
