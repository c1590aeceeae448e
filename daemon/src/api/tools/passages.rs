//! Prepares passages for a model: cuts them at the ends of clauses, and removes copies.

use std::collections::HashSet;

use graphiti_proto::{clean::single_spaced, tools::search_sessions::MatchedPassage};

use super::announcement;
use crate::{model::Role, search::snippet::Snippet};

/// A cut at the end of a clause removes at most one third of the text.
const MAX_REMOVED_PART: usize = 3;
/// Minimum number of words of the start of a list that is shown after its announcement.
const MIN_LIST_WORDS: usize = 3;
/// Number of words of a shingle (a run of words). Texts are compared by their shingles.
const SHINGLE_WORDS: usize = 3;
/// Two texts have the same content if they share at least this part of their shingles.
const MIN_SAME_SHARE: f32 = 0.6;
/// A text is redundant if another text contains at least this part of its shingles.
const MIN_COVERED_SHARE: f32 = 0.8;
/// Minimum length, in bytes, of a useful part of a summary. A shorter part is, for example, the
/// name of a command.
const SHORT_SUMMARY: usize = 16;

/// Returns the snippet without the incomplete clauses at its ends, unless they contain a match. If
/// possible, the result begins with the sentence of the first match.
pub(super) fn at_clauses(snippet: &Snippet) -> String {
    let text = &*snippet.text;
    let first = snippet.marks.first().map_or(0, |mark| mark.start);
    let last = snippet.marks.last().map_or(0, |mark| mark.end);
    let mut start = 0;
    if text.starts_with('…') {
        let before = |end: &usize| *end <= first && *end <= text.len() / MAX_REMOVED_PART;
        let sentence = ends(text, &SENTENCE_ENDS).filter(before).last();
        start = sentence.or_else(|| ends(text, &CLAUSE_ENDS).find(before)).unwrap_or(0);
    }
    let mut end = text.len();
    if text.ends_with('…') {
        end = last_end(text, last);
    }
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{}{after}", text[start.min(end)..end].trim())
}

/// Returns the end of the last clause of a text whose end is omitted, not before `least`. If the
/// last clause announces a list ("The causes are:") and the text has the start of this list,
/// returns the end of the text, because the announcement says nothing without the list.
fn last_end(text: &str, least: usize) -> usize {
    let announces = |end: &usize| text[..*end].ends_with(':');
    let is_late = |end: &usize| *end >= least && !is_list_number(&text[..*end]);
    let known = ends(text, &CLAUSE_ENDS)
        .filter(|end| *end >= text.len() - text.len() / MAX_REMOVED_PART)
        .filter(is_late);
    let known: Vec<usize> = known.collect();
    let whole = without_list_number(text, least);
    let has_list = known.last().is_some_and(|end| {
        announces(end) && text[*end..whole].split_whitespace().count() >= MIN_LIST_WORDS
    });
    let last = known.iter().rfind(|end| !announces(end)).filter(|_| !has_list);
    last.copied().unwrap_or(whole)
}

/// Returns the end of the text without the number of a list item that was omitted; the end of the
/// text if it has no such number, or if the number is before `least`.
fn without_list_number(text: &str, least: usize) -> usize {
    let before = text.trim_end_matches('…').trim_end();
    let item = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end().len();
    if is_list_number(before) && item >= least.max(1) { item } else { text.len() }
}

/// Whether a text ends with the number of a list item, such as `2.`, rather than with a sentence
/// that ends with a number.
fn is_list_number(text: &str) -> bool {
    let Some(text) = text.strip_suffix('.') else { return false };
    let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &text[before.len()..];
    let Some(number) = digits.parse::<u8>().ok().filter(|_| digits.len() <= 2) else {
        return false;
    };
    let is_after_item =
        || number > 1 && before.split(' ').any(|word| word == format!("{}.", number - 1));
    match before.trim_end() {
        "" | "…" => true,
        _ if !before.ends_with([' ', '…']) => false,
        earlier => earlier.ends_with(['.', ':', '!', '?', ';']) || is_after_item(),
    }
}

/// Returns the first clauses of a text: at most `limit` bytes and an ellipsis, without line feeds.
pub(super) fn first_clauses(text: &str, limit: usize) -> String {
    let text = single_spaced(text);
    if text.len() <= limit {
        return text;
    }
    let cut = text[..text.floor_char_boundary(limit)].trim_end();
    at_clauses(&Snippet { text: format!("{cut}…"), marks: Vec::new() })
}

/// Returns the last clauses of a text: at most `limit` bytes and an ellipsis, without line feeds.
pub(super) fn last_clauses(text: &str, limit: usize) -> String {
    let text = single_spaced(text);
    if text.len() <= limit {
        return text;
    }
    let kept = text[text.ceil_char_boundary(text.len() - limit)..].trim_start();
    let text = format!("…{kept}");
    // The end counts as a match, so that only the start is cut.
    let end = text.len()..text.len();
    at_clauses(&Snippet { text, marks: vec![end] })
}

