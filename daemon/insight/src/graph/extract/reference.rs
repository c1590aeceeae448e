//! Finds references of a sentence to something outside of it, which a reader without the session
//! does not know.

use crate::{
    pattern::pattern,
    report::{Topic, is_phrase},
};

/// Number of words at the start of a sentence that are searched for a pronoun as object.
const MAX_SEARCHED_WORDS: usize = 5;

/// Words after which a pronoun does not stand for the object of the words before.
const CONJUNCTIONS: &[&str] = &[
    "and", "as", "because", "but", "if", "once", "or", "since", "so", "than", "that", "unless",
    "until", "when", "where", "whether", "which", "while", "why",
];

/// Whether a sentence refers to an earlier sentence, usually by a pronoun at its beginning.
pub(super) fn points_back(text: &str) -> bool {
    is_phrase(Topic::BackReference, text)
        || !text.starts_with("Asked: ") && has_dangling_object(text)
        || pattern!(r"(?i)^(?:both(?: of)?|these|those|either|neither) [a-z]").is_match(text)
            && !pattern!(r"(?i)^(?:both|either|neither) \S+ (?:and|or|nor) ").is_match(text)
}

/// Whether one of the first words is a pronoun for an object in an earlier sentence, for example
/// `The backend has it in a table`. After a conjunction, the pronoun may refer to the subject.
fn has_dangling_object(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().take(MAX_SEARCHED_WORDS).collect();
    words.windows(2).any(|pair| {
        let before = pair[0].trim_end_matches(',').to_lowercase();
        matches!(pair[1], "it" | "them") && !CONJUNCTIONS.contains(&before.as_str())
    })
}

/// Whether a text uses a label that only its session defines, for example `Finding 2`, `Option B`
/// or `H1, H2`.
pub(super) fn uses_session_label(text: &str) -> bool {
    pattern!(
        r"(?:\b(?i:findings?|options?|issue|approach|alternative|optimi[sz]ation|recommendation|suggestion|item|point|question|problem) (?:#?\d{1,2}|[A-H])\b)|\b[CHML]\d{1,2}(?:, (?:and )?[CHML]\d{1,2})+\b"
    )
    .is_match(text)
}

/// Whether a text begins with a file or a number of things that are not named, for example `3
/// files` or `the py file`.
pub(super) fn begins_with_unnamed_count(text: &str) -> bool {
    pattern!(
        r"(?i)^(?:the |all |these |those |only )?(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|several|some) (?:\w+ )?(?:files?|tests?|places?|commits?|issues?|errors?|findings?|changes?|functions?|modules?|components?|lines?|warnings?)\b"
    )
    .is_match(text)
        || pattern!(r"(?i)^(?:the|this|that|a) \w{2,10} (?:file|script|folder|one|config)\b").is_match(text)
}

/// Whether a text refers to a number of things that are not named, for example `keep the three
/// files`.
pub(super) fn counts_unnamed_objects(text: &str) -> bool {
    pattern!(
        r"(?i)\b(?:the|these|those|all|both|other|remaining) (?:\d{1,2}|two|three|four|five|six|seven|eight|nine|ten) (?:\w+ )?(?:files?|tests?|places?|commits?|issues?|errors?|findings?|changes?|functions?|modules?|lines?|warnings?|options?|points?|items?|ones|things?|steps?|prs)\b"
    )
    .is_match(text)
        && !text.contains(['`', ':', '/'])
}

/// Whether a text refers to a file only by its extension, for example `the py file`.
pub(super) fn names_bare_file(text: &str) -> bool {
    pattern!(r"(?i)\bthe (?:py|ts|js|go|rs|rb|java|json|ya?ml|toml|md|sql|sh|css|html|txt|csv) (?:file|one)s?\b")
        .is_match(text)
}

/// Whether an open end contains a pronoun that refers to something outside of it. The pronoun of a
/// relative clause, as in `a test that is slow`, refers to its noun.
pub(super) fn open_end_has_external_pronoun(text: &str) -> bool {
    let relative = pattern!(
        r"(?i)\b(an?|the|each|every|any|all|no|one|another) ((?:[\w.-]+ ){0,2})([\w.-]+|`[^`]+`) that (is|was)\b"
    );
    let text = relative.replace_all(text, |found: &regex::Captures<'_>| {
        let follows_noun = !CONJUNCTIONS.contains(&found[3].to_lowercase().as_str());
        let pronoun = if follows_noun { "which" } else { "that" };
        format!("{} {}{} {pronoun} {}", &found[1], &found[2], &found[3], &found[4])
    });
    has_external_pronoun(&text)
}

/// Whether the text contains a pronoun that refers to something outside of it.
pub(super) fn has_external_pronoun(text: &str) -> bool {
    pattern!(r"(?i)\b(?:this|that|these)(?: (?:in|on|for|to|with|from|by|is|was|be)\b|[?.,;:]|$)|\bthese \d|\bwhatever (?:it|they)\b")
        .is_match(text)
}

