//! Recognises words that look like a date but are a part of an identifier, a path or an address:
//! `last_month_total`, `monday.com`, `src/today/index.ts`. Recognises weekdays that are no dates:
//! `Black Friday`, `every Monday`.

use std::ops::Range;

use crate::{
    query::dates::{
        calendar::DateContext,
        lexer::Lexeme,
        point::{self, PrecedingWord},
    },
    text::stop,
};

/// The characters that join the words of a name.
const JOINTS: &[char] = &['_', '.', '/', '\\', ':', '@'];

/// Whether the date that consists of `date`, a range of `lexemes`, is a part of a name in `text`.
pub(super) fn is_in_name(
    text: &str,
    lexemes: &[Lexeme<'_>],
    date: Range<usize>,
    context: DateContext,
) -> bool {
    let gap = |before: &Lexeme<'_>, after: &Lexeme<'_>| &text[before.span.end..after.span.start];
    let is_joined_inside = lexemes[date.clone()].windows(2).any(|pair| {
        let is_digit = |c: char| c.is_ascii_digit();
        let is_number = pair[0].text.ends_with(is_digit) || pair[1].text.starts_with(is_digit);
        !is_number && matches!(gap(&pair[0], &pair[1]), "_" | "." | "\\" | "@" | "::")
    });
    // `March/April` and `2026-01-05..2026-01-09` are two dates.
    let joins = |first: usize, other: usize| match gap(&lexemes[first], &lexemes[first + 1]) {
        "" | ".." => false,
        "/" => point::read(&lexemes[other..=other], PrecedingWord::Preposition, context).is_none(),
        gap => gap.chars().all(|c| JOINTS.contains(&c)),
    };
    is_joined_inside
        || date.start > 0 && joins(date.start - 1, date.start - 1)
        || date.end < lexemes.len() && joins(date.end - 1, date.end)
}

/// Whether the weekday after the lexeme `before` is a part of a name, or recurs. `Monday's` is a
/// date.
pub(super) fn is_no_date(text: &str, before: &Lexeme<'_>, weekday: &Lexeme<'_>) -> bool {
    let is_capitalised = |lexeme: &Lexeme<'_>| lexeme.raw.starts_with(char::is_uppercase);
    let is_everyday =
        stop::stop_class(&before.text).is_some() || stop::is_of_every_day(&before.text);
    matches!(&*before.text, "every" | "each")
        || is_capitalised(before)
            && is_capitalised(weekday)
            && !is_everyday
            && !text[weekday.span.end..].starts_with(['\'', '\u{2019}'])
}
