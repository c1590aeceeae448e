//! Checks search queries.

use std::sync::LazyLock;

use graphitid::search::{
    query::{Query, dates},
    snippet::Highlighter,
};
use jiff::Zoned;

pub(super) const WORDS: &[&str] = &[
    "project:",
    "agent:claude",
    "date:yesterday",
    "after:2026-01-05",
    "before:march",
    "date:\"last week\"",
    "role:user",
    "in:decisions",
    "tool:Bash",
    "file:src/",
    "-docker",
    "-\"dry run\"",
    "\"exact phrase\"",
    "conf*",
    "3 days ago",
    "last week",
    "between ",
    " and ",
    "in 2025",
    "12:30",
    "since ",
    "until ",
    "Q3",
    "kw 12",
    "99999999999999 days ago",
    "-9999-01-01",
    "getUserName",
    "retry_count",
    "src/main.rs",
    "e\u{301}\u{301}",
    "ﬁ",
];

static NOW: LazyLock<Zoned> =
    LazyLock::new(|| "2026-03-05T12:00:00+01:00[+01:00]".parse().expect("a time"));

pub(super) fn check(bytes: &[u8]) {
    let text = super::text(bytes);
    let (question, document) = text.split_once('\n').unwrap_or((&text, &text));
    let mut query = Query::parse(question, &NOW);
    assert!(query.dates().iter().all(|range| range.from <= range.to), "{:?}", query.dates());
    assert!(!query.is_list() || query.text_for_embedding().len() <= question.len());
    assert!(query.text_for_embedding().len() <= question.len() + 16);
    for name in ["project", "agent", "date", "after", "role", "in", "x"] {
        query.require(name, question, &NOW);
    }
    dates::value(question, &NOW);
    for limit in [0, 40, 300] {
        let snippet = Highlighter::new(&query).snippet(document, limit);
        assert!(snippet.text.len() <= 2 * limit + 256, "{} of {limit} bytes", snippet.text.len());
        let mut last = 0;
        for mark in &snippet.marks {
            assert!(mark.start >= last && mark.start < mark.end, "{:?}", snippet.marks);
            assert!(snippet.text.get(mark.clone()).is_some(), "{snippet:?}");
            last = mark.end;
        }
    }
}