/// Whether the subject of a sentence is a thing without a name, for example `The guard is …` or
/// `Our new test …`. Only the text before the sentence, or the task of the session, identifies the
/// thing. The article may be missing: `Guard lives in …`.
pub(super) fn has_bare_subject(text: &str) -> bool {
    let without_article = pattern!(
        r"^(?:Cache|Check|Config|Cookie|Default|Endpoint|Error|Field|Fix|Flag|Guard|Handler|Header|Helper|Hook|Key|Limit|Lock|Loop|Parser|Path|Query|Retry|Schema|Script|Server|Session|Setting|State|Test|Timeout|Token|Type|Validation|Value|Wrapper)(?: [a-z]+)? (?:is|are|was|has|does|can|cannot|must|should|will|only|already|also|never|lives?|sits?|[a-z]+s)\b"
    );
    without_article.is_match(text) || pattern!(
        r"^(?i:but |and |so |also |yes[,.] |no[,.] )*(?i:the|this|that|these|those|our|your|my|its|their|both|all|each|every|either) (?:(?:new|old|current|existing|same|first|second|last|other|only|main|real|actual|two|three) )*[a-z][a-z-]*(?: [a-z][a-z-]*)? (?:is|are|was|were|has|have|had|does|do|did|will|would|can|cannot|could|should|must|may|might|needs?|only|already|also|never|always|not|no|isn.t|aren.t|doesn.t|don.t|won.t|can.t|[a-z]+s)\b"
    )
    .is_match(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_only_the_session_defines_are_found() {
        for (text, wanted) in [
            ("Finding 1 is a feature that the code documents", true),
            ("Option A (neutral copy) is the smaller fix", true),
            ("address the following findings: H1, H2, L4", true),
            ("Optimization #6 needs the cache", true),
            ("Issue #112 of the parser is about dates", false),
            ("The option `-A` must come first", false),
            ("HTTP/2 needs TLS on port 443", false),
        ] {
            assert_eq!(uses_session_label(text), wanted, "{text}");
        }
    }

    #[test]
    fn references_to_an_earlier_sentence_are_found() {
        for (text, wanted) in [
            ("The backend has it in a table", true),
            ("Both options are off in `.env`", true),
            ("Potentially yes, but only for hosted repositories", true),
            ("Mostly, but `parse()` never fails", true),
            ("It never opens a file", true),
            ("Both `a.rs` and `b.rs` read it", false),
            ("`parse()` fails if it reads a date", false),
            ("The parser keeps a row and skips it later", false),
        ] {
            assert_eq!(points_back(text), wanted, "{text}");
        }
    }

    #[test]
    fn counted_objects_without_names_are_found() {
        for (text, wanted) in [
            ("Keep the three files", true),
            ("we don't need the other two tests", true),
            ("Keep the three files: a table, its index and its key", false),
            ("Keep the two files `a.rs` and `b.rs`", false),
            ("Keep three rows for each day", false),
        ] {
            assert_eq!(counts_unnamed_objects(text), wanted, "{text}");
        }
    }

    #[test]
    fn requests_about_things_of_the_conversation_are_found() {
        for (text, wanted) in [
            ("apply the fixes you suggest", true),
            ("address all the findings", true),
            ("fix all issues and commit", true),
            ("address the comments that are valid", true),
            ("fix the errors of the parser", false),
            ("review the changes in `parse.rs`", false),
            ("add limits to the uploads", false),
        ] {
            assert_eq!(is_phrase(Topic::UnnamedObject, text), wanted, "{text}");
        }
    }

    #[test]
    fn references_to_the_conversation_are_found() {
        for (text, wanted) in [
            ("The key that you asked about is derived from `seed`", true),
            ("As mentioned above, `parse()` never fails", true),
            ("The PR is missing a changelog for `v0.5.0`", true),
            ("This branch has no tests of `parse()`", true),
            ("The comments of `parse()` are for your use case only", true),
            ("The CodeRabbit comment is just a summary, with no review comments", true),
            ("Versions above 1.2 need `seed`", false),
            ("The branch of the parser that reads dates never fails", false),
            ("`git describe` reads the commit and its tags", false),
        ] {
            assert_eq!(is_phrase(Topic::SessionReference, text), wanted, "{text}");
        }
    }

    #[test]
    fn subjects_without_a_name_are_found() {
        for (text, wanted) in [
            ("The guard is only reached with a query", true),
            ("Our new test needs Redis", true),
            ("The cache is written at the end", true),
            ("The `parse()` guard is only reached with a query", false),
            ("The Linear MCP server doesn't expose an `issue`", false),
            ("GitHub sends no event for it", false),
            ("Guard lives in `authorizationURL`", true),
            ("Retry logic is only in `send()`", true),
            ("Checks of `parse()` never fail", false),
        ] {
            assert_eq!(has_bare_subject(text), wanted, "{text}");
        }
    }
}
