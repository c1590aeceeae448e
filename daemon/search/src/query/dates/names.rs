//! Recognises words that look like a date but are a part of an identifier, a path or an address:
//! `last_month_total`, `monday.com`, `src/today/index.ts`. Recognises weekdays that are no dates:
//! `Black Friday`, `every Monday`.

use std::ops::Range;

use crate::query::dates::{
    calendar::DateContext,
    lexer::Lexeme,
    point::{self, PrecedingWord},
};

/// Words that form a name with a weekday: `Black Friday`.
const NAMES_OF_DAYS: &[&str] =
    &["ash", "black", "cyber", "easter", "giving", "good", "maundy", "palm", "shrove"];

/// The characters that join the words of a name.
const JOINTS: &[char] = &['_', '.', '/', '\\', ':', '@'];

/// Whether the date that consists of `date`, a range of `lexemes`, is a part of a name in `text`.
/// `follows_date` tells whether another date ends directly before `date`.
pub(super) fn is_in_name(
    text: &str,
    lexemes: &[Lexeme<'_>],
    date: Range<usize>,
    follows_date: bool,
    context: DateContext,
) -> bool {
    let gap = |before: &Lexeme<'_>, after: &Lexeme<'_>| &text[before.span.end..after.span.start];
    let is_joined_inside = lexemes[date.clone()].windows(2).any(|pair| {
        let is_digit = |c: char| c.is_ascii_digit();
        let is_number = pair[0].text.ends_with(is_digit) || pair[1].text.starts_with(is_digit);
        !is_number && matches!(gap(&pair[0], &pair[1]), "_" | "." | "\\" | "@" | "::")
    });
    // `last week/this week` and `2026-01-05..2026-01-09` are two dates.
    let joins =
        |first: usize, is_between_dates: bool| match gap(&lexemes[first], &lexemes[first + 1]) {
            "" | ".." => false,
            "/" => !is_between_dates,
            gap => gap.chars().all(|c| JOINTS.contains(&c)),
        };
    let precedes_date =
        point::read(&lexemes[date.end..], PrecedingWord::Preposition, context).is_some();
    is_joined_inside
        || date.start > 0 && joins(date.start - 1, follows_date)
        || date.end < lexemes.len() && joins(date.end - 1, precedes_date)
}

/// Whether the weekday after the lexeme `before` is a part of a name, or recurs. `Monday's` is a
/// date.
pub(super) fn is_no_date(text: &str, before: &Lexeme<'_>, weekday: &Lexeme<'_>) -> bool {
    let is_capitalised = |lexeme: &Lexeme<'_>| lexeme.raw.starts_with(char::is_uppercase);
    matches!(&*before.text, "every" | "each")
        || is_capitalised(before)
            && is_capitalised(weekday)
            && NAMES_OF_DAYS.contains(&before.text.as_str())
            && !text[weekday.span.end..].starts_with(['\'', '\u{2019}'])
}
