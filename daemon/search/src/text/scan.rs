//! Scans characters into parts and wholes.
//!
//! A *chunk* is a run of atoms (letters and digits) that are joined by connectors ([`Joint`]). The
//! connectors have levels: `_` and `-` form an identifier, `.` a dotted name, `::` a scoped name,
//! `@` an address, `/` and `\` a path. Each level has its own whole.

use std::ops::Range;

use crate::text::{IndexWord, LONGEST_PART, LONGEST_WHOLE, TokenForm, fold, identifier};

/// Splits `text`; see [`crate::text::each_word`].
pub(super) fn scan(text: &str, emit: &mut dyn FnMut(IndexWord<'_>)) {
    let mut chunk = Chunk::default();
    let mut position = 0;
    let mut at = 0;
    while let Some(start) = next_start(text, at) {
        if is_unspaced(char_at(text, start)) {
            at = unspaced_run(text, start, &mut position, emit);
        } else {
            at = chunk.read(text, start);
            chunk.emit(text, &mut position, emit);
        }
    }
}

/// Maximum number of atoms of a chunk. A longer run is split; such runs are encoded data, not
/// names.
const MOST_ATOMS: usize = 48;

/// Whether the script of `c` is split into pairs of characters: scripts without spaces between
/// words, and the Korean script, which joins endings to words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3105}'..='\u{312f}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{323af}')
}

/// A connector between two atoms, from the tightest to the loosest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Joint {
    /// `_` or `-`: one identifier.
    Identifier,
    /// `.`: a file name, a version, a host, a member.
    Dot,
    /// `::`: a name in a module.
    Scope,
    /// `@`, as in an address.
    At,
    /// `/` or `\`: a path.
    Slash,
    /// `://`: the scheme before it is ignored.
    Scheme,
}

/// Atoms and the joints between them.
#[derive(Default)]
struct Chunk {
    atoms: Vec<Range<usize>>,
    /// The joint after each atom except the last.
    joints: Vec<Joint>,
    /// The range of the chunk with a mark before or after it, as in `.env` or `c++`; `None` without
    /// such a mark.
    marked: Option<Range<usize>>,
    /// The folded text of the words.
    arena: String,
    found: Vec<ScannedToken>,
}

struct ScannedToken {
    text: Range<usize>,
    form: TokenForm,
    position: u32,
    span: Range<usize>,
}

impl Chunk {
    /// Scans the chunk whose first atom starts at `start`; returns its end.
    fn read(&mut self, text: &str, start: usize) -> usize {
        self.atoms.clear();
        self.joints.clear();
        self.marked = None;
        let mut at = start;
        loop {
            let end = atom_end(text, at);
            self.atoms.push(at..end);
            let next = joint_after(text, end).filter(|_| self.atoms.len() < MOST_ATOMS);
            let Some((joint, next)) = next else {
                let end = self.marks(text, end);
                return skip_suffix(text, end);
            };
            if joint == Joint::Scheme {
                self.atoms.clear();
                self.joints.clear();
            } else {
                self.joints.push(joint);
            }
            at = next;
        }
    }

    /// Sets `marked` if a mark before or after the chunk belongs to it (`.env`, `c++`). Returns the
    /// end of the chunk with its mark.
    fn marks(&mut self, text: &str, end: usize) -> usize {
        let start = self.atoms[0].start;
        let before = text[..start].chars().next_back();
        let two_before = text[..start].chars().rev().nth(1);
        let leads = match before {
            Some('.') => two_before.is_none_or(|c| !is_word(c) && c != '.' && c != '/'),
            Some('#') => two_before.is_none_or(|c| !is_word(c)),
            _ => false,
        };
        let rest = &text[end..];
        let short = self.atoms.len() == 1 && end - start <= 2;
        let mark = ["++", "#"].into_iter().find(|mark| short && rest.starts_with(mark));
        let trail = mark.map_or(0, str::len);
        let trail = if rest[trail..].starts_with(is_word) { 0 } else { trail };
        if leads || trail > 0 {
            self.marked = Some(start - usize::from(leads)..end + trail);
        }
        end + trail
    }

