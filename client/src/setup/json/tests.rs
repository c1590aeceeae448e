use serde_json::json;

use super::*;

const PROGRAM: &str = "/opt/graphiti";

/// Realistic settings.
const SETTINGS: &[&str] = &[
    "",
    "{}",
    "{\n}\n",
    "{\n  \"model\": \"x\"\n}\n",
    "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{ \"type\": \"command\", \"command\": \"say done\" }\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}\n",
    "{\r\n  \"hooks\": {\r\n    \"SessionEnd\": [\r\n      {\"matcher\": \"clear\", \"hooks\": [{\"type\": \"command\", \"command\": \"C:\\\\tools\\\\bye.exe\"}]}\r\n    ]\r\n  },\r\n  \"env\": {\"A\": \"1\"}\r\n}\r\n",
    "// top\n{\n  // keep\n  \"mcpServers\": { \"other\": { \"command\": \"npx\" } }, /* and this */\n  \"hooks\": {}, // none yet\n}\n// end\n",
    "\u{feff}{\"permissions\":{\"allow\":[\"Bash(git:*)\"]}}",
    "{\"hooks\":{\"SessionEnd\":[]},\"mcpServers\":{}}",
];

#[test]
fn hooks_are_added_once_and_nothing_else_changes() {
    for text in SETTINGS {
        let with = with_hooks(text, &hooks(PROGRAM)).unwrap();
        assert_eq!(handlers(&with), 2, "{with}");
        assert_eq!(
            with_hooks(&with, &hooks(PROGRAM)).unwrap(),
            with,
            "a second time changes nothing"
        );
        keeps_all(text, &with);
    }
}

#[test]
fn our_entries_are_removed_and_the_rest_stays() {
    for text in SETTINGS {
        let with =
            with_server(&with_hooks(text, &hooks(PROGRAM)).unwrap(), &server(PROGRAM)).unwrap();
        let without = without_server(&without_hooks(&with).unwrap()).unwrap();
        assert!(!without.contains("graphiti"), "{without}");
        let value = |text: &str| {
            CstRootNode::parse(text.trim_start_matches('\u{feff}'), &ParseOptions::default())
                .unwrap()
                .to_serde_value()
                .unwrap_or_else(|| json!({}))
        };
        let mut before = value(text);
        // A list that became empty cannot be distinguished from a list that was empty before.
        if let Some(members) = before.as_object_mut() {
            members.retain(|_, value| {
                if let Some(inner) = value.as_object_mut() {
                    inner.retain(|_, value| *value != json!([]));
                }
                *value != json!({})
            });
        }
        assert_eq!(value(&without), before, "{text:?}");
        keeps_all(&without, text);
    }
}

#[test]
fn lines_of_the_user_keep_their_order() {
    for text in SETTINGS.iter().filter(|text| text.contains('\n')) {
        let with = with_hooks(text, &hooks(PROGRAM)).unwrap();
        let mut lines = with.lines();
        for line in text.lines().map(|line| line.trim_end_matches(',')) {
            // Braces that were empty are opened; everything else stays unchanged.
            let is_kept = |there: &str| there.trim_end_matches(',') == line;
            assert!(line.contains("{}") || line == "}" || lines.any(is_kept), "{line:?} in {with}");
        }
    }
}

#[test]
fn the_new_path_of_the_program_replaces_the_old_path() {
    let old = with_hooks("{}", &hooks("/old/place/graphiti")).unwrap();
    let old = with_server(&old, &server("/old/place/graphiti")).unwrap();
    let new = with_server(&with_hooks(&old, &hooks(PROGRAM)).unwrap(), &server(PROGRAM)).unwrap();
    assert_eq!(handlers(&new), 2);
    assert!(!new.contains("/old/"), "{new}");
}

#[test]
fn hooks_of_other_events_are_removed() {
    let both = with_hooks("{}", &hooks(PROGRAM)).unwrap();
    let one = with_hooks(&both, &hooks(PROGRAM)[..1]).unwrap();
    assert_eq!(handlers(&one), 1);
}

#[test]
fn unexpected_settings_are_not_changed() {
    for text in
        ["{", "[]", "7", "{\"hooks\": []}", "{\"hooks\": {\"SessionEnd\": {}}}", "{\"a\" 1}"]
    {
        assert!(with_hooks(text, &hooks(PROGRAM)).is_err(), "{text}");
    }
    let foreign = "{\"mcpServers\":{\"graphiti\":{\"command\":\"uv\",\"args\":[\"run\"]}}}";
    assert_eq!(
        with_server(foreign, &server(PROGRAM)),
        Err(EditError::Foreign("mcpServers.graphiti"))
    );
    assert_eq!(without_server(foreign).unwrap(), foreign);
}

