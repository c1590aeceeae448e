//! Tests of agents that the configuration adds.

use crate::config::{table, tests::read_inner};

const FULL_ENTRY: &str = r#"{"name": "mine", "paths": ["~/.mine/sessions", "/var/log/mine/*.log"],
    "role": "/message/role", "text": "/message/content", "time": "/at", "session": "/id", "cwd": "/dir",
    "roles": {"user": ["me"]}}"#;

#[test]
fn an_entry_survives_writing_and_reading() {
    let config = read_inner(&format!("\"watch_formats\": [{FULL_ENTRY}]")).unwrap().config;
    let [format] = &config.capture.watch_formats[..] else { panic!("one entry") };
    assert_eq!(format.name, "mine");
    assert_eq!(format.paths[0].root(), std::path::Path::new("/home/ann/.mine/sessions"));
    assert_eq!(format.roles.user, ["me"]);
    assert!(format.roles.agent.iter().any(|name| name == "assistant"), "the default");
    let written = table::field("session_tracking.watch_formats").unwrap().write(&config);
    let again = read_inner(&format!("\"watch_formats\": {written}")).unwrap().config;
    assert_eq!(again, config);
    assert_eq!(written[0]["paths"][0], "/home/ann/.mine/sessions");
    assert_eq!(written[0]["text"], "/message/content");
}

#[test]
fn problems_of_an_entry_are_reported_with_line_and_remedy() {
    for (entry, remedy) in [
        ("7", "line 1: an entry must be an object, such as {\"name\""),
        (r#"{"paths": ["/p"], "role": "/r", "text": "/t"}"#, "line 1: add `name`, as in {\"name\""),
        (r#"{"name": "a", "role": "/r", "text": "/t"}"#, "line 1: add `paths`, as in"),
        (r#"{"name": "a", "paths": ["/p/q"], "text": "/t"}"#, "line 1: add `role`, as in"),
        (r#"{"name": "a", "paths": ["/p/q"], "role": "/r"}"#, "line 1: add `text`, as in"),
        (
            r#"{"name": "Mine!"}"#,
            "`name` must have 1 to 32 characters (a-z, 0-9, - and _), such as \"myagent\"",
        ),
        (
            r#"{"name": "codex"}"#,
            "`name` `codex` is an agent whose transcripts are read without an entry; write another \
             name, or remove the entry",
        ),
        (
            r#"{"name": "a", "paths": ["p"]}"#,
            "`paths` has \"p\": write an absolute path, or \"~/p\"",
        ),
        (
            r#"{"name": "a", "paths": ["~/*.jsonl"]}"#,
            "`paths` has \"~/*.jsonl\", for which all of /home/ann would have to be watched; give a \
             folder in it",
        ),
        (r#"{"name": "a", "paths": ["/x.jsonl"]}"#, "for which all of / would have to be watched"),
        (r#"{"name": "a", "paths": []}"#, "`paths` must be a list of files, folders and patterns"),
        (
            "{\"name\": \"a\", \"paths\": [\"/p/q\"],\n \"role\": \"$.message.role\", \"text\": \"/t\"}",
            "line 2: `role` is \"$.message.role\", but a JSON pointer begins with /; write \
             \"/message/role\", for example",
        ),
        (
            r#"{"name": "a", "paths": ["/p/q"], "role": "/r~", "text": "/t"}"#,
            "`role` is \"/r~\", but in a JSON pointer, ~ must be followed by 0 (for ~) or 1 (for /); \
             write \"/role\", for example",
        ),
        (
            r#"{"name": "a", "paths": ["/p/q"], "role": "/r", "text": ["t"]}"#,
            "`text` must be a JSON pointer in quotation marks, such as \"/text\"",
        ),
        (
            r#"{"name": "a", "paths": ["/p/q"], "role": "/r", "text": "/t", "roles": {"assistant": ["x"]}}"#,
            "`roles` has `assistant`, but only user and agent are roles; write {\"user\": [\"human\"], \
             \"agent\": [\"assistant\"]}, for example",
        ),
        (
            r#"{"name": "a", "paths": ["/p/q"], "role": "/r", "text": "/t", "roles": {"user": ["ai"]}}"#,
            "`roles` has `ai` for both user and agent",
        ),
        (
            r#"{"name": "a", "paths": ["/p/q"], "role": "/r", "txt": "/t"}"#,
            "`txt` is unknown; the keys are name, paths, role, text, time, session, cwd, id, model, \
             branch, version and roles",
        ),
    ] {
        let problems =
            read_inner(&format!("\"watch_formats\": [{entry}]")).unwrap_err().to_string();
        let head = "c.json:1: `session_tracking.watch_formats` is a list, but must be a list of objects \
                    with name, paths, role and text; line ";
        assert!(problems.starts_with(head), "{entry}: {problems}");
        assert!(problems.contains(remedy), "{entry}: {problems}");
    }
    let twice = read_inner(&format!("\"watch_formats\": [{FULL_ENTRY}, {FULL_ENTRY}]"))
        .unwrap_err()
        .to_string();
    assert!(
        twice.contains("line 3: two entries have the name `mine`; rename one of them"),
        "{twice}"
    );
}
