//! Formats the reply of a code review. Codex requests this reply from its model as one JSON object.

use std::fmt::Write as _;

use serde::Deserialize;

/// The members that are printed. Codex's published source contains the schema
/// (`ReviewOutputEvent`).
#[derive(Deserialize)]
struct Review {
    findings: Vec<ReviewFinding>,
    overall_explanation: String,
    #[serde(default)]
    overall_correctness: String,
}

#[derive(Deserialize)]
struct ReviewFinding {
    title: String,
    body: String,
    code_location: Option<CodeLocation>,
}

#[derive(Deserialize)]
struct CodeLocation {
    absolute_file_path: String,
    line_range: LineRange,
}

#[derive(Deserialize)]
struct LineRange {
    start: u64,
}

/// Returns the reply of a review as Markdown; `None` for any other reply.
pub(super) fn as_markdown(reply: &str) -> Option<String> {
    let reply = reply.trim();
    if !reply.starts_with('{') {
        return None;
    }
    let review: Review = serde_json::from_str(reply).ok()?;
    let verdict = review.overall_correctness.trim();
    let mut markdown = match (verdict, review.findings.len()) {
        ("", _) => String::new(),
        (verdict, 0) => format!("Verdict of the review: {verdict}, no findings. "),
        (verdict, 1) => format!("Verdict of the review: {verdict}, 1 finding. "),
        (verdict, count) => format!("Verdict of the review: {verdict}, {count} findings. "),
    };
    markdown.push_str(&review.overall_explanation);
    if !review.findings.is_empty() {
        markdown.push_str("\n\n## Findings\n");
    }
    for ReviewFinding { title, body, code_location } in review.findings {
        let place = code_location.map(|location| {
            format!(" (`{}:{}`)", location.absolute_file_path, location.line_range.start)
        });
        let place = place.unwrap_or_default();
        let body = body.trim().replace('\n', "\n  ");
        // Writing to a string cannot fail.
        let _ = write!(markdown, "\n- **{title}**{place}: {body}");
    }
    Some(markdown)
}
