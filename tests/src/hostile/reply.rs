//! Checks the replies of models.

use std::sync::LazyLock;

use graphitid::{
    activity::classify::Unknowns,
    llm::{fuzzing, json, schema::Schema},
    model::{Evidence, activity::ActivityVector},
    prompt::kind::PromptKind,
    summarize::{
        self, markdown,
        pack::Packed,
        reply::{Claims, Grounds, merge},
    },
};
use serde_json::json;

pub(super) const WORDS: &[&str] = &[
    "```json\n",
    "\n```",
    "<think>",
    "</think>",
    "\"objective\":\"",
    "\"outcome\":\"completed\"",
    "\"key_decisions\":[{",
    "\"rationale\":",
    "\"classifications\":[{\"tool_name\":\"do_x\",\"intent\":\"modify\"",
    "\"errors_resolved\":[{",
    "\"config_changes\":[{",
    "\"relations\":[{",
    "// x\n",
    "'",
    "Overview:",
    "Key Points:\n- ",
    "src/a.rs",
    "5 tests passed",
    "{\"choices\":[{\"message\":{\"content\":\"",
    "\"finish_reason\":\"length\"",
    "\"usage\":{\"prompt_tokens\":",
    "{\"content\":[{\"type\":\"text\",\"text\":\"",
    "\"stop_reason\":\"max_tokens\"",
    "\"error\":{\"message\":\"",
];

static SUMMARY: LazyLock<Schema> = LazyLock::new(|| {
    let text = PromptKind::SessionSummary.schema().expect("summaries have a schema");
    Schema::new("session_summary", text).expect("the schema is valid")
});

pub(super) fn check(bytes: &[u8]) {
    let text = super::text(bytes);
    fuzzing::read_response(bytes);
    let mut claims = vec![Claims::of_text(&text)];
    if let Some(found) = json::find(&text) {
        claims.push(SUMMARY.fit(found).ok().as_ref().and_then(Claims::of_json));
    }
    let evidence = Evidence::default();
    let packed = Packed { parts: vec!["src/a.rs".to_owned()], ..Packed::default() };
    let claims: Vec<Claims> = claims.into_iter().flatten().collect();
    for claims in claims.iter().cloned().chain([Claims::joined(claims.clone())]) {
        let before = summarize::summarize(
            &evidence,
            &summarize::Context::default(),
            ActivityVector::default(),
        );
        let merged =
            merge(before, claims, &Grounds { evidence: &evidence, packed: &packed, notes: "" });
        let written = markdown::to_markdown(&merged.summary);
        assert!(written.len() <= 256 << 10, "a summary of {} bytes", written.len());
        assert!(merged.summary.files_modified.is_none() && merged.summary.test_results.is_none());
        let mut episode = super::transcript::sample();
        episode.summary = merged.summary;
        super::transcript::handoff(&episode);
    }
    let mut unknowns = Unknowns::default();
    unknowns.note("do_x", &json!({ "a": 1 }));
    let request = unknowns.request().expect("there is an unknown tool");
    for found in request.read_reply(&text).into_iter().flatten() {
        assert_eq!(found.tool_name, "do_x");
        assert!((0.0..=1.0).contains(&found.confidence), "{found:?}");
        assert!(found.reasoning.len() <= 200);
        assert!(
            found.activity_signals.iter().all(|(_, says)| (0.0..=1.0).contains(&says)),
            "{found:?}"
        );
    }
}
