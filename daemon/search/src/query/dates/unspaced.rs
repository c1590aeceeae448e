//! Finds Chinese and Japanese dates inside a text without spaces: `昨天我做了什么`, `9月3日`.

use std::{ops::Range, sync::LazyLock};

use jiff::civil::Date;
use rustc_hash::FxHashMap;

use crate::query::dates::{
    calendar::{DateContext, Days, Unit},
    languages, point,
};

pub(super) struct UnspacedDate {
    pub(super) span: Range<usize>,
    pub(super) days: Days,
    /// Same as [`crate::query::dates::Mention::is_literal`].
    pub(super) is_literal: bool,
}

/// Returns the dates in `text`, in order.
pub(super) fn dates(text: &str, context: DateContext) -> Vec<UnspacedDate> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        // An expression may begin with a numeral: 一昨日.
        let (length, date) = match expression(rest, first, context.today) {
            (0, _) => match number(rest) {
                Some((value, length)) => after_number(rest, value, length, context),
                None => (unclear_numeral(rest), None),
            },
            expression => expression,
        };
        if let Some((days, is_literal)) = date {
            found.push(UnspacedDate { span: at..at + length, days, is_literal });
        }
        at += length.max(first.len_utf8());
    }
    found
}

/// A date, and whether it is literal.
type DaysFound = Option<(Days, bool)>;

/// Parses an expression without a number at the start of `text`. Returns the length of the
/// expression and its date. The length is 0 if `text` does not begin with an expression.
fn expression(text: &str, first: char, today: Date) -> (usize, DaysFound) {
    let of_first = EXPRESSIONS.get(&first).into_iter().flatten();
    let mut longest = (0, None);
    for (expression, meaning) in of_first {
        if expression.len() > longest.0 && text.starts_with(expression) {
            longest = (expression.len(), *meaning);
        }
    }
    (longest.0, longest.1.map(|(unit, back): (Unit, i64)| (unit.before(today, back), false)))
}

/// Parses a date that begins with the number `value`, which is `length` bytes long. Returns the
/// length of the date and the date. If there is no date, returns the length of the number.
fn after_number(text: &str, value: i64, length: usize, context: DateContext) -> (usize, DaysFound) {
    let today = context.today;
    let rest = &text[length..];
    for (unit, endings) in languages::UNSPACED_AGO {
        for ending in endings.split(' ') {
            if rest.starts_with(ending) && value > 0 {
                return (length + ending.len(), Some((context.ago(*unit, value), false)));
            }
        }
    }
    let with_year = rest.strip_prefix('年').and_then(|rest| {
        let year = point::year(&value.to_string(), today)?;
        let (month, month_length) = self::number(rest)?;
        let (date, after) = day_of_month(&rest[month_length..], month, Some(year), today)?;
        Some((text.len() - after.len(), date))
    });
    let date = with_year.or_else(|| {
        let (date, after) = day_of_month(rest, value, None, today)?;
        Some((text.len() - after.len(), date))
    });
    match date {
        Some((length, date)) => (length, Some((Days::one(date), true))),
        None => (length, None),
    }
}

/// Parses `月3日` in `9月3日`, after the number of the month. Returns the date and the text after it.
fn day_of_month(text: &str, month: i64, year: Option<i16>, today: Date) -> Option<(Date, &str)> {
    let rest = text.strip_prefix('月')?;
    let (day, length) = number(rest)?;
    let rest = rest[length..].strip_prefix(['日', '号', '號'])?;
    let (day, month) = (i8::try_from(day).ok()?, i8::try_from(month).ok()?);
    Some((point::day_of_month(day, month, year, today)?, rest))
}

/// Returns the number at the start of `text`, in digits or in Chinese numerals below 100, and its
/// length in bytes. The numeral of a year has four digits: `二〇二五年`. `None` for several numerals
/// that are not one number, such as `三四` in `三四天前` or `一三` in `周一三月五日`.
fn number(text: &str) -> Option<(i64, usize)> {
    let digit = |c: char| match c {
        '０'..='９' => Some(i64::from(u32::from(c) - u32::from('０'))),
        _ => c.to_digit(10).map(i64::from),
    };
    let mut digits = text.chars().map_while(|c| Some((digit(c)?, c.len_utf8()))).peekable();
    if digits.peek().is_some() {
        return Some(digits.fold((0, 0), |(value, length), (digit, bytes)| {
            (10_i64.saturating_mul(value).saturating_add(digit), length + bytes)
        }));
    }
    let numerals = numerals(text);
    let values: Option<Vec<i64>> = numerals.chars().map(numeral).collect();
    let value = match values?[..] {
        [value] => value,
        [10, ones @ 1..10] => 10 + ones,
        [tens @ 1..10, 10] => 10 * tens,
        [tens @ 1..10, 10, ones @ 1..10] => 10 * tens + ones,
        [first @ 1..10, ref rest @ ..]
            if rest.len() == 3
                && rest.iter().all(|digit| *digit < 10)
                && text[numerals.len()..].starts_with('年') =>
        {
            rest.iter().fold(first, |value, digit| 10 * value + digit)
        }
        _ => return None,
    };
    Some((value, numerals.len()))
}

/// Returns the length of the numerals at the start of `text` if no part of them is a number, as in
/// `十四五天前` and `一百二十天前`; otherwise 0. The last of several digits is a number: `三四天前`.
fn unclear_numeral(text: &str) -> usize {
    let numerals = numerals(text);
    let is_digit = |c: char| numeral(c).is_some_and(|value| (1..10).contains(&value));
    if numerals.chars().all(is_digit) { 0 } else { numerals.len() }
}

/// Returns the Chinese numerals at the start of `text`, with words for larger or unknown numbers,
/// but at most [`MAX_NUMERALS`] characters. A zero begins no number.
fn numerals(text: &str) -> &str {
    let is_zero = |c: char| numeral(c) == Some(0);
    let count = if text.starts_with(is_zero) { 1 } else { MAX_NUMERALS };
    let is_part = |c: char| numeral(c).is_some() || "百千万萬亿億几幾".contains(c);
    let length = text.chars().take(count).take_while(|c| is_part(*c)).map(char::len_utf8).sum();
    &text[..length]
}

/// Maximum number of Chinese numerals that are read as one number.
const MAX_NUMERALS: usize = 8;

fn numeral(c: char) -> Option<i64> {
    Some(match c {
        '〇' | '零' => 0,
        '一' => 1,
        '二' | '两' | '兩' => 2,
        '三' => 3,
        '四' => 4,
        '五' => 5,
        '六' => 6,
        '七' => 7,
        '八' => 8,
        '九' => 9,
        '十' => 10,
        _ => return None,
    })
}

/// A unit, and how many units back it is; `None` for a word that is not a date.
type Relative = Option<(Unit, i64)>;

/// The expressions by their first character.
static EXPRESSIONS: LazyLock<FxHashMap<char, Vec<(&str, Relative)>>> = LazyLock::new(|| {
    let dates = languages::UNSPACED
        .iter()
        .flat_map(|(unit, back, words)| words.split(' ').map(|word| (word, Some((*unit, *back)))));
    let others = languages::NOT_DATES.iter().map(|word| (*word, None));
    let mut by_first: FxHashMap<char, Vec<(&str, Relative)>> = FxHashMap::default();
    for (word, meaning) in dates.chain(others) {
        let first = word.chars().next().expect("no word of the table is empty");
        by_first.entry(first).or_default().push((word, meaning));
    }
    by_first
});
