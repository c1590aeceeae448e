//! Secrets in SQL statements that insert rows: `INSERT INTO users (name, password) VALUES ('ada',
//! '…')`.

use memchr::memchr;

use crate::assignment::{
    name::{self, NameMeaning},
    table::SecretTable,
    value::{Quoting, Value},
};

/// Maximum number of bytes of the name of the table and of the list of columns.
const HEADING: usize = 1_024;

/// Maximum length, in bytes, of a value. The quote of a longer value is probably not closed, so the
/// statement is not read further.
const VALUE: usize = 64 * 1024;

/// Returns the secrets of the statement whose `INSERT INTO` ends at `at`; `None` if no column
/// denotes a secret.
pub(crate) fn rows_after(text: &str, at: usize) -> Option<SecretTable> {
    let limit = text.floor_char_boundary(text.len().min(at + HEADING));
    let heading = &text[at..limit];
    let open = heading.find('(')?;
    let close = open + heading[open..].find(')')?;
    let columns = heading[open + 1..close].split(',');
    let meanings: Vec<Option<NameMeaning>> =
        columns.map(|column| name::classify(column.trim_matches(is_around_column))).collect();
    let rest = heading[close + 1..].trim_start();
    let is_insert = rest.get(..6).is_some_and(|word| word.eq_ignore_ascii_case("values"));
    if !is_insert || meanings.iter().all(Option::is_none) {
        return None;
    }
    let mut table = SecretTable { secrets: Vec::new(), end: limit - rest.len() + 6 };
    let mut column = 0;
    let mut depth = 0;
    while let Some(byte) = text.as_bytes().get(table.end) {
        let start = table.end;
        table.end += 1;
        match byte {
            b'\'' | b'"' => {
                let limit = text.floor_char_boundary(text.len().min(start + VALUE));
                let mark = mark(&text.as_bytes()[..=start]);
                let value = start + 1..closing(&text.as_bytes()[..limit], start + 1, mark);
                table.end = limit.min(value.end + mark.len());
                let meaning = meanings.get(column).copied().flatten().filter(|_| depth == 1);
                let text = &text[value.clone()];
                let secret = Value { text, quoting: Quoting::Literal, is_cut: false };
                if let Some(meaning) = meaning.filter(|one| secret.is_secret_in_column(*one)) {
                    table.secrets.push((value.clone(), meaning.kind));
                }
                if value.end == limit {
                    break;
                }
            }
            b'(' if depth == 0 => (depth, column) = (1, 0),
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            b',' if depth == 1 => column += 1,
            b';' if depth == 0 => break,
            // An escaped line break, in a statement that is itself a string.
            b'\\' if depth == 0 && text[table.end..].starts_with(['n', 'r', 't']) => table.end += 1,
            _ if depth == 0 && !(byte.is_ascii_whitespace() || *byte == b',') => break,
            _ => {}
        }
    }
    Some(table)
}

fn is_around_column(c: char) -> bool {
    c.is_whitespace() || "\"'`[]".contains(c)
}

/// Returns the quote at the end of `text` with the backslashes before the quote: `\"` if the
/// statement is itself a string.
fn mark(text: &[u8]) -> &[u8] {
    let (_, before) = text.split_last().unwrap_or((&0, &[]));
    let escapes = before.iter().rev().take(8).take_while(|byte| **byte == b'\\').count();
    &text[before.len() - escapes..]
}

/// Returns the position of the mark that closes the string at `start`, or the end of `text`. A
/// doubled mark and a quote after more backslashes are part of the string.
fn closing(text: &[u8], start: usize, mark: &[u8]) -> usize {
    let escapes = mark.len() - 1;
    let mut from = start;
    while let Some(found) = memchr(mark[escapes], &text[from..]) {
        let at = from + found;
        let before = text[from..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        let closes = if escapes == 0 { before % 2 == 0 } else { before <= escapes };
        from = at + 1;
        match closes {
            true if text[from..].starts_with(mark) => from += mark.len(),
            true => return at - before.min(escapes),
            false => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    fn secrets(text: &str) -> Vec<&str> {
        let at = text.find("INTO").unwrap() + 4;
        let table = rows_after(text, at);
        table.map_or(Vec::new(), |table| secret_texts(text, &table.secrets))
    }

    fn secret_texts<'t>(
        text: &'t str,
        found: &[(Range<usize>, crate::SecretKind)],
    ) -> Vec<&'t str> {
        found.iter().map(|(range, _)| &text[range.clone()]).collect()
    }

    #[test]
    fn the_values_of_secret_columns_are_found_in_every_row() {
        for (text, wanted) in [
            (
                "INSERT INTO users (name, password) VALUES ('ada', 'Falcon41'), ('bob', 'Wombat');",
                &["Falcon41", "Wombat"][..],
            ),
            (
                "INSERT INTO `users` (`password`,\n `at`) values\n ('O''Hara,41', now(), 'Falcon41')",
                &["O''Hara,41"],
            ),
            (
                "INSERT INTO a (id, api_key, n) VALUES (f(1, 'x'), 'kJ8s2Lq0Zx9Vb4Nm', 'a')",
                &["kJ8s2Lq0Zx9Vb4Nm"],
            ),
            ("INSERT INTO a (password) VALUES ('Falcon41", &["Falcon41"]),
            (
                r#"INSERT INTO a (n, password) VALUES (\"ada\", \"Falcon41\"),\n(\"b\", \"Wom\"\"bat7\")"#,
                &["Falcon41", r#"Wom\"\"bat7"#],
            ),
            (r"INSERT INTO a (password, n) VALUES ('O\'Hara41', 'Wombat')", &[r"O\'Hara41"]),
        ] {
            assert_eq!(secrets(text), wanted, "{text}");
        }
    }

    #[test]
    fn other_columns_and_parameters_stay() {
        for text in [
            "INSERT INTO users (name, email) VALUES ('Falcon41', 'Wombat');",
            "INSERT INTO users (name, password) VALUES ($1, $2)",
            "INSERT INTO users (name, password) VALUES ('ada', ':password')",
            "INSERT INTO users (name, password_hash) VALUES ('ada', 'Falcon41')",
            "INSERT INTO users (name, password) SELECT name, 'Falcon41' FROM old",
            "INSERT INTO users (password) VALUES (?); SELECT 'Falcon41'",
            "INSERT INTO the table (password) of the user ('Falcon41')",
            r#"INSERT INTO a (n, password) VALUES (\"Falcon41\", \":password\")"#,
        ] {
            assert_eq!(secrets(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn the_rows_of_a_long_statement_are_read_to_the_end() {
        let rows = "('a text of some words', NULL),\n".repeat(VALUE / 8);
        let text = format!("INSERT INTO a (n, password) VALUES {rows}('ada', 'Falcon41')");
        assert_eq!(secrets(&text), ["Falcon41"]);
        let open = format!("INSERT INTO a (password) VALUES ('{} 'Falcon41'", " ".repeat(VALUE));
        assert_eq!(secrets(&open), [""; 0]);
    }
}
