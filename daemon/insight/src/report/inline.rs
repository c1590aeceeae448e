//! Handles parts of Markdown text: labels, table cells, and sentences that continue in code.

use crate::report::{phrases::topic_of_heading, topic::Topic};
use crate::text::{one_line, pattern, sentence_ends, sentences};

/// Whether a tag is a placeholder for a value. Other tags are omitted, because they may imitate the
/// markup of an agent's own prompts.
pub(super) fn is_placeholder(html: &str) -> bool {
    pattern!(r"^<(?:TAB|SP|LF|CR|EOF|ID|N|NAME|KEY|VALUE|PATH|FILE|URL|HASH|DATE|VERSION|BRANCH)>$")
        .is_match(html)
}

/// Whether the heading of a table column announces plans or parts of a plan.
pub(super) fn is_plan_column(column: &str) -> bool {
    pattern!(r"(?i)^\W*(?:waves?|plans?|phases?|milestones?|objectives?|what it (?:builds|does)|estimate|effort)\W*$")
        .is_match(&one_line(column))
}

/// Whether a text before a code block is a sentence without its end: it ends in a letter, a digit,
/// a colon or a comma.
pub(super) fn is_unfinished(text: &str) -> bool {
    let text = text.trim_end();
    text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ':' | ','))
}

/// Maximum length, in bytes, of a line of code that completes the sentence before it.
const CODE: usize = 80;

/// Returns a text together with the code that follows it, if the code is one short line without
/// backticks. Otherwise returns [`before_code`].
pub(super) fn with_code(text: &str, code: &str) -> String {
    let text = text.trim_end().trim_end_matches(':');
    let code = code.trim();
    match !code.is_empty() && code.len() <= CODE && !code.contains(['\n', '`']) {
        true => format!("{text} `{}`", code.replace('\t', "\\t")),
        false => before_code(text),
    }
}

/// Returns the text before a code block. Leaves out the last clause, unless the last sentence says
/// what was done and is complete.
fn before_code(text: &str) -> String {
    let says_what_was_done = pattern!(
        r"(?i)(?:^|[.!?] )(?:i(?:['’]ve| have)? |we )?(?:now |also )?(?:added|changed|created|disabled|enabled|fixed|moved|removed|renamed|replaced|rewrote|set|switched|turned|updated) \S+ (?:\S+ ){3,}\S+$"
    );
    let breaks_off = pattern!(
        r"(?i)\b(?:to|with|as|is|are|be|being|this|these|follows|like|so|from|into|by|below|following|here|in|for|of|and|using|it|the|a|an|looks?|format|shape|form|config|command|code|version|output|block)$"
    );
    if says_what_was_done.is_match(text) && !breaks_off.is_match(text) {
        return text.to_owned();
    }
    let ends = text.match_indices([',', ';']).map(|(at, _)| at);
    let end = ends.chain(sentence_ends(text)).filter(|at| *at < text.len()).max();
    text[..end.unwrap_or(0)].trim_end_matches([',', ';', ' ']).to_owned()
}

/// Whether bold text after `text` may be a label: only marks, numbers and brackets come before it,
/// as in `[P1] **Race**`.
pub(super) fn may_precede_label(text: &str) -> bool {
    pattern!(r"^(?:[^\p{L}]|[\[(][^\])]{1,16}[\])])*$").is_match(text)
}

/// Whether a cell of a table is empty or contains only dashes.
pub(super) fn is_blank(cell: &str) -> bool {
    cell.trim_matches(['-', '—', '–', ' ']).is_empty()
}

/// Whether the first cell of a row contains only the number or the letter of the row, such as `#3`.
pub(super) fn is_mark(cell: &str) -> bool {
    let cell = cell.trim_start_matches('#');
    cell.len() <= 2 && cell.chars().all(char::is_alphanumeric)
}