    /// Emits the words of the chunk and advances `position` past its parts.
    fn emit(&mut self, text: &str, position: &mut u32, emit: &mut dyn FnMut(IndexWord<'_>)) {
        self.arena.clear();
        self.found.clear();
        let first = *position;
        self.names(text, position);
        if self.atoms.len() > 1 || self.marked.is_some() {
            self.wholes(text, first);
        }
        if self.found.len() > 1 {
            self.found.sort_by_key(|found| (found.position, found.form == TokenForm::Part));
        }
        for found in &self.found {
            emit(IndexWord {
                text: &self.arena[found.text.clone()],
                form: found.form,
                position: found.position,
                span: found.span.clone(),
            });
        }
    }

    /// Adds the parts and the wholes of the identifiers.
    fn names(&mut self, text: &str, position: &mut u32) {
        let mut atom = 0;
        while atom < self.atoms.len() {
            if let Some((number, last)) = self.number(text, atom) {
                self.add(text, number, TokenForm::Part, *position);
                *position += 1;
                atom = last + 1;
                continue;
            }
            let last = self.group_end(atom, Joint::Identifier);
            let number = (atom + 1..=last).find(|next| self.number(text, *next).is_some());
            let last = number.map_or(last, |number| number - 1);
            let first = *position;
            for atom in atom..=last {
                let Range { start, end } = self.atoms[atom];
                identifier::each_part(&text[start..end], |part| {
                    let span = start + part.start..start + part.end;
                    self.add(text, span, TokenForm::Part, *position);
                    *position += 1;
                });
            }
            if *position > first + 1 {
                self.add_joined(text, atom..=last, first);
            }
            atom = last + 1;
        }
    }

    /// Adds the chunk with its mark, and the wholes above identifiers: dotted and scoped names,
    /// addresses, paths. A level adds a whole only if the whole has more atoms than the whole of
    /// the level below.
    fn wholes(&mut self, text: &str, first: u32) {
        if let Some(marked) = self.marked.clone() {
            self.add(text, marked, TokenForm::Whole, first);
        }
        let mut below = Joint::Identifier;
        for level in [Joint::Dot, Joint::Scope, Joint::At, Joint::Slash] {
            if self.joints.contains(&level) {
                self.wholes_of(text, level, below);
                below = level;
            }
        }
    }

    fn wholes_of(&mut self, text: &str, level: Joint, below: Joint) {
        let mut atom = 0;
        while atom < self.atoms.len() {
            let last = self.group_end(atom, level);
            let span = self.span(atom, last);
            let known = self.found.iter().any(|found| found.span == span);
            if last > self.group_end(atom, below) && !known {
                let position = self.position_at(span.start);
                self.add(text, span, TokenForm::Whole, position);
            }
            atom = last + 1;
        }
    }

    /// Returns the last atom of the group that begins with `atom` and whose joints are `level` or
    /// tighter.
    fn group_end(&self, atom: usize, level: Joint) -> usize {
        let held = self.joints[atom.min(self.joints.len())..].iter();
        atom + held.take_while(|joint| **joint <= level).count()
    }

    /// Returns the version or decimal number that begins with `atom`, without a leading `v`, and
    /// its last atom.
    fn number(&self, text: &str, atom: usize) -> Option<(Range<usize>, usize)> {
        let digits = |atom: &str| !atom.is_empty() && atom.bytes().all(|b| b.is_ascii_digit());
        let first = &text[self.atoms[atom].clone()];
        let bare = first.strip_prefix(['v', 'V']).unwrap_or(first);
        let dots = self.joints[atom.min(self.joints.len())..]
            .iter()
            .zip(&self.atoms[atom + 1..])
            .take_while(|(joint, next)| **joint == Joint::Dot && digits(&text[(*next).clone()]))
            .count();
        let span = self.span(atom, atom + dots);
        (dots > 0 && digits(bare))
            .then(|| (span.start + first.len() - bare.len()..span.end, atom + dots))
    }

    fn span(&self, first: usize, last: usize) -> Range<usize> {
        self.atoms[first].start..self.atoms[last].end
    }

    fn position_at(&self, start: usize) -> u32 {
        let part = self.found.iter().find(|found| found.span.start >= start);
        part.map_or(0, |found| found.position)
    }

    fn add(&mut self, text: &str, span: Range<usize>, form: TokenForm, position: u32) {
        let from = self.arena.len();
        fold::fold_into(&text[span.clone()], &mut self.arena);
        self.keep(from, span, form, position);
    }

    /// Adds an identifier as a whole, without its connectors.
    fn add_joined(&mut self, text: &str, atoms: std::ops::RangeInclusive<usize>, position: u32) {
        let span = self.span(*atoms.start(), *atoms.end());
        let from = self.arena.len();
        for atom in &self.atoms[atoms] {
            fold::fold_into(&text[atom.clone()], &mut self.arena);
        }
        self.keep(from, span, TokenForm::Whole, position);
    }

    fn keep(&mut self, from: usize, span: Range<usize>, form: TokenForm, position: u32) {
        let longest = if form == TokenForm::Part { LONGEST_PART } else { LONGEST_WHOLE };
        let length = self.arena.len() - from;
        if length == 0 || length > longest {
            self.arena.truncate(from);
            return;
        }
        if form == TokenForm::Whole && self.arena[from..].contains('\\') {
            let forward = self.arena[from..].replace('\\', "/");
            self.arena.replace_range(from.., &forward);
        }
        let text = from..self.arena.len();
        self.found.push(ScannedToken { text, form, position, span });
    }
}

/// Returns the joint after the atom that ends at `end`, and the start of the next atom; `None` if
/// no atom is joined.
fn joint_after(text: &str, end: usize) -> Option<(Joint, usize)> {
    let rest = &text[end..];
    let length = rest.bytes().take_while(|byte| b"_-./\\:@".contains(byte)).count();
    let marks = &rest[..length];
    let follows = rest[length..].chars().next().is_some_and(|c| is_word(c) && !is_unspaced(c));
    if length == 0 || !follows {
        return None;
    }
    let joint = match marks {
        "-" | "-_" | "_-" => Joint::Identifier,
        "." | "._" | "_." | ".__" | "__." => Joint::Dot,
        "::" => Joint::Scope,
        "@" => Joint::At,
        "://" => Joint::Scheme,
        _ if marks.bytes().all(|byte| byte == b'_') => Joint::Identifier,
        _ if length <= 4 && !marks.contains([':', '@']) && marks.contains(['/', '\\']) => {
            Joint::Slash
        }
        _ => return None,
    };
    Some((joint, end + length))
}

/// Returns the end of the run of letters and digits at `start`.
fn atom_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        if bytes[at].is_ascii_alphanumeric() {
            at += 1;
        } else if bytes[at].is_ascii() {
            break;
        } else {
            let c = char_at(text, at);
            if !is_word(c) || is_unspaced(c) {
                break;
            }
            at += c.len_utf8();
        }
    }
    at
}