#[test]
fn our_hooks_are_recognised_in_every_form() {
    for handler in [
        json!({"command": "/a/graphiti", "args": ["hook"]}),
        json!({"command": "graphiti hook"}),
        json!({"command": "\"C:\\Program Files\\graphiti.exe\" hook"}),
        json!({"command": "'/a$b/graphiti' hook"}),
        json!({"type": "command", "command": "/a/graphiti", "timeout": 5}),
        json!({"command": "/a/graphiti", "args": []}),
    ] {
        assert!(is_our_handler(&handler), "{handler}");
    }
    for handler in [
        json!({"command": "/a/graphiti", "args": ["status"]}),
        json!({"command": "/a/not-graphiti hook"}),
        json!({"command": "cat /a/graphiti"}),
        json!({"command": "/a/graphiti status"}),
        json!({"command": "python ~/.graphiti/hooks/session_close_hook.py"}),
        json!({"type": "prompt"}),
    ] {
        assert!(!is_our_handler(&handler), "{handler}");
    }
}

#[test]
fn a_hook_with_separate_arguments_is_outdated_and_replaced() {
    let apart = json!({ "type": "command", "command": PROGRAM, "args": ["hook"], "timeout": 5 });
    let bare = json!({ "type": "command", "command": PROGRAM, "timeout": 5 });
    for handler in [apart, bare] {
        let old = ["SessionStart", "SessionEnd"];
        let old =
            old.map(|event| Hook { event, handler: handler.clone(), form: HookForm::Grouped });
        for text in SETTINGS {
            let before = with_hooks(text, &old).unwrap();
            assert_eq!(outdated_hooks(&before).len(), 2, "{before}");
            let after = with_hooks(&before, &hooks(PROGRAM)).unwrap();
            assert_eq!((handlers(&after), outdated_hooks(&after)), (2, vec![]), "{after}");
            let direct = with_hooks(text, &hooks(PROGRAM)).unwrap();
            let removed = [before, after, direct].map(|text| without_hooks(&text).unwrap());
            assert!(removed.iter().all(|text| *text == removed[0]), "{removed:?}");
        }
    }
    assert!(outdated_hooks("{").is_empty());
}

#[test]
fn tools_are_allowed_once_beside_what_the_user_allowed() {
    let tools = ["mcp__graphiti__get_handoff".to_owned(), "mcp__graphiti__get_session".to_owned()];
    for text in SETTINGS {
        let with = with_allowed(text, &tools).unwrap();
        assert_eq!(with.matches("mcp__graphiti__").count(), 2, "{with}");
        assert_eq!(with_allowed(&with, &tools).unwrap(), with, "a second time changes nothing");
        keeps_all(text, &with);
        let without = without_allowed(&with, &tools).unwrap();
        assert!(!without.contains("mcp__graphiti__"), "{without}");
        keeps_all(text, &without);
    }
    let more = r#"{"permissions":{"allow":["mcp__graphiti__session_tracking_close"]}}"#;
    let with = with_allowed(more, &tools).unwrap();
    assert_eq!(without_allowed(&with, &tools).unwrap().replace(char::is_whitespace, ""), more);
}

#[test]
fn members_that_the_user_set_for_our_server_stay() {
    let trusted = |text: &str| {
        with_trust(
            &with_server(text, &json!({ "command": PROGRAM, "args": ["mcp"], "tools": ["*"] }))
                .unwrap(),
        )
        .unwrap()
    };
    let plain = trusted("{}");
    assert!(plain.contains("\"trust\": true"), "{plain}");
    assert_eq!(trusted(&plain), plain);
    assert_eq!(without_server(&plain).unwrap().trim(), "{}");
    let own = r#"{"mcpServers":{"graphiti":{"command":"/old/graphiti","args":["mcp"],"trust":false,"tools":["get_handoff"],"timeout":9}}}"#;
    let kept = trusted(own);
    assert_eq!(kept, own.replace("/old/graphiti", PROGRAM));
}

fn hooks(program: &str) -> Vec<Hook> {
    let line = format!("{program} hook");
    let handler = json!({ "type": "command", "command": line, "timeout": 5 });
    ["SessionStart", "SessionEnd"]
        .map(|event| Hook { event, handler: handler.clone(), form: HookForm::Grouped })
        .into()
}

