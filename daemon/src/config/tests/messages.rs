//! Tests of the exact texts of all messages.

use crate::config::tests::{read_inner, read_text};

/// Returns all problems and notices of the section `inner`, one per line.
fn messages_of(inner: &str) -> String {
    match read_inner(inner) {
        Ok(loaded) => {
            let notices: Vec<String> = loaded.notices.iter().map(ToString::to_string).collect();
            notices.join("\n")
        }
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn each_invalid_value_is_reported_with_the_valid_values_and_a_remedy() {
    for (inner, wanted) in [
        (
            r#""enabled": "true""#,
            "c.json:1: `session_tracking.enabled` is \"true\", but must be true or false; write true \
             without quotation marks",
        ),
        (
            r#""enabled": 1"#,
            "c.json:1: `session_tracking.enabled` is 1, but must be true or false; write true or false",
        ),
        (
            r#""inactivity_timeout": "1800""#,
            "c.json:1: `session_tracking.inactivity_timeout` is \"1800\", but must be a number of \
             seconds, or 0 or null for never; write 1800 without quotation marks",
        ),
        (
            r#""inactivity_timeout": "30m""#,
            "c.json:1: `session_tracking.inactivity_timeout` is \"30m\", but must be a number of \
             seconds, or 0 or null for never; write a number without unit and quotation marks, such as \
             1800 for half an hour",
        ),
        (
            r#""inactivity_timeout": -1"#,
            "c.json:1: `session_tracking.inactivity_timeout` is -1, but must be a number of seconds, or \
             0 or null for never; write 1800 for half an hour, or 0 to switch this off",
        ),
        (
            r#""check_interval": 0"#,
            "c.json:1: `session_tracking.check_interval` is 0, but must be a number of seconds above 0; \
             write a number above 0, such as 60 for a minute",
        ),
        (
            r#""check_interval": null"#,
            "c.json:1: `session_tracking.check_interval` is null, but must be a number of seconds above \
             0; write a number, such as 60 for a minute",
        ),
        (
            r#""keep_length_days": 0"#,
            "c.json:1: `session_tracking.keep_length_days` is 0, but must be a number of days above 0, \
             or null for all; write a number above 0, or null to keep all",
        ),
        (
            r#""watch_directories": ["claude/projects"]"#,
            "c.json:1: `session_tracking.watch_directories` is a list, but must be a list of absolute \
             paths, or of paths that begin with ~/; write an absolute path, or \
             \"~/claude/projects\"",
        ),
        (
            r#""excluded_paths": {}"#,
            "c.json:1: `session_tracking.excluded_paths` is an object, but must be a list of absolute \
             paths, or of paths that begin with ~/; write [\"~/private\"], for example",
        ),
        (
            r#""group_id": 7"#,
            "c.json:1: `session_tracking.group_id` is 7, but must be a name of letters, digits and _, or \
             null for the namespace of the project; write \"my_group\", for example",
        ),
        (
            r#""trusted_namespaces": ["app"]"#,
            "c.json:1: `session_tracking.trusted_namespaces` is a list, but must be a list of project \
             namespaces, each of eight hexadecimal digits, or null for all projects; write \
             [\"a1b2c3d4\"], for example; `graphiti list --json` shows the namespaces",
        ),
        (
            r#""filter": {"user_messages": "sumary"}"#,
            "c.json:1: `session_tracking.filter.user_messages` is \"sumary\", but must be true (all of \
             it), false (none of it), a template such as \"my-summary.md\", or a prompt with {content} \
             in it; the name of a template must end with .md; a prompt must contain {content} at \
             the place of the text",
        ),
        (
            r#""summary_prompts": {"tool_results": "shorten it"}"#,
            "c.json:1: `session_tracking.summary_prompts.tool_results` is \"shorten it\", but must be \
             \"default\", a template such as \"my-summary.md\", or a prompt with {content} in it; the \
             name of a template must end with .md; a prompt must contain {content} at the place of \
             the text",
        ),
        (
            r#""summary_prompts": {"max_summary_chars": 5}"#,
            "c.json:1: `session_tracking.summary_prompts.max_summary_chars` is 5, but must be a number \
             of characters from 50 to 20000; write a whole number from 50 to 20000",
        ),
        (
            r#""summarization": {"extraction_threshold": 30}"#,
            "c.json:1: `session_tracking.summarization.extraction_threshold` is 30, but must be a number \
             from 0 to 1; write a number from 0 to 1, such as 0.3",
        ),
        (
            r#""summarization": {"type_detection": "manuel"}"#,
            "c.json:1: `session_tracking.summarization.type_detection` is \"manuel\", but must be \
             \"auto\" or \"manual\"; did you mean \"manual\"?",
        ),
        (
            r#""summarization": {"activity_vector": {"coding": 1}}"#,
            "c.json:1: `session_tracking.summarization.activity_vector` is an object, but must be an \
             object with a number from 0 to 1 for each activity, or null for none; `coding` is \
             not an activity",
        ),
        (
            r#""resilience": {"on_llm_unavailable": "WAIT"}"#,
            "c.json:1: `session_tracking.resilience.on_llm_unavailable` is \"WAIT\", but must be \
             \"STORE_RAW_AND_RETRY\", \"STORE_RAW\" or \"FAIL\"; write one of these words",
        ),
        (
            r#""resilience": {"retry_queue": {"retry_delays_seconds": []}}"#,
            "c.json:1: `session_tracking.resilience.retry_queue.retry_delays_seconds` is a list, but \
             must be a list of seconds above 0; write at least one pause, such as [300]",
        ),
        (
            r#""hooks": true"#,
            "c.json:1: `session_tracking.hooks` is true, but must be an object; write an object, \
            such as { }, or remove the key",
        ),
        (
            r#""hooks": {"hook_timeout": 0}"#,
            "c.json:1: `session_tracking.hooks.hook_timeout` is 0, but must be a number of milliseconds \
             above 0; write a number above 0, such as 30000 for half a minute",
        ),
        (
            r#""hooks": {"handoff_max_chars": 4000.5}"#,
            "c.json:1: `session_tracking.hooks.handoff_max_chars` is 4000.5, but must be a number of \
             characters from 100 to 10000; write a whole number from 100 to 10000",
        ),
        (
            r#""hooks": {"socket_path": "mcp.sock"}"#,
            "c.json:1: `session_tracking.hooks.socket_path` is \"mcp.sock\", but must be an absolute \
             path, or a path that begins with ~/, or null for the default socket; write an \
             absolute \
             path, or \"~/mcp.sock\"",
        ),
        (
            r#""llm": {"provider": "antropic"}"#,
            "c.json:1: `session_tracking.llm.provider` is \"antropic\", but must be \"none\", \
             \"anthropic\", \"openai\" or \"command\"; did you mean \"anthropic\"?",
        ),
        (
            r#""llm": {"base_url": "localhost:11434"}"#,
            "c.json:1: `session_tracking.llm.base_url` is \"localhost:11434\", but must be an address, \
             or null for the provider's own; write an address that begins with http:// or https://",
        ),
        (
            r#""llm": {"api_key_env": "$ANTHROPIC_API_KEY"}"#,
            "c.json:1: `session_tracking.llm.api_key_env` is \"$ANTHROPIC_API_KEY\", but must be the name \
             of an environment variable, or null for the provider's default; write the name \
             without \
             the $",
        ),
        (
            r#""llm": {"api_key_command": "pass show key"}"#,
            "c.json:1: `session_tracking.llm.api_key_command` is \"pass show key\", but must be a program \
             with its arguments, or null for none; write the program and each argument as \
             separate texts, such as [\"pass\", \"show\", \"key\"]",
        ),
        (
            r#""llm": {"model": ""}"#,
            "c.json:1: `session_tracking.llm.model` is \"\", but must be a model's name, or null \
            for the provider's default; write \"claude-haiku-4-5\", for example",
        ),
        (
            r#""llm": {"daily_budget": {"usd": -1}}"#,
            "c.json:1: `session_tracking.llm.daily_budget.usd` is -1, but must be an amount of US \
             dollars, or null for no limit; write an amount of 0 or more, such as 2.50",
        ),
        (
            r#""limits": {"database_bytes": "1 MB"}"#,
            "c.json:1: `session_tracking.limits.database_bytes` is \"1 MB\", but must be a size of at \
             least 32 MiB; write a size of at least 32 MiB",
        ),
        (
            r#""limits": {"spool_bytes": "much"}"#,
            "c.json:1: `session_tracking.limits.spool_bytes` is \"much\", but must be a size of at least \
             1 MiB; write \"512 MiB\" or a whole number of bytes",
        ),
        (
            r#""log": {"level": 3}"#,
            "c.json:1: `session_tracking.log.level` is 3, but must be \"error\", \"warn\", \"info\", \
             \"debug\" or \"trace\"; write \"error\", for example",
        ),
    ] {
        assert_eq!(messages_of(inner), wanted);
    }
}

#[test]
fn conflicting_values_are_reported() {
    for (inner, wanted) in [
        (
            r#""summarization": {"type_detection": "manual"}"#,
            "c.json:1: `session_tracking.summarization.type_detection` is \"manual\", which needs \
             `session_tracking.summarization.activity_vector`; add it, such as {\"fixing\": 0.8}, or \
             write \"auto\"",
        ),
        (
            r#""llm": {"provider": "command"}"#,
            "c.json:1: `session_tracking.llm.provider` is \"command\", which needs \
             `session_tracking.llm.command`; add it, such as [\"my-model\", \"--quiet\"]",
        ),
        (
            r#""embeddings": {"provider": "local"}"#,
            "c.json:1: `session_tracking.embeddings.provider` is \"local\", which needs \
             `session_tracking.embeddings.path`; add the model's folder",
        ),
        (
            r#""log": {"max_bytes": "1 GiB"}"#,
            "c.json:1: `session_tracking.log.max_bytes` is more than \
            `session_tracking.limits.log_bytes`, the limit of all log files together; decrease \
            this value, or increase the limit",
        ),
        (
            r#""limits": {"log_bytes": "1 MiB"}"#,
            "c.json:1: `session_tracking.limits.log_bytes` is the limit of all log files \
            together, and less than `session_tracking.log.max_bytes`, the limit of one file; \
            increase this limit, or decrease the other",
        ),
        (
            r#""auto_summarize": true"#,
            "c.json:1: `session_tracking.auto_summarize` has no effect; no model is configured, \
            so summaries are derived from evidence: set `session_tracking.llm.provider` to use a \
            model",
        ),
        (
            r#""cross_project_search": false, "trusted_namespaces": ["a1b2c3d4"]"#,
            "c.json:1: `session_tracking.trusted_namespaces` has no effect; a search covers only \
            the caller's project while `session_tracking.cross_project_search` is false",
        ),
        (
            r#""check_interval": 3600"#,
            "c.json:1: `session_tracking.check_interval` has no effect; sessions are closed before \
             they count as inactive, because `session_tracking.inactivity_timeout` is not longer than this time",
        ),
    ] {
        assert_eq!(messages_of(inner), wanted);
    }
}

#[test]
fn deprecated_spellings_are_read_with_a_notice() {
    for (inner, wanted) in [
        (
            r#""watch_path": ["/t"]"#,
            "c.json:1: `session_tracking.watch_path` is an older spelling and read as \
             `session_tracking.watch_directories`",
        ),
        (
            r#""watch_path": "/t""#,
            "c.json:1: `session_tracking.watch_path` is an older spelling and read as \
             `session_tracking.watch_directories`\n\
             c.json:1: `session_tracking.watch_path` is \"/t\", an older spelling that is read as [\"/t\"]",
        ),
        (
            r#""inactivityTimeout": 60.5"#,
            "c.json:1: `session_tracking.inactivityTimeout` is an older spelling and read as \
             `session_tracking.inactivity_timeout`",
        ),
        (
            r#""filter": {"tool_content": "summary"}"#,
            "c.json:1: `session_tracking.filter.tool_content` is \"summary\", an older spelling that is \
             read as \"default-tool-content.md\"",
        ),
        (
            r#""filter": {"user_messages": "full"}"#,
            "c.json:1: `session_tracking.filter.user_messages` is \"full\", an older spelling that is \
             read as true",
        ),
        (
            r#""summarization": {"max_summary_chars": 300}"#,
            "c.json:1: `session_tracking.summarization.max_summary_chars` is an older spelling and read \
             as `session_tracking.summary_prompts.max_summary_chars`",
        ),
        (
            r#""logging": {"level": "WARNING"}"#,
            "c.json:1: `session_tracking.logging` is an older spelling and read as \
             `session_tracking.log`\n\
             c.json:1: `session_tracking.logging.level` is \"WARNING\", an older spelling that is read as \
             \"warn\"",
        ),
        (
            r#""keep_days": 7, "keep_length_days": 9"#,
            "c.json:1: `session_tracking.keep_days` is an older spelling of \
             `session_tracking.keep_length_days`, which is also set and applies",
        ),
        (
            r#""resilience": {"notifications": {"webhook_url": null}}"#,
            "c.json:1: `session_tracking.resilience.notifications` is no longer used; failures are shown \
             by `graphiti status`, and nothing is sent anywhere",
        ),
        (
            r#""hooks": {"hook_timeout": 30}"#,
            "c.json:1: `session_tracking.hooks.hook_timeout` is 30 and used as 30000; the unit is \
            milliseconds, and such a small number probably means seconds",
        ),
        (
            r#""group_id": "my-host__global""#,
            "c.json:1: `session_tracking.group_id` is \"my-host__global\" and used as \
             \"my_host__global\"; a group id has only letters, digits and _, and must not be a common word",
        ),
        (
            r#""enabled": false, "enabled": true"#,
            "c.json:1: `session_tracking.enabled` occurs twice; this occurrence is used",
        ),
    ] {
        assert_eq!(messages_of(inner), wanted);
    }
}

#[test]
fn unknown_keys_are_reported_with_the_nearest_known_key() {
    for (inner, wanted) in [
        (
            r#""inactivity_timout": 60"#,
            "c.json:1: `session_tracking.inactivity_timout` is unknown and ignored; did you mean \
             `session_tracking.inactivity_timeout`?",
        ),
        (
            r#""colour": "red""#,
            "c.json:1: `session_tracking.colour` is unknown and ignored; `graphitid config schema` shows \
             all keys",
        ),
        (
            r#""socket_path": "/s""#,
            "c.json:1: `session_tracking.socket_path` is unknown and ignored; did you mean \
             `session_tracking.hooks.socket_path`?",
        ),
        (r#""_comment": 1, "_enabled_help": "x", "// why": 2"#, ""),
    ] {
        assert_eq!(messages_of(inner), wanted);
    }
}

#[test]
fn secrets_are_refused_and_never_shown() {
    let remedy = |section: &str| {
        let name = if section == "share" { "password" } else { "api_key" };
        format!(
            "set `session_tracking.{section}.{name}_env` to the name of an environment variable, or \
             `{name}_file` to a file that only you can read, and replace the secret if others could \
             read this one"
        )
    };
    let key = ["sk-", "ant-", "api03-kJ8s2Lq0Zx9Vb4NmkJ8s2Lq0Zx9Vb4Nm"].concat();
    for (inner, place, section) in [
        (format!(r#""llm": {{"api_key": "{key}"}}"#), "llm.api_key", "llm"),
        (r#""llm": {"api_key": "whatever"}"#.to_owned(), "llm.api_key", "llm"),
        (r#""llm": {"apiKey": "whatever"}"#.to_owned(), "llm.apiKey", "llm"),
        (format!(r#""llm": {{"api_key_env": "{key}"}}"#), "llm.api_key_env", "llm"),
        (format!(r#""llm": {{"command": ["x", "{key}"]}}"#), "llm.command", "llm"),
        (r#""llm": {"base_url": "https://bob:hunter2@host/v1"}"#.to_owned(), "llm.base_url", "llm"),
        (r#""embeddings": {"api_key": "x1"}"#.to_owned(), "embeddings.api_key", "embeddings"),
        (r#""share": {"password": "x1"}"#.to_owned(), "share.password", "share"),
    ] {
        let wanted = format!(
            "c.json:1: `session_tracking.{place}` contains a secret, which must not be in this file; {}",
            remedy(section)
        );
        assert_eq!(messages_of(&inner), wanted);
    }
}

#[test]
fn all_problems_are_reported_together_in_the_order_of_the_file() {
    let text = r#"{
  // an old file
  "watch_path": null,
  "database": {"backend": "neo4j"},
  "session_tracking": {
    "enabled": "yes",
    "colour": "red",
    "hooks": {
      "hook_timeout": "30s",
      "enabled": null,
    },
    "llm": { "api_key": "x" },
    "limits": [],
  },
  "colour": 1,
}"#;
    let wanted = "\
c.json:6: `session_tracking.enabled` is \"yes\", but must be true or false; write true or false
c.json:9: `session_tracking.hooks.hook_timeout` is \"30s\", but must be a number of milliseconds above 0; \
write a number without unit and quotation marks, such as 30000 for half a minute
c.json:10: `session_tracking.hooks.enabled` is null, but must be true or false; write true or false
c.json:12: `session_tracking.llm.api_key` contains a secret, which must not be in this file; set \
`session_tracking.llm.api_key_env` to the name of an environment variable, or `api_key_file` to a file \
that only you can read, and replace the secret if others could read this one
c.json:13: `session_tracking.limits` is a list, but must be an object; write an object, such as \
{ }, or remove the key
c.json:3: `watch_path` is an older spelling and read as `session_tracking.watch_directories`
c.json:7: `session_tracking.colour` is unknown and ignored; `graphitid config schema` shows all keys
c.json:15: `colour` is unknown and ignored; `graphitid config schema` shows all keys";
    assert_eq!(read_text(text).unwrap_err().to_string(), wanted);
}

#[test]
fn a_file_that_is_not_an_object_is_reported() {
    let wanted = "c.json:1: `the file` is a list, but must be an object; put { } around the \
    content";
    assert_eq!(read_text("[]").unwrap_err().to_string(), wanted);
}