/// Returns a cell with the heading of its column if the cell cannot be understood alone, for
/// example `Yes` below `Needs a restart?`, or a number.
pub(super) fn with_column(column: &str, cell: &str) -> String {
    let column = one_line(column);
    let column = column.trim_matches(['*', ':', ' ']);
    let answers = pattern!(r"(?i)^\W*(?:yes|no|none|n/a|before|partial(?:ly)?|never|always|sometimes|optional|high|medium|low)\b|^\W*~?[0-9.,]+ ?(?:%|[A-Za-z]{0,3})(?: ?\([^()]{1,24}\))?\W*$|^~$|^[✓✗✅❌]")
        .is_match(cell);
    let is_status = pattern!(r"(?i)^(?:status|state|result|verdict|severity|priority|details?|description|notes?|change|what|resolution|fix|action)s?$").is_match(column);
    if column.is_empty() || is_status || !(answers || column.ends_with('?')) {
        return cell.to_owned();
    }
    // With its question mark, the column would be a separate sentence.
    format!("{}: {cell}", column.trim_end_matches('?'))
}

/// Whether the text after bold words is only an aside before a list, for example `` (`a.rs`):``.
pub(super) fn is_aside(rest: &str) -> bool {
    pattern!(r"^ ?\([^()]{1,90}\) ?:$").is_match(rest.trim_end())
}

/// Whether a line begins with the number of an item, for example `1. Speed`.
pub(super) fn is_numbered(line: &str) -> bool {
    pattern!(r"^[0-9]{1,2}[.)] ").is_match(line)
}

/// Whether a bold line is a verdict, such as `Verdict: ship it.`, or a sentence, rather than a
/// heading.
pub(super) fn is_stated(line: &str) -> bool {
    is_sentence(line) || pattern!(r"(?i)^\W*(?:overall|(?:final |overall )?verdict|conclusion|bottom line|result|recommendation)(?::| [—–-]) *[^\s:]+ ")
        .is_match(line)
}

/// Whether a bold text is a sentence: it has several words and ends with a full stop.
fn is_sentence(text: &str) -> bool {
    text.trim_end().ends_with('.') && text.split_whitespace().count() >= 5 && !is_numbered(text)
}

/// Returns `Some(false)` for an item that begins with a symbol that means the same as an empty
/// check box. A cross does not count, because it also marks faults and disadvantages.
pub(super) fn ticked(text: &str) -> Option<bool> {
    text.trim_start().starts_with(['⏳', '⌛', '☐', '⬜', '🔲', '🕐']).then_some(false)
}

/// The mark of struck text, and its replacement in a passage until
/// [`one_line`] removes it.
pub(super) const STRUCK: &str = "~~";

/// Whether a text consists of struck text and at most a remark on this text, as in
/// `~~Add a retry~~ (done)`.
pub(super) fn is_struck_out(text: &str) -> bool {
    let remark = pattern!(
        r"(?i)^\W*(?:(?:(?:already |now )?(?:done|fixed|resolved|completed?|implemented|addressed|removed|dropped|obsolete|cancell?ed|skipped|merged|shipped)|(?:no longer|not) (?:needed|required|relevant|necessary))(?: (?:in|by|via|as) .*)?)?\W*$"
    );
    text.trim_start().strip_prefix(STRUCK).is_some_and(|rest| remark.is_match(rest))
}