/// Skips an English suffix that is not a separate word: `'s`, `'ll`, and so on.
fn skip_suffix(text: &str, end: usize) -> usize {
    let rest = &text[end..];
    let Some(quote) = rest.chars().next().filter(|c| matches!(c, '\'' | '\u{2019}')) else {
        return end;
    };
    let tail = &rest[quote.len_utf8()..];
    let letters = tail.bytes().take_while(u8::is_ascii_alphabetic).count();
    let is_suffix = ["s", "t", "d", "m", "re", "ve", "ll"]
        .iter()
        .any(|suffix| tail[..letters].eq_ignore_ascii_case(suffix));
    let ends = tail[letters..].chars().next().is_none_or(|c| !is_word(c));
    if is_suffix && ends { end + quote.len_utf8() + letters } else { end }
}

/// Emits the run of unspaced characters at `start` as pairs, or a single character alone. Returns
/// the end of the run.
fn unspaced_run(
    text: &str,
    start: usize,
    position: &mut u32,
    emit: &mut dyn FnMut(IndexWord<'_>),
) -> usize {
    let mut run: Vec<usize> = Vec::new();
    for (at, c) in text[start..].char_indices().take_while(|(_, c)| is_unspaced(*c)) {
        let end = start + at + c.len_utf8();
        match run.last_mut() {
            Some(last) if is_voicing(c) => *last = end,
            _ => run.push(end),
        }
    }
    let begins = |index: usize| if index == 0 { start } else { run[index - 1] };
    let mut folded = String::new();
    for index in 0..run.len().saturating_sub(1).max(1) {
        let span = begins(index)..run[(index + 1).min(run.len() - 1)];
        folded.clear();
        fold::compose_into(&text[span.clone()], &mut folded);
        emit(IndexWord { text: &folded, form: TokenForm::Part, position: *position, span });
        *position += 1;
    }
    run[run.len() - 1]
}

/// Whether `c` changes the sound of the kana before it, and forms one letter with it.
fn is_voicing(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}')
}

fn next_start(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if bytes[at].is_ascii() {
            if bytes[at].is_ascii_alphanumeric() {
                return Some(at);
            }
            at += 1;
        } else {
            let c = char_at(text, at);
            if is_word(c) && !is_mark(c) {
                return Some(at);
            }
            at += c.len_utf8();
        }
    }
    None
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_mark(c))
}

/// Whether `c` is a combining mark or a joiner. These belong to a word, although they are neither
/// letters nor digits.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}') || unicode_normalization::char::is_combining_mark(c)
}

fn char_at(text: &str, at: usize) -> char {
    text[at..].chars().next().expect("a character starts at this position")
}
