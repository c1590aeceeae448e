//! The keywords of activities (section 2.2 of the specification intelligent-session-summarization),
//! and the search for all of them in one pass over a text.
//!
//! Only whole words match: `address` does not contain `add`. The search also finds inflected forms
//! such as `fixing`, `failed` and `installation`.

mod scanner;

use std::{collections::BTreeSet, ops::Range, sync::LazyLock};

use crate::{
    activity::keywords::scanner::{Edge, KeywordScanner, Pattern, edges},
    model::activity::Activity,
};

/// Words found in texts, in the spelling of the tables, without duplicates.
pub(crate) type MatchedWords = BTreeSet<String>;

/// The `INTENT_KEYWORDS` of the specification, without inflected forms.
pub(crate) static INTENTS: &[(Activity, &[&str])] = &[
    (
        Activity::Building,
        &["implement", "add", "create", "build", "new feature", "develop", "make", "write"],
    ),
    (
        Activity::Fixing,
        &[
            "fix",
            "bug",
            "error",
            "broken",
            "not working",
            "issue",
            "debug",
            "resolve",
            "problem",
            "crash",
            "fail",
        ],
    ),
    (
        Activity::Configuring,
        &[
            "config",
            "setup",
            "install",
            "environment",
            "settings",
            ".env",
            "dependency",
            "package",
            "configure",
        ],
    ),
    (
        Activity::Exploring,
        &[
            "how does",
            "what is",
            "find",
            "search",
            "understand",
            "explain",
            "where",
            "why",
            "show me",
            "look at",
        ],
    ),
    (
        Activity::Refactoring,
        &[
            "refactor",
            "restructure",
            "clean up",
            "reorganize",
            "rename",
            "move",
            "simplify",
            "extract",
        ],
    ),
    (
        Activity::Reviewing,
        &["review", "check", "audit", "analyze", "examine", "inspect", "evaluate", "assess"],
    ),
    (
        Activity::Testing,
        &["test", "pytest", "unittest", "coverage", "verify", "spec", "assert", "mock", "fixture"],
    ),
    (
        Activity::Documenting,
        &["document", "readme", "comment", "explain", "docstring", "markdown", "guide", "tutorial"],
    ),
];

/// Irregular forms and other spellings of intent keywords.
static FORMS: &[(&str, &[&str])] = &[
    ("implement", &["implementation"]),
    ("build", &["built"]),
    ("new feature", &["new features"]),
    ("develop", &["development"]),
    ("make", &["made"]),
    ("write", &["wrote", "written"]),
    ("bug", &["bugfix", "bugfixes", "buggy"]),
    ("broken", &["broke", "breaks", "breaking"]),
    ("not working", &["doesn't work", "does not work", "isn't working", "didn't work"]),
    ("debug", &["debugging", "debugged", "debugger"]),
    ("fail", &["failure", "failures"]),
    ("config", &["configuration", "configurations"]),
    ("setup", &["set up", "set-up", "setting up"]),
    ("install", &["installation", "installer"]),
    ("environment", &["env var", "env vars"]),
    ("settings", &["setting"]),
    ("dependency", &["dependencies"]),
    ("how does", &["how do", "how is", "how are"]),
    ("what is", &["what's", "what are", "what does"]),
    ("find", &["found"]),
    ("understand", &["understood"]),
    ("explain", &["explanation"]),
    ("look at", &["looking at", "look into", "looking into"]),
    ("clean up", &["cleanup", "cleaning up", "cleaned up", "clean-up"]),
    ("reorganize", &["reorganise", "reorganised", "reorganising"]),
    ("simplify", &["simplification"]),
    ("extract", &["extraction"]),
    ("analyze", &["analyse", "analysed", "analysing", "analysis"]),
    ("inspect", &["inspection"]),
    ("evaluate", &["evaluation"]),
    ("unittest", &["unit test", "unit tests"]),
    ("verify", &["verification"]),
    ("spec", &["specs"]),
    ("document", &["documentation", "docs"]),
];

