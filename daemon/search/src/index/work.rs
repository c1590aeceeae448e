//! The names of the work of a session: the files that the session changed, its commits and tickets.
//! Calls that edited files are marked, too.
//!
//! A query that consists of such a name ranks the sessions with this work above sessions that only
//! mention the name.

use crate::{index::attributes, text};

/// Number of characters of a commit's hash that are compared.
const HASH: usize = 7;

/// The mark before a hash in a summary. A line with this mark is about a commit of the session.
const COMMIT_MARK: &str = "(commit `";

/// The mark of a call that edited a file. No query looks it up as a name, because it has a space.
pub(crate) const EDIT: &str = "edited file";

/// Returns the hashes and tickets of the commits that a text of a summary lists.
pub(crate) fn of_summary(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for line in text.split(['·', '\n']).filter(|line| line.contains(COMMIT_MARK)) {
        let hashes = line.split(COMMIT_MARK).skip(1).filter_map(|rest| rest.split('`').next());
        names.extend(hashes.filter_map(of_hash));
        names.extend(tickets(line));
    }
    names
}

/// Returns the tickets in the name of a branch.
pub(crate) fn of_branch(name: &str) -> Vec<String> {
    tickets(name)
}

/// Returns the names by which the `name` in a query is looked up. The name may be in quotation
/// marks, and the number of a line may follow it (`src/a.rs:42`).
pub(crate) fn of_query(name: &str) -> Vec<String> {
    let name = without_line(name.trim_matches(['`', '"', '\'', ',', ';']));
    let file = attributes::end_of_path(name);
    std::iter::once(file).chain(of_hash(name)).chain(tickets(name)).collect()
}

/// Returns the name of a file without the numbers of a line and a column after it.
pub(crate) fn without_line(name: &str) -> &str {
    let digits = |c: char| c.is_ascii_digit();
    let is_line = |(file, number): &(&str, &str)| {
        !file.is_empty() && !number.is_empty() && number.chars().all(digits)
    };
    let mut name = name.trim_end_matches(':');
    while let Some((file, _)) = name.rsplit_once(':').filter(is_line) {
        name = file;
    }
    name
}

/// Whether the `name` in a query is a ticket, such as `TOLL-7`.
pub(crate) fn is_ticket(name: &str) -> bool {
    ticket(name).is_some_and(|ticket| ticket.len() == name.len())
}

fn of_hash(hash: &str) -> Option<String> {
    let is_hash = (HASH..=64).contains(&hash.len()) && hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| text::folded(&hash[..HASH]))
}

/// Returns the tickets in a text, such as `TOLL-7`, `#7`, and `toll-7` in `toll-7-limit-retries`.
fn tickets(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '#')));
    words.filter_map(ticket).collect()
}

fn ticket(word: &str) -> Option<String> {
    let (key, rest) = word.split_once(['-', '#'])?;
    let number: &str = rest.split('-').next().unwrap_or_default();
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_key = key.bytes().all(|byte| byte.is_ascii_alphabetic());
    let mark = &word[key.len()..=key.len()];
    (is_number && is_key && key.is_empty() == (mark == "#"))
        .then(|| text::folded(&word[..key.len() + 1 + number.len()]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_found_by_the_start_of_its_hash_and_by_its_tickets() {
        let done = "Limit the retries for TOLL-7 and #12 (commit `e4f5a6b`): Wait · \
                    Looked at 0c9d8e7a1b for TOLL-9 · One (commit `0c9d8e7`); Two (commit `1a2b3c4d5e`)";
        let names = ["e4f5a6b", "toll-7", "#12", "0c9d8e7", "1a2b3c4"];
        assert_eq!(of_summary(done), names);
        for name in ["e4f5a6b0c1d2e3f4a5b60718293a4b5c6d7e8f90", "E4F5A6B", "TOLL-7", "#12"] {
            assert!(of_query(name).iter().any(|name| names.contains(&name.as_str())), "{name}");
        }
    }

    #[test]
    fn a_file_is_looked_up_without_marks_and_line_numbers() {
        for name in
            ["src/a.rs:42", "src/a.rs:42:7", "src/a.rs:42:", "`src/a.rs`", "src/a.rs,", "SRC\\a.rs"]
        {
            assert_eq!(of_query(name)[0], "src/a.rs", "{name}");
        }
        let deep = format!("/{}src/a.rs", "x/".repeat(20));
        assert!(attributes::ends_of_path(&deep).contains(&of_query(&deep)[0]));
    }

    #[test]
    fn only_a_key_with_a_number_is_a_ticket() {
        assert!(is_ticket("TOLL-7") && is_ticket("#12"));
        for name in ["toll-7-limit", "toll", "7-12", "a7-1", "toll-x"] {
            assert!(!is_ticket(name), "{name}");
        }
    }

    #[test]
    fn a_branch_is_found_by_its_ticket() {
        assert_eq!(of_branch("feat/TOLL-7-limit-retries"), ["toll-7"]);
        assert_eq!(of_branch("toll-x/-7/a7-1/fix-"), [""; 0]);
    }
}
