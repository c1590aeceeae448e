//! Parses a part of a month, and a day or week next to a date: "the second week of November", "mid
//! October", "the week before 3 March".

use jiff::civil::Date;

use crate::query::dates::{
    DateMatch,
    calendar::{self, DateContext, Days},
    lexer::Lexeme,
    point::{self, PrecedingWord},
};

/// Parses the expression at the start of `lexemes`.
pub(super) fn read(lexemes: &[Lexeme<'_>], context: DateContext) -> Option<DateMatch> {
    let article = usize::from(lexemes.first()?.text == "the");
    let lexemes = lexemes.get(article..)?;
    let mut read = week_of(lexemes, context)
        .or_else(|| next_to_date(lexemes, context))
        .or_else(|| part_of_month(lexemes, context))
        .or_else(|| from_day_to_day(lexemes, context))?;
    read.length += article;
    Some(read)
}

/// Parses `second week of November`, `last two weeks of September` and `week of 16 March`.
fn week_of(lexemes: &[Lexeme<'_>], context: DateContext) -> Option<DateMatch> {
    let place = place(&lexemes.first()?.text);
    let skip = usize::from(place.is_some());
    let several = point::count(text(lexemes, skip)).filter(|_| place.is_some());
    if let Some(count) = several
        && text(lexemes, skip + 1) == "weeks"
        && matches!(text(lexemes, skip + 2), "of" | "in")
    {
        return weeks_of(place?, count, lexemes, skip + 3, context);
    }
    if text(lexemes, skip) != "week" || !matches!(text(lexemes, skip + 1), "of" | "in") {
        return None;
    }
    let inner = point::read(lexemes.get(skip + 2..)?, PrecedingWord::Preposition, context)?;
    let Days::Span(from, to) = inner.days else { return None };
    let days = match place {
        Some(PartPlace::Number(number)) => {
            let start = calendar::plus_days(from, 7 * number);
            Days::Span(start, calendar::plus_days(start, 7).min(to))
        }
        Some(PartPlace::Last) => Days::Span(calendar::plus_days(to, -7), to),
        None => {
            let monday =
                calendar::plus_days(from, -i64::from(from.weekday().to_monday_zero_offset()));
            Days::Span(monday, calendar::plus_days(monday, 7))
        }
    };
    point::relative(skip + 2 + inner.length, days)
}

/// Parses the date after an expression such as `first two weeks of`. `skip` is the number of
/// lexemes of this expression.
fn weeks_of(
    place: PartPlace,
    count: i64,
    lexemes: &[Lexeme<'_>],
    skip: usize,
    context: DateContext,
) -> Option<DateMatch> {
    let inner = point::read(lexemes.get(skip..)?, PrecedingWord::Preposition, context)?;
    let Days::Span(from, to) = inner.days else { return None };
    let days = match place {
        PartPlace::Number(0) => Days::Span(from, calendar::plus_days(from, 7 * count).min(to)),
        PartPlace::Last => Days::Span(calendar::plus_days(to, -7 * count).max(from), to),
        PartPlace::Number(_) => return None,
    };
    point::relative(skip + inner.length, days)
}

#[derive(Clone, Copy)]
enum PartPlace {
    /// The number, counted from 0.
    Number(i64),
    Last,
}

fn place(word: &str) -> Option<PartPlace> {
    Some(match word {
        "first" | "1st" => PartPlace::Number(0),
        "second" | "2nd" => PartPlace::Number(1),
        "third" | "3rd" => PartPlace::Number(2),
        "fourth" | "4th" => PartPlace::Number(3),
        "last" => PartPlace::Last,
        _ => return None,
    })
}

/// Parses `week before 3 March`, `day after 12 June`.
fn next_to_date(lexemes: &[Lexeme<'_>], context: DateContext) -> Option<DateMatch> {
    let length = match text(lexemes, 0) {
        "day" => 1,
        "week" => 7,
        _ => return None,
    };
    let is_before = match text(lexemes, 1) {
        "before" => true,
        "after" => false,
        _ => return None,
    };
    if text(lexemes, 2) == "yesterday" {
        return None;
    }
    let inner = point::read(lexemes.get(2..)?, PrecedingWord::Preposition, context)?;
    let Days::Span(from, to) = inner.days else { return None };
    let days = if is_before {
        Days::Span(calendar::plus_days(from, -length), from)
    } else {
        Days::Span(to, calendar::plus_days(to, length))
    };
    point::relative(2 + inner.length, days)
}

/// Parses `early March`, `mid October 2025`, `the end of January`.
fn part_of_month(lexemes: &[Lexeme<'_>], context: DateContext) -> Option<DateMatch> {
    let (first, last, is_noun) = match text(lexemes, 0) {
        "early" => (1, 10, false),
        "mid" => (10, 21, false),
        "late" => (20, 31, false),
        "beginning" | "start" => (1, 10, true),
        "middle" => (10, 21, true),
        "end" => (20, 31, true),
        _ => return None,
    };
    let skip = if is_noun { 2 } else { 1 };
    if is_noun && text(lexemes, 1) != "of" {
        return None;
    }
    let inner = point::read(lexemes.get(skip..)?, PrecedingWord::Preposition, context)?;
    let Days::Span(from, to) = inner.days else { return None };
    let is_month =
        from.day() == 1 && to == calendar::plus_days(from, i64::from(from.days_in_month()));
    if !is_month {
        return None;
    }
    let start = calendar::plus_days(from, first - 1);
    let days = Days::Span(start, calendar::plus_days(from, last).min(to));
    point::relative(skip + inner.length, days)
}

/// Parses `from 18 to 20 February`, `21 and 22 January`.
fn from_day_to_day(lexemes: &[Lexeme<'_>], context: DateContext) -> Option<DateMatch> {
    let preceding = usize::from(matches!(text(lexemes, 0), "from" | "between" | "on"));
    let first: i64 = text(lexemes, preceding).parse().ok().filter(|day| (1..=31).contains(day))?;
    if !matches!(text(lexemes, preceding + 1), "to" | "and" | "until" | "till" | "through") {
        return None;
    }
    let word = if preceding > 0 { PrecedingWord::Preposition } else { PrecedingWord::None };
    let inner = point::read(lexemes.get(preceding + 2..)?, word, context)?;
    let Days::Span(last, to) = inner.days else { return None };
    let from: Date = calendar::plus_days(last, first - i64::from(last.day()));
    let is_one_day = to == calendar::plus_days(last, 1);
    if !is_one_day || from >= last || from.month() != last.month() {
        return None;
    }
    point::relative(preceding + 2 + inner.length, Days::Span(from, to))
}

fn text<'l>(lexemes: &'l [Lexeme<'_>], at: usize) -> &'l str {
    lexemes.get(at).map(|lexeme| lexeme.text.as_str()).unwrap_or_default()
}
