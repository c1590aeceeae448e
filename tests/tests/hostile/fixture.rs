//! Writes a session with hostile text in many fields.

use graphiti_tests::Transcript;
use serde_json::json;

/// A word next to each hostile text.
pub(super) const WORD: &str = "kestrel";

/// Writes a session in `project` with `hostile` in titles, prompts, names, paths, calls, results,
/// errors and replies, and ordinary code next to it.
pub(super) fn write_session(transcript: &mut Transcript, project: &str, hostile: &str) {
    let edit = |file: &str| {
        json!({
            "file_path": format!("{project}/{file}"),
            "old_string": format!("{WORD}=a{hostile}"),
            "new_string": format!("{WORD}=Vec<String> <div class=\"x\">{hostile}"),
        })
    };
    let request = format!("Fix the {WORD} {hostile} timeout in src/login.rs");
    let failing_test = format!(
        "Exit code 101\nrunning 1 test\ntest {WORD}::or{hostile}der ... FAILED\n\n\
         test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s"
    );
    transcript
        .record("custom-title", &json!({ "customTitle": format!("Fast {WORD}s {hostile}") }))
        .record(
            "user",
            &json!({
                "gitBranch": format!("ma{hostile}in"),
                "message": { "role": "user", "content": request },
            }),
        )
        .record(&format!("odd{hostile}"), &json!({ "x": 1 }))
        .tool(
            &format!("mcp__{WORD}{hostile}__get"),
            &json!({ "query": format!("{WORD} {hostile}") }),
            &format!("{WORD} Vec<String> {hostile}"),
        )
        .failing_tool(
            "Bash",
            &json!({ "command": format!("make {WORD}{hostile}") }),
            &format!("error: the {WORD} {hostile} is missing"),
        )
        .tool("Edit", &edit(&format!("src/lo{hostile}gin.rs")), &format!("updated {hostile}"))
        .tool("Edit", &edit(".env"), "updated")
        .failing_tool("Bash", &json!({ "command": "cargo test" }), &failing_test)
        .reply(&format!(
            "I chose {WORD}s {hostile} over hawks because they are faster {hostile}.\n\n\
             Fixed the {WORD} {hostile} timeout in `src/lo{hostile}gin.rs`.\n\n\
             ## Next steps\n- Watch the {WORD}s {hostile} for a day"
        ));
}
