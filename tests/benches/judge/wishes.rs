//! Writes the sheet of sentences that may be standing wishes, that is, wishes for all later work.

use std::fmt::Write as _;

use graphiti_tests::Random;

use crate::{drawn, sessions::RecordedSession};

/// Maximum length, in bytes, of a prompt: longer prompts are mostly pasted text.
const PROMPT: usize = 2_500;
/// Words that may indicate a standing wish, in several languages.
const WORDS: &[&str] = &[
    "always",
    "never",
    "from now on",
    "prefer",
    "every time",
    "in future",
    "in the future",
    "don't",
    "do not",
    "instead of",
    "make sure",
    "remember",
    "must",
    "should not",
    "shouldn't",
    "stop ",
    "please use",
    "rather",
    "ever ",
    "immer",
    "nie ",
    "bitte",
    "siempre",
    "nunca",
    "toujours",
    "jamais",
    "不要",
    "总是",
    "请",
    "常に",
    "必ず",
    "今後",
];

/// Draws sentences that contain one of [`WORDS`]. The words match more sentences than the rules do,
/// so that readers see which wishes the rules miss.
pub(crate) fn sheet(sessions: &[RecordedSession], count: usize, random: Random) -> String {
    let mut rows: Vec<String> = Vec::new();
    for session in sessions {
        let kept = graphiti_tests::summarized::of_transcript(&session.path).wishes;
        for prompt in session.prompts.iter().filter(|prompt| prompt.text.len() <= PROMPT) {
            for sentence in prompt.text.lines().flat_map(|line| line.split_inclusive(". ")) {
                let lower = sentence.to_lowercase();
                if !WORDS.iter().any(|word| lower.contains(word)) {
                    continue;
                }
                let is_kept = kept.iter().any(|wish| wish.contains(sentence.trim()));
                let kept = if is_kept { "remembered" } else { "not remembered" };
                rows.push(format!(
                    "{} line {} · {kept}\n{}\n",
                    session.id,
                    prompt.line,
                    sentence.trim()
                ));
            }
        }
    }
    let mut sheet = String::from("For each sentence: is it a standing wish of the user?\n");
    for (number, row) in (1..).zip(drawn(rows, count, random)) {
        let _ = writeln!(sheet, "\n=== {number}. {row}");
    }
    sheet
}