const SENTENCE_ENDS: [char; 7] = ['.', '!', '?', ';', '。', '！', '？'];
const CLAUSE_ENDS: [char; 11] = ['.', '!', '?', ';', ',', ':', '。', '！', '？', '，', '；'];

/// Returns the positions after the punctuation marks that end a clause. An ASCII mark ends a clause
/// only before a space or an ellipsis, because `1.5` is a number.
fn ends<'t>(text: &'t str, marks: &'t [char]) -> impl Iterator<Item = usize> + 't {
    text.char_indices().filter_map(move |(at, c)| {
        let end = at + c.len_utf8();
        let is_end = marks.contains(&c) && (!c.is_ascii() || text[end..].starts_with([' ', '…']));
        is_end.then_some(end)
    })
}

/// Whether a passage is part of a summary rather than a message.
pub(super) fn is_summary(passage: &MatchedPassage) -> bool {
    Role::parse(&passage.role).is_none()
}

/// Removes passages that repeat an earlier passage, which is better. Also removes passages that
/// only repeat the title, short parts of a summary, courtesies and the agent's announcements of its
/// next step, if other passages remain. Of a summary and a message with the same content, the
/// message is kept, because a model can read the messages after it.
pub(super) fn remove_copies(passages: &mut Vec<MatchedPassage>, title: &str) {
    let mut kept: Vec<ComparedPassage> = Vec::new();
    for passage in passages.drain(..).map(ComparedPassage::of) {
        match kept.iter().position(|better| better.is_same(&passage)) {
            Some(same) if kept[same].is_summary() && !passage.is_summary() => kept[same] = passage,
            None if !kept.iter().any(|better| better.covers(&passage)) => kept.push(passage),
            Some(_) | None => {}
        }
    }
    let title = Shingles::of(title);
    let says_more = |one: &ComparedPassage| {
        !says_nothing(&one.passage) && title.share_of(&one.shingles) < MIN_COVERED_SHARE
    };
    if kept.iter().any(says_more) {
        kept.retain(says_more);
    }
    passages.extend(kept.into_iter().map(|one| one.passage));
}

/// Whether a passage is a short part of a summary, a courtesy, the agent's announcement of its next
/// step, or a call of our own tools, which only repeats an earlier question.
pub(super) fn says_nothing(passage: &MatchedPassage) -> bool {
    let text = &passage.text;
    let is_short = is_summary(passage) && text.len() < SHORT_SUMMARY;
    let is_agent = passage.role == Role::Agent.as_str();
    let tool = text.split(':').next().filter(|_| passage.role == Role::Tool.as_str());
    let is_own_call = tool.is_some_and(|tool| tool.contains("graphiti") && !tool.contains(' '));
    is_short || is_own_call || is_courtesy(text) || is_agent && announcement::announces(text)
}

/// Maximum length, in bytes, of a courtesy.
const LONGEST_COURTESY: usize = 60;
const COURTESIES: &str = " you you're re are welcome thanks thank very much so ok okay great nice perfect good \
     glad happy to help my pleasure anytime any time sure of course sounds got it alright noted \
     understood cheers awesome cool ";

/// Whether a text consists only of courtesies such as "You are welcome!".
pub(super) fn is_courtesy(text: &str) -> bool {
    if text.len() > LONGEST_COURTESY {
        return false;
    }
    let text = text.to_lowercase().replace('’', "'").replace("no problem", "okay");
    let mut words = text
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .peekable();
    words.peek().is_some() && words.all(|word| COURTESIES.contains(&format!(" {word} ")))
}

/// A passage with its shingles.
struct ComparedPassage {
    passage: MatchedPassage,
    shingles: Shingles,
}

impl ComparedPassage {
    fn of(passage: MatchedPassage) -> ComparedPassage {
        ComparedPassage { shingles: Shingles::of(&passage.text), passage }
    }

    fn is_summary(&self) -> bool {
        is_summary(&self.passage)
    }

    fn is_tool(&self) -> bool {
        self.passage.role == Role::Tool.as_str()
    }

    /// Whether two passages have the same content. Two passages of tools have the same content only
    /// if they are a call and its result, because a command may run again with another result.
    fn is_same(&self, other: &ComparedPassage) -> bool {
        let is_next = self.passage.source == other.passage.source
            && self.passage.seq.abs_diff(other.passage.seq) == 1;
        if self.is_tool() && other.is_tool() && !is_next {
            return false;
        }
        let (one, other) = (&self.shingles, &other.shingles);
        one.share_of(other).min(other.share_of(one)) >= MIN_SAME_SHARE
    }

