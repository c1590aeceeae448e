//! Tests of how values are read.

use std::{path::PathBuf, time::Duration};

use crate::{
    api::config::ListedTools,
    capture::config::Keep,
    config::{
        Config, table,
        tests::{read_inner, read_text},
    },
    llm::config::{OnUnavailable, ProviderKind},
    llm::embed::config::EmbeddingProvider,
    model::Namespace,
    prompt::config::TemplateSource,
};

fn config(inner: &str) -> Config {
    read_inner(inner).unwrap().config
}

#[test]
fn an_empty_file_is_the_default() {
    for text in ["", "{}", "{\"session_tracking\": {}}", "{\"session_tracking\": null}"] {
        let loaded = read_text(text).unwrap();
        assert_eq!(loaded.config, Config::default());
        assert!(loaded.notices.is_empty() && loaded.origins.is_empty());
    }
}

#[test]
fn documented_defaults_are_used() {
    let config = Config::default();
    assert!(config.capture.enabled);
    assert_eq!(config.session.inactivity_timeout, Some(Duration::from_secs(1_800)));
    assert_eq!(config.session.check_interval, Duration::from_secs(60));
    assert!(!config.summarize.auto_summarize);
    assert_eq!(config.capture.keep, None);
    assert_eq!(
        config.capture.filter.tool_content,
        Keep::Template("default-tool-content.md".to_owned())
    );
    assert_eq!(config.summarize.extraction_threshold, 0.3);
    assert_eq!(config.prompt.max_summary_chars, 500);
    assert_eq!(config.llm.provider, ProviderKind::None);
    assert_eq!(config.llm.resilience.on_unavailable, OnUnavailable::StoreRawAndRetry);
    assert_eq!(config.api.hooks.hook_timeout, Duration::from_secs(30));
    assert!(config.api.hooks.async_indexing);
    assert_eq!(config.api.query_timeout, Duration::from_secs(10));
}

#[test]
fn zero_and_null_disable_the_timeout() {
    for value in ["0", "null", "0.0"] {
        let config = config(&format!("\"inactivity_timeout\": {value}"));
        assert_eq!(config.session.inactivity_timeout, None, "{value}");
    }
}

#[test]
fn the_example_of_the_document_about_summaries_is_read() {
    let config = config(
        r#"
        "enabled": true,
        "auto_summarize": true,
        "summarization": {
          "template": null,
          "type_detection": "auto",
          "extraction_threshold": 0.3,
          "include_decisions": true,
          "include_errors_resolved": true,
          "tool_classification_cache": null
        },
        "filter": {
          "tool_calls": true,
          "tool_content": "default-tool-content.md",
          "user_messages": true,
          "agent_messages": true
        }
        "#,
    );
    let mut wanted = Config::default();
    wanted.summarize.auto_summarize = true;
    assert_eq!(config, wanted);
}

#[test]
fn the_file_of_the_fork_is_read_without_notices() {
    let text = r#"{
      "$schema": "https://json-schema.org/draft-07/schema#",
      "description": "x", "version": "1.0.0",
      "database": {"backend": "neo4j"}, "llm": {"provider": "openai"}, "embedder": {},
      "project": {}, "search": {}, "logging": {}, "performance": {}, "mcp_server": {},
      "resilience": {"max_retries": 3}, "daemon": {"enabled": false},
      "session_tracking": {
        "enabled": false, "inactivity_timeout": 300, "check_interval": 60,
        "auto_summarize": false, "store_in_graph": true, "keep_length_days": 7
      }
    }"#;
    let loaded = read_text(text).unwrap();
    assert!(loaded.notices.is_empty(), "{:?}", loaded.notices);
    assert!(!loaded.config.capture.enabled);
    assert_eq!(loaded.config.capture.keep, Some(Duration::from_secs(7 * 86_400)));
    assert_eq!(loaded.config.llm.provider, ProviderKind::None);
}

#[test]
fn the_five_notations_of_a_filter_are_read() {
    for (value, wanted) in [
        ("true", Keep::Full),
        ("false", Keep::Omit),
        ("\"omit\"", Keep::Omit),
        ("\"my.md\"", Keep::Template("my.md".to_owned())),
        ("\"Shorten: {content}\"", Keep::Prompt("Shorten: {content}".to_owned())),
    ] {
        let config = config(&format!("\"filter\": {{\"agent_messages\": {value}}}"));
        assert_eq!(config.capture.filter.agent_messages, wanted, "{value}");
    }
}

#[test]
fn the_three_notations_of_a_prompt_are_read() {
    for (value, wanted) in [
        ("default", TemplateSource::Default),
        ("/etc/p/tool.md", TemplateSource::File("/etc/p/tool.md".to_owned())),
        ("In short: {content}", TemplateSource::Inline("In short: {content}".to_owned())),
    ] {
        let config = config(&format!("\"summary_prompts\": {{\"tool_results\": \"{value}\"}}"));
        assert_eq!(config.prompt.tool_results, wanted, "{value}");
    }
}