/// Keywords that get no regular endings. [`FORMS`] may list other forms of these keywords.
static UNCHANGED: &[&str] = &[
    "broken", "settings", ".env", "where", "why", "pytest", "coverage", "readme", "spec",
    "markdown",
];

/// The `FILE_PATTERNS` of the specification. A dot, `_` or `/` at either end of a pattern
/// determines which text may be next to it: see [`scanner::Edge`].
pub(crate) static FILES: &[(Activity, &[&str])] = &[
    (
        Activity::Configuring,
        &[
            ".env",
            "config.",
            ".json",
            ".yaml",
            ".toml",
            "settings",
            "package.json",
            "requirements.txt",
            "Dockerfile",
            "docker-compose",
            ".gitignore",
        ],
    ),
    (
        Activity::Testing,
        &["test_", "_test.", ".spec.", "conftest.py", "__tests__", ".test.ts", ".test.js"],
    ),
    (
        Activity::Documenting,
        &["README", "CHANGELOG", "CONTRIBUTING", ".md", "docs/", "documentation/"],
    ),
];

/// The `error_indicators` of the specification, with their forms.
static ERRORS: &[&str] = &[
    "error",
    "errors",
    "exception",
    "exceptions",
    "failed",
    "traceback",
    "tracebacks",
    "crash",
    "crashes",
    "crashed",
];

/// Returns the intent keywords in `text`, without duplicates.
pub(crate) fn intents_in(text: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    INTENT_SCANNER.each(text, |word, _| {
        if !found.contains(&word) {
            found.push(word);
        }
    });
    found
}

