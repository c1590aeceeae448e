//! Reads the agent's list of tasks. The list is a table `todos` in a database of the session, which
//! the agent changes with the tool `sql`. In older versions, the list is a Markdown checklist.

use crate::model::transcript::{Task, TaskState};

/// Reads a Markdown checklist.
pub(super) fn checklist(text: &str) -> Vec<Task> {
    let task = |line: &str| {
        let item = line.trim().trim_start_matches(['-', '*', '+']).trim_start();
        let (mark, subject) = item.strip_prefix('[')?.split_once(']')?;
        let subject = subject.trim().to_owned();
        let state = match mark.trim() {
            "" => TaskState::Pending,
            "x" | "X" => TaskState::Completed,
            _ => TaskState::InProgress,
        };
        (!subject.is_empty()).then(|| Task { key: subject.clone(), subject, state })
    };
    text.lines().filter_map(task).collect()
}

/// Returns the tasks that SQL statements add or change. A changed task has no subject.
pub(super) fn changed(sql: &str) -> Vec<Task> {
    let tokens = tokens(sql);
    tokens.split(|token| *token == Token::Mark(';')).flat_map(statement).collect()
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A keyword or a name, in lower case.
    Word(String),
    Text(String),
    Mark(char),
}

fn tokens(sql: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = sql.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '\'' => text(rest),
            c if c.is_alphanumeric() || c == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                let end = end.unwrap_or(rest.len());
                (Token::Word(rest[..end].to_lowercase()), end)
            }
            mark => (Token::Mark(mark), mark.len_utf8()),
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Reads a quoted text, in which a quotation mark is written twice.
fn text(sql: &str) -> (Token, usize) {
    let mut end = 1;
    while let Some(at) = sql[end..].find('\'') {
        end += at + 1;
        if !sql[end..].starts_with('\'') {
            return (Token::Text(sql[1..end - 1].replace("''", "'")), end);
        }
        end += 1;
    }
    (Token::Text(sql[1..].to_owned()), sql.len())
}

fn statement(tokens: &[Token]) -> Vec<Task> {
    let words: Vec<&str> = tokens.iter().map(word).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        ["insert" | "replace", ..] if follows(&words, "into", "todos") => inserted(tokens),
        ["update", "todos", ..] => {
            let set = after(tokens, "status");
            set.iter().find_map(state).map_or_else(Vec::new, |state| selected(tokens, state))
        }
        ["delete", "from", "todos", ..] => selected(tokens, TaskState::Dropped),
        _ => Vec::new(),
    }
}

fn word(token: &Token) -> &str {
    if let Token::Word(word) = token { word } else { "" }
}

fn follows(words: &[&str], first: &str, second: &str) -> bool {
    words.windows(2).any(|pair| pair == [first, second])
}

fn after<'t>(tokens: &'t [Token], key: &str) -> &'t [Token] {
    let at = tokens.iter().position(|token| word(token) == key);
    at.map_or(&[], |at| &tokens[at + 1..])
}

/// Returns the rows of `INSERT INTO todos (COLUMN, ...) VALUES (VALUE, ...), ...`.
fn inserted(tokens: &[Token]) -> Vec<Task> {
    let columns = after(tokens, "todos");
    let end = columns.iter().position(|token| *token == Token::Mark(')'));
    let columns = &columns[..end.unwrap_or(0)];
    let columns: Vec<&str> = columns.iter().map(word).filter(|word| !word.is_empty()).collect();
    let rows = after(tokens, "values").split(|token| *token == Token::Mark(')'));
    rows.filter_map(|row| task(&columns, row)).collect()
}

fn task(columns: &[&str], row: &[Token]) -> Option<Task> {
    let is_value = |token: &&Token| !matches!(token, Token::Mark(_));
    let values: Vec<&Token> = row.iter().filter(is_value).collect();
    let value = |name: &str| values.get(columns.iter().position(|column| *column == name)?);
    let Token::Text(key) = value("id")? else { return None };
    let Token::Text(subject) = value("title")? else { return None };
    let state = value("status").and_then(|status| state(status)).unwrap_or(TaskState::Pending);
    Some(Task { key: key.clone(), subject: subject.clone(), state })
}

/// Returns the tasks that `WHERE id` selects, in the new state.
fn selected(tokens: &[Token], state: TaskState) -> Vec<Task> {
    let condition = after(tokens, "where");
    if condition.first().map(word) != Some("id") {
        return Vec::new();
    }
    let task = |token: &Token| match token {
        Token::Text(key) => Some(Task { key: key.clone(), subject: String::new(), state }),
        Token::Word(_) | Token::Mark(_) => None,
    };
    condition.iter().filter_map(task).collect()
}

fn state(token: &Token) -> Option<TaskState> {
    let Token::Text(state) = token else { return None };
    match state.as_str() {
        "pending" | "blocked" => Some(TaskState::Pending),
        "in_progress" => Some(TaskState::InProgress),
        "done" | "completed" => Some(TaskState::Completed),
        "cancelled" => Some(TaskState::Dropped),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_from_statements() {
        let task = |key: &str, subject: &str, state| Task {
            key: key.to_owned(),
            subject: subject.to_owned(),
            state,
        };
        let sql = "INSERT INTO todos (id, title, description) VALUES\n  ('a', 'Read it; all', 'x'),
            ('b', 'Don''t stop', 'y');\nINSERT INTO todo_deps (todo_id) VALUES ('a');";
        let wanted = [
            task("a", "Read it; all", TaskState::Pending),
            task("b", "Don't stop", TaskState::Pending),
        ];
        assert_eq!(changed(sql), wanted);
        let sql = "UPDATE todos SET status = 'done' WHERE id IN ('a', 'b')";
        let wanted = [task("a", "", TaskState::Completed), task("b", "", TaskState::Completed)];
        assert_eq!(changed(sql), wanted);
        let deleted = [task("a", "", TaskState::Dropped)];
        assert_eq!(changed("DELETE FROM todos WHERE id = 'a'"), deleted);
        for sql in [
            "SELECT * FROM todos WHERE status = 'done'",
            "UPDATE todos SET status = 'done' WHERE status = 'pending'",
            "INSERT INTO todos (id, title) VALUES ('a",
            "CREATE TABLE x (id TEXT)",
            "",
        ] {
            assert_eq!(changed(sql), [], "{sql}");
        }
    }
}