/// Splits a text into its bold start, if this is a label, and the rest.
pub(super) fn split_label(text: &str, label_end: Option<usize>) -> (Option<String>, String) {
    let Some(end) = label_end.filter(|end| text.is_char_boundary(*end)) else {
        return (None, text.to_owned());
    };
    let (label, rest) = text.split_at(end);
    let inside = one_line(label);
    if rest.trim().is_empty() && is_sentence(&inside) {
        return (None, text.to_owned());
    }
    // Bold text in the middle of a sentence is not a label. Neither is the first word of a sentence
    // such as `**No** API changes were made`.
    let is_determiner =
        pattern!(r"(?i)^(?:no|not|never|none|nothing|zero|without|only|all|both|every|each)$")
            .is_match(&inside);
    let continues = rest.trim_start().chars().next();
    let aside = pattern!(r"^(\([^()]{1,90}\)) ?(?:[:—–-]\s*)|^(\([^()]*\))$");
    let is_label = inside.ends_with([':', '.', '!'])
        || continues.is_none_or(|next| matches!(next, ':' | '—' | '–' | '-' | '→'))
        || aside.is_match(rest.trim_start())
        || rest.trim_start().starts_with(char::is_uppercase) && !is_determiner;
    if !is_label || inside.is_empty() || inside.len() > 160 {
        return (None, text.to_owned());
    }
    let rest = rest.trim_start().trim_start_matches([':', '—', '–', '-']).trim_start();
    let inside = inside.trim_end_matches([':', '.', '!']).trim().to_owned();
    // `**Overview table** (line 14): changed` is labelled `Overview table (line 14)`.
    match aside.captures(rest) {
        Some(aside) => {
            let brackets = aside.get(1).or(aside.get(2)).map_or("", |text| text.as_str());
            (Some(format!("{inside} {brackets}")), rest[aside[0].len()..].to_owned())
        }
        None => (Some(inside), rest.to_owned()),
    }
}

/// Whether the bold start of a text, up to `end`, is a line of at most `longest` bytes without
/// final punctuation. Such a line labels the lines below it.
pub(super) fn is_label_line(text: &str, end: usize, longest: usize) -> bool {
    let line = one_line(&text[..end]);
    text[end..].starts_with('\n')
        && (1..=longest).contains(&line.len())
        && line.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '`'))
        && !line.contains(": ")
        && !is_numbered(&line)
}

/// Minimum number of words of a statement before a short introduction of a list.
const MIN_STATEMENT_WORDS: usize = 4;

/// Splits a text into the statement at its start and the last sentence, which introduces a list.
/// `None` if the text has no such statement. Before an introduction such as `Here's what I
/// changed:`, only a text that begins with `All`, `Both` or a number is a statement. Other texts
/// there usually praise the work, for example `The fix is complete.`
pub(super) fn statement_and_introduction(text: &str) -> Option<(String, String)> {
    let all = sentences(text);
    let [before @ .., last] = all.as_slice() else { return None };
    let here = pattern!(r"(?i)^here.s (?:a|the|what|how|your)\b|^(?:here (?:is|are)|let me)\b");
    let counts = pattern!(r"(?i)^(?:all|both|\d+)\b");
    let is_statement = before.iter().any(|one| one.split(' ').count() >= MIN_STATEMENT_WORDS)
        && (!here.is_match(last) || counts.is_match(before[0]));
    let end = text.rfind(*last)?;
    is_statement.then(|| (text[..end].trim_end().to_owned(), (*last).to_owned()))
}

/// Maximum length, in bytes, of a line that is a separate statement.
const LINE: usize = 110;

/// Whether the line at the end of `before` and the line at the start of `after` are separate
/// statements: the second line has a label, as in `Files: 3`, and the first line has a label, too,
/// or is short.
pub(super) fn is_line_alone(before: &str, after: &str) -> bool {
    let start = before.rfind("; ").map_or(0, |at| at + 2);
    let (before, after) = (&before[start..], after.split('\n').next().unwrap_or_default());
    let has_label = |line: &str| pattern!(r"^\W{0,3}[A-Z][A-Za-z0-9 -]{1,28}: ").is_match(line);
    before.len() <= LINE
        && before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '`' | ')' | '/' | '"'))
        && has_label(after)
        && (has_label(before) || before.len() <= LINE / 2)
}

/// Whether the columns of a table are lists side by side, for example `Completed` and `Remaining`.
pub(super) fn are_lists(columns: &[String]) -> bool {
    let is = |wanted| move |column: &String| topic_of_heading(column) == Some(wanted);
    columns.len() == 2 && columns.iter().any(is(Topic::Done)) && columns.iter().any(is(Topic::Open))
}