#[test]
fn other_notations_are_read() {
    let config = config(
        r#"
        "watch_directories": ["~/logs", "/var/logs", "C:\\logs"],
        "trusted_namespaces": ["a1b2c3d4", "0011223344556677"],
        "query_timeout": 2.5,
        "summarization": {"type_detection": "manual", "activity_vector": {"fixing": 0.8}},
        "resilience": {"on_llm_unavailable": "fail", "retry_queue": {"retry_delays_seconds": [1, 2.5]}},
        "llm": {"provider": "command", "command": ["m", "-x"], "api_key_command": "show-key",
                "daily_budget": {"calls": null, "usd": 2}},
        "embeddings": {"provider": "openai", "base_url": "http://localhost:1/v1/", "dimensions": 384},
        "limits": {"database_bytes": 67108864, "index_bytes": "1.5 GB", "spool_bytes": "2m"}
        "#,
    );
    assert_eq!(
        config.capture.watch_directories,
        ["/home/ann/logs", "/var/logs", "C:\\logs"].map(PathBuf::from)
    );
    assert_eq!(
        config.api.answers.trusted_namespaces,
        Some(vec![Namespace::from_number(0xa1b2_c3d4), Namespace::from_number(0x0011_2233)])
    );
    assert_eq!(config.api.query_timeout, Duration::from_millis(2_500));
    assert_eq!(config.summarize.manual_vector().unwrap().fixing, 0.8);
    assert_eq!(config.llm.resilience.on_unavailable, OnUnavailable::Fail);
    assert_eq!(config.llm.resilience.retry_delays[1], Duration::from_millis(2_500));
    assert_eq!(config.llm.key.command, Some(vec!["show-key".to_owned()]));
    assert_eq!(config.llm.daily_budget.calls, None);
    assert_eq!(config.llm.daily_budget.usd, Some(2.0));
    assert_eq!(config.search.embeddings.provider, EmbeddingProvider::OpenAi);
    assert_eq!(config.search.embeddings.base_url.as_deref(), Some("http://localhost:1/v1"));
    assert_eq!(config.limits.database_bytes, 64 << 20);
    assert_eq!(config.limits.index_bytes, 3 << 29);
    assert_eq!(config.limits.spool_bytes, 2 << 20);
}

#[test]
fn the_listed_tools_are_a_word_or_a_list_of_names() {
    let listed = |value: &str| {
        read_inner(&format!("\"mcp\": {{\"tools\": {value}}}"))
            .map(|read| read.config.api.listed_tools)
    };
    assert_eq!(Config::default().api.listed_tools, ListedTools::Core);
    assert_eq!(listed("\"core\"").unwrap(), ListedTools::Core);
    assert_eq!(listed("\"all\"").unwrap(), ListedTools::All);
    let names = ["get_handoff", "search_nodes"].map(str::to_owned).to_vec();
    assert_eq!(listed("[\"get_handoff\", \"search_nodes\"]").unwrap(), ListedTools::Named(names));
    for wrong in ["\"none\"", "[\"search\"]", "[7]", "true"] {
        assert!(listed(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn keys_beside_the_section_are_read() {
    let loaded = read_text(r#"{"query_timeout": 3, "hooks": {"handoff": false}}"#).unwrap();
    assert_eq!(loaded.config.api.query_timeout, Duration::from_secs(3));
    assert!(!loaded.config.api.hooks.handoff);
    assert_eq!(loaded.notices.len(), 2);
}

#[test]
fn unusual_values_are_refused_or_read_again_as_written() {
    let odd = [
        "null",
        "true",
        "false",
        "0",
        "-1",
        "0.5",
        "1",
        "60",
        "500",
        "1e300",
        "1e-300",
        "99999999999999999999",
        "\"\"",
        "\" \"",
        "\"x\"",
        "\"auto\"",
        "\"/x\"",
        "\"~\"",
        "\"x.md\"",
        "\"{content}\"",
        "\"1 GiB\"",
        "\"\\u0000\"",
        "\"日本\"",
        "[]",
        "[1]",
        "[\"/x\"]",
        "[null]",
        "[\"a1b2c3d4\"]",
        "[[]]",
        "{}",
        "{\"fixing\": 1}",
    ];
    let mut read = 0;
    for field in table::fields() {
        for value in odd {
            let name: Vec<&str> = field.key.split('.').skip(1).collect();
            let file = |value: &str| {
                let inner = name
                    .iter()
                    .rev()
                    .fold(value.to_owned(), |inner, name| format!("{{\"{name}\": {inner}}}"));
                format!("{{\"session_tracking\": {inner}}}")
            };
            let Ok(loaded) = read_text(&file(value)) else { continue };
            let written = field.write(&loaded.config).to_string();
            let again = read_text(&file(&written)).unwrap();
            assert_eq!(again.config, loaded.config, "{} {value} {written}", field.key);
            read += 1;
        }
    }
    assert!(read > 200, "{read}");
}
