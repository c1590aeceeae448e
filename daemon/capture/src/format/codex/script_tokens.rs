//! Reads the tokens of a script of Codex's code mode: words, texts, comments and regular
//! expressions.

use std::collections::BTreeMap;

use serde_json::Value;

/// Maximum number of bytes that are skipped, and of bytes in all values, relative to the script.
const WORK: usize = 16;

/// A position in a script, and what is known at this position.
pub(super) struct ScriptReader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// The number of literals around the position.
    pub(super) depth: usize,
    /// The number of bytes that may still be skipped or be part of values.
    pub(super) remaining: usize,
    /// Whether a value contains a part that is not known.
    pub(super) has_unknown: bool,
    /// The values of constants whose value is a literal: texts, numbers, and lists of them.
    pub(super) constants: BTreeMap<&'t str, Value>,
}

impl<'t> ScriptReader<'t> {
    pub(super) fn new(text: &'t str) -> ScriptReader<'t> {
        ScriptReader {
            text,
            at: 0,
            depth: 0,
            remaining: WORK * text.len(),
            has_unknown: false,
            constants: BTreeMap::new(),
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips white space and comments.
    pub(super) fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            let end = match trimmed {
                _ if trimmed.starts_with("//") => trimmed.find('\n'),
                _ if trimmed.starts_with("/*") => trimmed.find("*/").map(|end| end + 2),
                _ => return,
            };
            self.at += end.unwrap_or(trimmed.len());
        }
    }

    pub(super) fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    pub(super) fn word(&mut self) -> Option<&'t str> {
        self.skip_space();
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let is_word = end > 0 && !rest.starts_with(|c: char| c.is_ascii_digit());
        self.at += if is_word { end } else { 0 };
        is_word.then(|| &rest[..end])
    }

    /// Skips a text literal, a regular expression, a number or one character.
    pub(super) fn skip_token(&mut self) {
        let begin = self.at;
        match self.peek() {
            Some(b'"' | b'\'') => {
                if self.quoted().is_none() {
                    self.charge(self.at - begin);
                    self.return_to(begin + 1);
                }
            }
            Some(b'`') => self.skip_template(),
            Some(b'/') => match self.regular_expression() {
                Ok(length) => self.at += length,
                Err(read) => {
                    self.at += 1;
                    self.charge(read);
                }
            },
            Some(byte) if byte.is_ascii_digit() => {
                let rest = self.rest();
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.');
                self.at += end.unwrap_or(rest.len());
            }
            _ => self.at += self.rest().chars().next().map_or(0, char::len_utf8),
        }
        self.charge(self.at - begin);
    }

    /// Counts work. Ends the reading if the limit is exceeded.
    pub(super) fn charge(&mut self, bytes: usize) {
        self.remaining = self.remaining.saturating_sub(bytes);
        if self.remaining == 0 {
            self.at = self.text.len();
        }
    }

    /// Goes back to an earlier position, unless the reading has ended.
    pub(super) fn return_to(&mut self, position: usize) {
        if self.remaining > 0 {
            self.at = position;
        }
    }

    /// Returns the length of the regular expression at the position. If there is no regular
    /// expression, because the slash divides or the line ends, returns the number of bytes read.
    pub(super) fn regular_expression(&self) -> Result<usize, usize> {
        let before = self.text[..self.at].trim_end_matches([' ', '\t']).chars().next_back();
        let divides = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | ')' | ']' | '}');
        if before.is_some_and(divides) {
            return Err(0);
        }
        let line = self.rest().lines().next().unwrap_or_default();
        let (mut is_escaped, mut is_in_class) = (false, false);
        for (at, c) in line.char_indices().skip(1) {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '[' => is_in_class = true,
                ']' => is_in_class = false,
                '/' if !is_in_class => return Ok(at + 1),
                _ => {}
            }
        }
        Err(line.len())
    }

    /// Skips to the end of a member.
    pub(super) fn skip_expression(&mut self) {
        let mut open = 0usize;
        loop {
            self.skip_space();
            match self.peek() {
                None => return,
                Some(b',' | b')' | b']' | b'}') if open == 0 => return,
                Some(b'(' | b'[' | b'{') => open += 1,
                Some(b')' | b']' | b'}') => open -= 1,
                _ => {}
            }
            self.skip_token();
        }
    }

    /// Reads a text in quotes. `None` if the text does not end in its line.
    pub(super) fn quoted(&mut self) -> Option<String> {
        let quote = char::from(self.peek()?);
        self.at += 1;
        let mut text = String::new();
        loop {
            let next = self.rest().chars().next()?;
            self.at += next.len_utf8();
            match next {
                '\\' => self.escape(&mut text)?,
                _ if next == quote => return Some(text),
                '\n' => return None,
                _ => text.push(next),
            }
        }
    }

    /// Skips a text in backticks. The text may contain expressions with such texts, so the modes
    /// are on a stack.
    pub(super) fn skip_template(&mut self) {
        enum Mode {
            Text,
            /// An expression, with the number of its open braces.
            Expression(usize),
        }
        self.at += 1;
        let mut modes = vec![Mode::Text];
        while let Some(mode) = modes.last_mut() {
            let Some(next) = self.rest().chars().next() else { return };
            if matches!(mode, Mode::Expression(_)) && matches!(next, '"' | '\'') {
                let _ = self.quoted();
                continue;
            }
            self.at += next.len_utf8();
            match (mode, next) {
                (Mode::Text, '\\') => {
                    self.at += self.rest().chars().next().map_or(0, char::len_utf8);
                }
                (Mode::Text, '$') if self.rest().starts_with('{') => {
                    self.at += 1;
                    modes.push(Mode::Expression(0));
                }
                (Mode::Text, '`') | (Mode::Expression(0), '}') => _ = modes.pop(),
                (Mode::Expression(_), '`') => modes.push(Mode::Text),
                (Mode::Expression(open), '{') => *open += 1,
                (Mode::Expression(open), '}') => *open -= 1,
                _ => {}
            }
        }
    }

    /// Reads the rest of an escape sequence.
    pub(super) fn escape(&mut self, text: &mut String) -> Option<()> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        let digits = match next {
            'u' if self.rest().starts_with('{') => {
                self.rest().bytes().take(16).position(|byte| byte == b'}')? + 1
            }
            'u' => 4,
            'x' => 2,
            _ => 0,
        };
        if digits > 0 {
            let code = self.rest().get(..digits)?.trim_matches(['{', '}']);
            let code = u32::from_str_radix(code, 16).ok()?;
            self.at += digits;
            text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            return Some(());
        }
        text.push(match next {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            // The line goes on.
            '\n' => return Some(()),
            other => other,
        });
        Some(())
    }
}