#[test]
fn options_of_our_server_stay() {
    let moved = "/old/place/graphiti";
    for args in [r#"["mcp"]"#, r#"["mcp", "--no-start"]"#] {
        let text = |program: &str| {
            let server = format!(r#"{{ "command": "{program}", "args": {args} }}"#);
            format!("{{ \"mcpServers\": {{ \"graphiti\": {server} }} }}\n")
        };
        let wanted = json!({ "command": PROGRAM, "args": ["mcp"] });
        assert_eq!(with_server(&text(moved), &wanted).unwrap(), text(PROGRAM));
        assert_eq!(without_server(&text(moved)).unwrap().trim(), "{}");
    }
    for options in ["", r#", "--no-start""#] {
        let text = |program: &str| {
            let server = format!(r#"{{ "command": ["{program}", "mcp"{options}] }}"#);
            format!("{{ \"mcp\": {{ \"graphiti\": {server} }} }}\n")
        };
        let wanted = json!({ "command": [PROGRAM, "mcp"] });
        let updated = with_server(&text(moved), &wanted).unwrap();
        let words: Value = serde_json::from_str(&updated).unwrap();
        let expected: Value = serde_json::from_str(&text(PROGRAM)).unwrap();
        assert_eq!(words, expected);
        assert_eq!(with_server(&updated, &wanted).unwrap(), updated);
        assert_eq!(without_server(&text(moved)).unwrap().trim(), "{}");
    }
    for foreign in [
        r#"{ "command": "/usr/bin/graphiti", "args": ["serve", "mcp"] }"#,
        r#"{ "command": "/usr/bin/graphiti", "args": ["mcp-server"] }"#,
        r#"{ "command": "/usr/bin/graphiti" }"#,
        r#"{ "command": "uv", "args": ["mcp"] }"#,
    ] {
        let text = format!("{{ \"mcpServers\": {{ \"graphiti\": {foreign} }} }}\n");
        let wanted = json!({ "command": PROGRAM, "args": ["mcp"] });
        assert_eq!(with_server(&text, &wanted), Err(EditError::Foreign("mcpServers.graphiti")));
        assert_eq!(without_server(&text).unwrap(), text);
    }
}

fn server(program: &str) -> Value {
    json!({ "command": program, "args": ["mcp"] })
}

fn handlers(text: &str) -> usize {
    text.matches("graphiti hook\"").count()
}

/// Checks that `whole` contains every word of `part`, in the same order.
fn keeps_all(part: &str, whole: &str) {
    let has_text = |word: &str| word.chars().any(char::is_alphanumeric);
    let mut rest = whole;
    for word in
        part.split(|c: char| c.is_whitespace() || "{}[],".contains(c)).filter(|word| has_text(word))
    {
        let at =
            rest.find(word).unwrap_or_else(|| panic!("{word:?} of\n{part}\nis not in\n{whole}"));
        rest = &rest[at + word.len()..];
    }
}

#[test]
fn flat_hooks_and_servers_with_one_command_line_are_added_and_removed() {
    let handler = json!({ "command": "/opt/graphiti hook cursor" });
    let hooks = ["sessionStart", "sessionEnd"].map(|event| Hook {
        event,
        handler: handler.clone(),
        form: HookForm::Flat,
    });
    let line = json!({ "type": "local", "command": [PROGRAM, "mcp"], "enabled": true });
    for text in [
        "{\n  \"version\": 1,\n  \"hooks\": {\n    \"stop\": [{ \"command\": \"bell\" }]\n  }\n}\n",
        "{\n  // mine\n  \"mcp\": { \"other\": { \"type\": \"local\", \"command\": [\"x\"] } }\n}\n",
    ] {
        let with = with_server(&with_hooks(text, &hooks).unwrap(), &line).unwrap();
        assert_eq!(with_server(&with_hooks(&with, &hooks).unwrap(), &line).unwrap(), with);
        assert!(with.contains("hook cursor") && with.contains("\"version\": 1"), "{with}");
        let without = without_server(&without_hooks(&with).unwrap()).unwrap();
        let read = |text: &str| -> Value {
            let root = CstRootNode::parse(text, &ParseOptions::default()).unwrap();
            let mut value = root.to_serde_value().unwrap();
            value.as_object_mut().unwrap().remove("version");
            value
        };
        assert_eq!(read(&without), read(text));
    }
    let alone = without_hooks(&with_hooks("", &hooks).unwrap()).unwrap();
    assert!(is_empty(&alone), "{alone}");
    let foreign = "{ \"mcp\": { \"graphiti\": { \"command\": [\"uv\", \"mcp\"] } } }";
    assert_eq!(with_server(foreign, &line), Err(EditError::Foreign("mcp.graphiti")));
    assert_eq!(without_server(foreign).unwrap(), foreign);
}
