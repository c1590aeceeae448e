//! Secrets in SQL statements that insert rows: `INSERT INTO users (name, password) VALUES ('ada',
//! '…')`.

use crate::assignment::{
    name::{self, NameMeaning},
    table::SecretTable,
    value::{Quoting, Value},
};

/// Maximum number of bytes of the name of the table and of the list of columns.
const HEADING: usize = 1_024;

/// Maximum length, in bytes, of all rows of a statement together.
const ROWS: usize = 64 * 1024;

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
    let end = text.floor_char_boundary(text.len().min(at + ROWS));
    let mut table = SecretTable { secrets: Vec::new(), end: limit - rest.len() + 6 };
    let mut column = 0;
    let mut depth = 0;
    while let Some(byte) = text.as_bytes()[..end].get(table.end) {
        let start = table.end;
        table.end += 1;
        match byte {
            b'\'' | b'"' => {
                let value = start + 1..closing(&text[..end], start);
                table.end = end.min(value.end + 1);
                let meaning = meanings.get(column).copied().flatten().filter(|_| depth == 1);
                let text = &text[value.clone()];
                let secret = Value { text, quoting: Quoting::Literal, is_cut: false };
                if let Some(meaning) = meaning.filter(|one| secret.is_secret_in_column(*one)) {
                    table.secrets.push((value, meaning.kind));
                }
            }
            b'(' if depth == 0 => (depth, column) = (1, 0),
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            b',' if depth == 1 => column += 1,
            b';' if depth == 0 => break,
            _ if depth == 0 && !(byte.is_ascii_whitespace() || *byte == b',') => break,
            _ => {}
        }
    }
    Some(table)
}

fn is_around_column(c: char) -> bool {
    c.is_whitespace() || "\"'`[]".contains(c)
}

/// Returns the position of the quote that closes the string at `start`, or the end of `text`. A
/// doubled quote and a quote after a backslash are part of the string.
fn closing(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            byte if byte != bytes[start] => {}
            _ if bytes.get(at + 1) == Some(&bytes[start]) => at += 1,
            _ => return at,
        }
        at += 1;
    }
    bytes.len()
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
        ] {
            assert_eq!(secrets(text), [""; 0], "{text}");
        }
    }
}
