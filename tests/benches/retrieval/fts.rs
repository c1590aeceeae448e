//! Measures SQLite's full-text index with the sessions and questions of a set, for comparison.

use rusqlite::{Connection, params};

use crate::{
    score::RankingScore,
    sessions::{QuestionSet, SearchedSession},
};

/// Searches for each question of a set, and scores the results.
pub(crate) fn score(set: &QuestionSet, tokenizer: &str) -> RankingScore {
    let baseline = Baseline::new(set, tokenizer).expect("SQLite has FTS5 built in");
    let mut score = RankingScore::default();
    for question in &set.questions {
        let ranked = baseline.ask(&question.text).expect("quoted words are a valid question");
        score.count(&ranked, &question.answers);
    }
    score
}

/// A full-text index with whole sessions as documents. The words of a question are joined by OR.
pub(crate) struct Baseline {
    connection: Connection,
    names: Vec<String>,
}

impl Baseline {
    /// Indexes the sessions of a set with one of SQLite's tokenizers.
    pub(crate) fn new(set: &QuestionSet, tokenizer: &str) -> rusqlite::Result<Baseline> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE sessions USING fts5(text, tokenize = '{tokenizer}')"
        ))?;
        for (number, session) in (1_i64..).zip(&set.sessions) {
            connection.execute(
                "INSERT INTO sessions (rowid, text) VALUES (?, ?)",
                params![number, text(session)],
            )?;
        }
        let names = set.sessions.iter().map(|session| session.name.clone()).collect();
        Ok(Baseline { connection, names })
    }

    /// Returns the names of the ten best sessions.
    pub(crate) fn ask(&self, question: &str) -> rusqlite::Result<Vec<&str>> {
        let words: Vec<String> = question
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| format!("\"{word}\""))
            .collect();
        let mut statement = self.connection.prepare_cached(
            "SELECT rowid FROM sessions WHERE sessions MATCH ? ORDER BY rank LIMIT 10",
        )?;
        let rows = statement.query_map([words.join(" OR ")], |row| row.get::<_, i64>(0))?;
        let mut names = Vec::new();
        for row in rows {
            let index = usize::try_from(row? - 1).unwrap_or_default();
            names.push(self.names[index].as_str());
        }
        Ok(names)
    }
}

fn text(session: &SearchedSession) -> String {
    let texts: Vec<&str> = session.messages.iter().map(|message| message.text.as_str()).collect();
    texts.join("\n")
}
