//! Splits an identifier at changes of case.

use std::ops::Range;

/// Calls `part` for each part of `atom`, a run of letters and digits: `HTTPServer` is `HTTP` and
/// `Server`. Digits stay with the letters before them (`utf8`, `sha256`), and so does the `s` of a
/// plural (`URLs`).
pub(super) fn each_part(atom: &str, mut part: impl FnMut(Range<usize>)) {
    if !atom.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()) {
        part(0..atom.len());
        return;
    }
    let mut start = 0;
    let mut before = Case::None;
    let mut rest = atom.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let case = Case::of(c, before);
        let next = rest.peek().map(|(_, c)| Case::of(*c, case));
        let cuts = match (before, case) {
            (Case::Lower, Case::Upper) => true,
            (Case::Upper, Case::Upper) => {
                c.is_uppercase()
                    && next == Some(Case::Lower)
                    && !is_plural_end(&atom[at + c.len_utf8()..])
            }
            _ => false,
        };
        if cuts && at > start {
            part(start..at);
            start = at;
        }
        before = case;
    }
    part(start..atom.len());
}

fn is_plural_end(rest: &str) -> bool {
    let mut rest = rest.chars();
    rest.next() == Some('s') && rest.next().is_none_or(char::is_uppercase)
}

#[derive(Clone, Copy, PartialEq)]
enum Case {
    None,
    Lower,
    Upper,
}

impl Case {
    /// Returns the case of `c`. A character without case has `before`, the case of the preceding
    /// character.
    fn of(c: char, before: Case) -> Case {
        if c.is_uppercase() {
            Case::Upper
        } else if c.is_lowercase() {
            Case::Lower
        } else {
            before
        }
    }
}