/// Returns the activities whose intent keywords occur in `text`.
pub(crate) fn activities_in(text: &str) -> Vec<Activity> {
    let found = intents_in(text);
    let named = |(activity, words): &(Activity, &[&str])| {
        words.iter().any(|word| found.contains(word)).then_some(*activity)
    };
    INTENTS.iter().filter_map(named).collect()
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ErrorsAndFiles {
    /// Number of error indicators that are not negated.
    pub(crate) errors: u32,
    /// The file patterns, without duplicates.
    pub(crate) files: Vec<&'static str>,
}

pub(crate) fn errors_and_files_in(text: &str) -> ErrorsAndFiles {
    let mut marks = ErrorsAndFiles::default();
    MARK_SCANNER.each(text, |word, at| {
        if word == ERROR {
            marks.errors += u32::from(!is_negated(text, at));
        } else if !marks.files.contains(&word) {
            marks.files.push(word);
        }
    });
    marks
}

/// The keyword that is reported for a match of any of [`ERRORS`].
const ERROR: &str = "error";

/// Whether the text around an error indicator negates it: `0 errors`, `no error`, `failed: 0`.
fn is_negated(text: &str, at: Range<usize>) -> bool {
    let before = text[..at.start].trim_end_matches([' ', '\t']);
    let word = before.rsplit(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default();
    let after = text[at.end..].trim_start_matches(['s', ' ', ':', '=', '"']);
    let zero_follows = after.len() < text[at.end..].len()
        && after.starts_with('0')
        && !after[1..].starts_with(|next: char| next.is_alphanumeric());
    matches!(word, "0" | "no" | "No" | "without" | "zero")
        || (zero_follows && text[at.end..].trim_start_matches('s').starts_with([':', '=', '"']))
}

static INTENT_SCANNER: LazyLock<KeywordScanner> = LazyLock::new(|| {
    let patterns = INTENTS.iter().flat_map(|(_, words)| *words).flat_map(|word| {
        forms(word).into_iter().map(|form| Pattern {
            text: form,
            keyword: word,
            edges: edges(word),
        })
    });
    KeywordScanner::new(patterns.collect())
});

static MARK_SCANNER: LazyLock<KeywordScanner> = LazyLock::new(|| {
    let files = FILES.iter().flat_map(|(_, patterns)| *patterns).map(|pattern| Pattern {
        text: (*pattern).to_owned(),
        keyword: pattern,
        edges: edges(pattern),
    });
    let errors = ERRORS.iter().map(|word| Pattern {
        text: (*word).to_owned(),
        keyword: ERROR,
        edges: (Edge::Border, Edge::Border),
    });
    KeywordScanner::new(files.chain(errors).collect())
});

/// Returns a word and its inflected forms. Forms that do not exist in English are harmless.
fn forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned()];
    let irregular = FORMS.iter().find(|(base, _)| *base == word);
    forms.extend(irregular.iter().flat_map(|(_, forms)| *forms).map(|form| (*form).to_owned()));
    if UNCHANGED.contains(&word) || word.contains(' ') {
        return forms;
    }
    let without_e = word.strip_suffix('e');
    let without_y = word.strip_suffix('y');
    match (without_e, without_y) {
        (Some(stem), _) => {
            forms.extend(["es", "ed", "ing"].map(|ending| format!("{stem}{ending}")));
        }
        (_, Some(stem)) => {
            forms.extend(["ies", "ied", "ying"].map(|ending| format!("{stem}{ending}")));
        }
        _ => forms.extend(["s", "es", "ed", "ing"].map(|ending| format!("{word}{ending}"))),
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intents(text: &str) -> String {
        let mut found = intents_in(text);
        found.sort_unstable();
        found.join(" ")
    }

    #[test]
    fn keywords_are_found_as_whole_words_in_all_their_forms() {
        for (text, words) in [
            ("Fix the authentication bug", "bug fix"),
            ("I was fixing bugs, it failed", "bug fail fix"),
            ("the address in this thread is the latest", ""),
            ("What is this? It's not working!", "not working what is"),
            ("please look at process.env", "look at"),
            ("edit .env and .env.local", ".env"),
            ("the installation of dependencies", "dependency install"),
            ("simplifies, verified, moving", "move simplify verify"),
            ("prefix suffix fixture", "fixture"),
            ("addTodo()", "add"),
            ("specific specs", "spec"),
            ("EXPLAIN", "explain"),
            ("préfixé fixé", ""),
            ("", ""),
        ] {
            assert_eq!(intents(text), words, "{text}");
        }
    }

    #[test]
    fn a_word_of_two_activities_counts_for_both() {
        assert_eq!(activities_in("explain"), [Activity::Exploring, Activity::Documenting]);
    }

    #[test]
    fn error_indicators_count_unless_they_are_negated() {
        let errors = |text| errors_and_files_in(text).errors;
        for (text, count) in [
            ("error: it failed", 2),
            ("ImportError, TypeError and RuntimeException", 3),
            ("0 errors, 0 failed, no error", 0),
            ("10 errors, failed: 1", 2),
            ("errors: 0 failed=0", 0),
            ("terror mirrored", 0),
            ("Traceback (most recent call last)", 1),
            ("crashed\ncrash\n", 2),
        ] {
            assert_eq!(errors(text), count, "{text}");
        }
    }

    #[test]
    fn file_patterns_are_found_only_in_names() {
        let files = |text| {
            let mut files = errors_and_files_in(text).files;
            files.sort_unstable();
            files.join(" ")
        };
        for (text, found) in [
            ("src/app.config.ts", "config."),
            ("see package.json and a.jsonl", ".json package.json"),
            ("process.env", ""),
            ("cat .env", ".env"),
            ("tests/test_login.py", "test_"),
            ("latest_test.go", "_test."),
            ("docs/a.md README", ".md README docs/"),
            ("config. Then", ""),
            ("web/__tests__/a.test.ts", ".test.ts __tests__"),
        ] {
            assert_eq!(files(text), found, "{text}");
        }
    }
}