    /// Whether this passage contains the text of `other`; false for passages of tools.
    fn covers(&self, other: &ComparedPassage) -> bool {
        !self.is_tool() && self.shingles.share_of(&other.shingles) >= MIN_COVERED_SHARE
    }
}

/// The shingles of a text; a text with fewer than [`SHINGLE_WORDS`] words is one shingle.
struct Shingles(HashSet<Vec<String>>);

impl Shingles {
    fn of(text: &str) -> Shingles {
        let text = text.to_lowercase();
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_owned).collect();
        let runs = words.windows(words.len().clamp(1, SHINGLE_WORDS));
        Shingles(runs.map(<[String]>::to_vec).collect())
    }

    /// Returns the share of the shingles of `other` that this text contains, from 0 to 1.
    fn share_of(&self, other: &Shingles) -> f32 {
        if other.0.is_empty() {
            return 0.0;
        }
        other.0.intersection(&self.0).count() as f32 / other.0.len() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clauses(text: &str, marked: &str) -> String {
        let start = text.find(marked).unwrap();
        let mark = start..start + marked.len();
        at_clauses(&Snippet { text: text.to_owned(), marks: vec![mark] })
    }

    #[test]
    fn a_passage_is_cut_at_ends_of_clauses_and_keeps_its_matches() {
        let cut = "…of it. The pool was full, so I raised the limit to 20. Then the tests of…";
        assert_eq!(clauses(cut, "pool"), "…The pool was full, so I raised the limit to 20.…");
        assert_eq!(
            clauses(cut, "tests"),
            "…The pool was full, so I raised the limit to 20. Then the tests of…"
        );
        assert_eq!(
            clauses(cut, "of it"),
            "…of it. The pool was full, so I raised the limit to 20.…"
        );
        let whole = "It is 1.5 now. All of it";
        assert_eq!(clauses(whole, "now"), whole);
        assert_eq!(
            clauses("我修复了超时，现在测试都通过了。然后…", "测试"),
            "我修复了超时，现在测试都通过了。…"
        );
        assert_eq!(clauses("…", "…"), "…");
    }

    #[test]
    fn a_passage_ends_neither_with_the_announcement_of_a_list_nor_with_a_number_of_the_list() {
        for (text, wanted) in [
            (
                "The pool was full, the tests failed. I changed two things: the limit of…",
                "The pool was full, the tests failed. I changed two things: the limit of…",
            ),
            (
                "The pool was full, so the tests failed. Changes:…",
                "The pool was full, so the tests failed.…",
            ),
            (
                "The pool was full, so the tests failed. Changes: 1.…",
                "The pool was full, so the tests failed.…",
            ),
            (
                "The pool: 1. Raise the limit. 2. Close the files. 3.…",
                "The pool: 1. Raise the limit. 2. Close the files.…",
            ),
            (
                "The pool: 1. Raise the limit 2. Close the files 3. Run…",
                "The pool: 1. Raise the limit 2. Close the files 3. Run…",
            ),
            (
                "The pool: 1. Raise the limit 2. Close the files 3.…",
                "The pool: 1. Raise the limit 2. Close the files…",
            ),
            // Sentences may end with a number.
            (
                "The pool was full, so I raised the limit to 20. Then…",
                "The pool was full, so I raised the limit to 20.…",
            ),
            (
                "The pool has two requests; the limit is 3. Then the…",
                "The pool has two requests; the limit is 3.…",
            ),
            (
                "The pool was released at 10:30, as version 1.2. Then the…",
                "The pool was released at 10:30, as version 1.2.…",
            ),
        ] {
            assert_eq!(clauses(text, "pool"), wanted);
        }
        assert_eq!(clauses("The causes: 1. The pool. 2.…", "2."), "The causes: 1. The pool. 2.…");
    }

    #[test]
    fn a_passage_begins_with_the_sentence_of_its_first_match() {
        let text = "…the end. One more, too. The pool, which was full, is now the cause of it all";
        assert_eq!(clauses(text, "full"), "…The pool, which was full, is now the cause of it all");
    }

    #[test]
    fn the_first_clauses_of_a_text_fit_the_limit() {
        assert_eq!(first_clauses("One,\n two.", 40), "One, two.");
        assert_eq!(
            first_clauses("I raised it to 20, because it was full", 30),
            "I raised it to 20, because it…"
        );
        assert_eq!(first_clauses("I raised it to 20. Then I rested", 24), "I raised it to 20.…");
        assert_eq!(first_clauses("ööö", 3), "ö…");
    }

    #[test]
    fn the_last_clauses_of_a_text_fit_the_limit() {
        assert_eq!(last_clauses("One,\n two?", 40), "One, two?");
        assert_eq!(
            last_clauses("There are two. Is it the apple or the quince that you want?", 50),
            "…Is it the apple or the quince that you want?"
        );
        assert_eq!(last_clauses("ööö", 3), "…ö");
    }

    #[test]
    fn courtesies_do_not_take_the_place_of_other_passages() {
        let answer = "the quince, because it keeps longer";
        let both = vec![passage("assistant", 3, "You’re welcome!"), passage("user", 1, answer)];
        assert_eq!(left(both, "T"), [("user".to_owned(), 1)]);
        assert_eq!(left(vec![passage("user", 1, "Thanks")], "T").len(), 1);
        assert!(is_courtesy("Glad to help, any time."));
        assert!(is_courtesy("No problem!"));
        for text in
            ["No.", "Right.", "You are welcome to merge it", "No problem in the pool", "…", ""]
        {
            assert!(!is_courtesy(text), "{text}");
        }
    }

    #[test]
    fn announcements_do_not_take_the_place_of_other_passages() {
        let look = "Let me get the log of the pool.";
        let answer = "The pool was full because of the log";
        let both = vec![passage("assistant", 1, look), passage("user", 2, answer)];
        assert_eq!(left(both, "T"), [("user".to_owned(), 2)]);
        assert_eq!(left(vec![passage("assistant", 1, look)], "T").len(), 1);
        // The user may announce a step, and an agent may announce an answer.
        for kept in [
            passage("user", 1, look),
            passage("assistant", 1, "Let me explain: the pool is full"),
            passage("assistant", 1, "I'll keep the pool at 20."),
        ] {
            assert_eq!(left(vec![kept, passage("user", 2, answer)], "T").len(), 2);
        }
    }

    #[test]
    fn calls_of_our_own_tools_do_not_take_the_place_of_other_passages() {
        let answer = passage("user", 2, "Let us stop at five attempts");
        let call = |tool: &str| passage("tool", 1, &format!("{tool}: query=attempts → ok"));
        for own in ["mcp__graphiti__search_sessions", "mcp_graphiti_search_sessions"] {
            assert_eq!(left(vec![call(own), answer.clone()], "T"), [("user".to_owned(), 2)]);
        }
        let command = call("Bash: graphiti search");
        assert_eq!(left(vec![command, answer], "T").len(), 2);
    }

    fn passage(role: &str, seq: u32, text: &str) -> MatchedPassage {
        let (role, text) = (role.to_owned(), text.to_owned());
        MatchedPassage { role, seq, text, ..MatchedPassage::default() }
    }

    /// Returns the roles and numbers of the remaining passages.
    fn left(mut passages: Vec<MatchedPassage>, title: &str) -> Vec<(String, u32)> {
        remove_copies(&mut passages, title);
        passages.into_iter().map(|one| (one.role, one.seq)).collect()
    }

    #[test]
    fn passages_that_repeat_the_title_or_other_passages_are_removed() {
        let title = "Fix the login timeout of the API";
        let passages = vec![
            passage("title", 0, title),
            passage("objective", 0, "Fix the login timeout of the API, today"),
            passage("user", 1, title),
            passage("body", 0, "cargo test"),
            passage("body", 0, "Asked last: the pool was full, I raised the limit to 20."),
            passage("user", 2, "ok the pool was full, I raised the limit to 20"),
            passage("user", 3, "The pool was full, I raised the limit to 20"),
            passage("decisions", 0, "20 rather than 40"),
        ];
        let wanted = [("user".to_owned(), 2), ("decisions".to_owned(), 0)];
        assert_eq!(left(passages, title), wanted);
        assert_eq!(left(vec![passage("user", 0, title)], title).len(), 1);
        assert_eq!(left(vec![passage("user", 0, "")], title).len(), 1);
    }

    #[test]
    fn a_long_text_that_contains_a_better_short_one_is_kept() {
        let question = "why is the pool of the API full";
        let reply = format!(
            "You ask {question}: because each request holds two connections and never returns them"
        );
        let both = vec![passage("user", 1, question), passage("assistant", 2, &reply)];
        assert_eq!(left(both, "T").len(), 2);
        let covered = vec![passage("assistant", 2, &reply), passage("user", 1, question)];
        assert_eq!(left(covered, "T"), [("assistant".to_owned(), 2)]);
    }

    #[test]
    fn a_call_and_its_result_are_one_passage() {
        let command = "cargo test -p graphitid --lib api::tools::passages";
        let passages = vec![
            passage("tool", 7, &format!("Bash: {command} # Test")),
            passage("tool", 8, &format!("Bash: `{command}` → ok")),
            passage("tool", 12, &format!("Bash: `{command}` → failed")),
        ];
        assert_eq!(left(passages, ""), [("tool".to_owned(), 7), ("tool".to_owned(), 12)]);
    }
}
