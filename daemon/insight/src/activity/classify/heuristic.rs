//! Classifies tools, such as the tools of MCP servers, by their names alone (section 3.4 of the
//! specification intelligent-session-summarization).

use crate::{
    activity::{
        classify::{signals, verb},
        words,
    },
    model::tool::{ToolClassification, ToolDomain, ToolIntent},
};

/// The minimum confidence of a guess from a name, before the discount.
pub const THRESHOLD: f64 = 0.7;
/// The factor for the confidence of a guess from a name.
pub(crate) const DISCOUNT: f64 = 0.8;

/// Classifies a tool by the words of its name. Returns `None` if the first verb is too uncertain,
/// or if there is no verb and the tools of the server have no usual intent.
pub fn classify(tool: &str) -> Option<ToolClassification> {
    let (server, own) = parts(tool);
    let own_words = words::of_name(own);
    let server_words = words::of_name(server);
    let known_server = known_server(&server_words);
    let verb = own_words.iter().find_map(|word| verb::intent_of(word));
    let (intent, confidence) =
        match (verb, known_server.and_then(|known_server| known_server.intent)) {
            (Some(found), _) => found,
            (None, Some(usual)) => (usual, THRESHOLD),
            (None, None) => return None,
        };
    if confidence < THRESHOLD {
        return None;
    }
    let domain = domain(&own_words, &server_words, known_server);
    Some(ToolClassification {
        tool_name: tool.to_owned(),
        intent,
        domain,
        confidence: confidence * DISCOUNT,
        reasoning: format!("the name `{tool}`"),
        activity_signals: signals::of_intent(intent, domain),
    })
}

/// Splits a name into server and tool. The prefix `mcp__` or `mcp_` is removed, and the rest is
/// split at `__`, `/` or `.`. A rest without these marks is split at its first `_` if the prefix is
/// `mcp_` and a known server precedes this `_` (`mcp_github_list_prs`). Otherwise, the server is
/// empty.
fn parts(tool: &str) -> (&str, &str) {
    let rest = tool.strip_prefix("mcp__").or(tool.strip_prefix("mcp_")).unwrap_or(tool);
    let marked = rest.split_once("__").or(rest.split_once('/')).or(rest.split_once('.'));
    let by_server = || {
        let parts = tool.strip_prefix("mcp_")?.split_once('_')?;
        known_server(&words::of_name(parts.0)).map(|_| parts)
    };
    marked.or_else(by_server).unwrap_or(("", rest))
}

fn domain(own: &[String], server: &[String], known_server: Option<&KnownServer>) -> ToolDomain {
    let names = |words: &[&str]| own.iter().any(|word| words.contains(&word.as_str()));
    if names(&["memory", "memories", "thoughts", "remember"]) {
        return ToolDomain::Memory;
    }
    if names(&["shell", "bash", "terminal"]) {
        return ToolDomain::Process;
    }
    known_server
        .map(|known_server| known_server.domain)
        .or(verb::domain_of(own))
        .or(verb::domain_of(server))
        .unwrap_or(ToolDomain::Unknown)
}

#[derive(Debug)]
struct KnownServer {
    names: &'static [&'static str],
    domain: ToolDomain,
    /// The intent of the tools whose names have no verb.
    intent: Option<ToolIntent>,
}

fn known_server(server: &[String]) -> Option<&'static KnownServer> {
    KNOWN_SERVERS
        .iter()
        .find(|known_server| server.iter().any(|word| known_server.names.contains(&word.as_str())))
}

static KNOWN_SERVERS: &[KnownServer] = &[
    KnownServer {
        names: &[
            "playwright",
            "puppeteer",
            "browser",
            "selenium",
            "chrome",
            "devtools",
            "cypress",
            "browserbase",
            "stagehand",
        ],
        domain: ToolDomain::Testing,
        intent: Some(ToolIntent::Execute),
    },
    KnownServer {
        names: &[
            "memory",
            "graphiti",
            "mem0",
            "journal",
            "remember",
            "knowledge",
            "episodic",
            "thinking",
            "obsidian",
            "zettelkasten",
            "beads",
        ],
        domain: ToolDomain::Memory,
        intent: Some(ToolIntent::Create),
    },
    KnownServer {
        names: &[
            "context7",
            "docs",
            "documentation",
            "deepwiki",
            "devdocs",
            "mslearn",
            "confluence",
            "notion",
            "wiki",
            "gitbook",
            "readme",
        ],
        domain: ToolDomain::Documentation,
        intent: Some(ToolIntent::Read),
    },
    KnownServer {
        names: &[
            "serena",
            "ide",
            "lsp",
            "jetbrains",
            "vscode",
            "sourcegraph",
            "treesitter",
            "semgrep",
            "sonarqube",
            "sonar",
            "codegraph",
            "xcode",
            "xcodebuild",
            "unity",
            "godot",
        ],
        domain: ToolDomain::Code,
        intent: None,
    },
    KnownServer {
        names: &["github", "gitlab", "git", "gitea", "bitbucket", "forgejo"],
        domain: ToolDomain::VersionControl,
        intent: None,
    },
    KnownServer {
        names: &[
            "postgres",
            "postgresql",
            "sqlite",
            "mysql",
            "mongodb",
            "mongo",
            "redis",
            "supabase",
            "neon",
            "neo4j",
            "bigquery",
            "snowflake",
            "duckdb",
            "clickhouse",
            "prisma",
            "qdrant",
            "chroma",
            "pinecone",
            "elasticsearch",
            "dbhub",
            "database",
            "sql",
            "airtable",
        ],
        domain: ToolDomain::Database,
        intent: None,
    },
    KnownServer {
        names: &["filesystem", "fs", "files", "commander"],
        domain: ToolDomain::Filesystem,
        intent: None,
    },
    KnownServer {
        names: &[
            "docker",
            "kubernetes",
            "k8s",
            "shell",
            "terminal",
            "tmux",
            "iterm",
            "ssh",
            "process",
        ],
        domain: ToolDomain::Process,
        intent: None,
    },
    KnownServer {
        names: &[
            "linear",
            "jira",
            "atlassian",
            "slack",
            "discord",
            "sentry",
            "figma",
            "asana",
            "trello",
            "clickup",
            "gmail",
            "email",
            "teams",
            "telegram",
            "stripe",
            "aws",
            "gcp",
            "azure",
            "cloudflare",
            "vercel",
            "netlify",
            "datadog",
            "grafana",
            "pagerduty",
            "zapier",
            "google",
            "drive",
            "calendar",
            "shopify",
            "hubspot",
            "salesforce",
            "zendesk",
            "intercom",
            "twilio",
            "railway",
            "render",
            "heroku",
            "posthog",
            "miro",
            "excalidraw",
            "monday",
            "todoist",
        ],
        domain: ToolDomain::Network,
        intent: None,
    },
    KnownServer {
        names: &[
            "exa",
            "tavily",
            "brave",
            "perplexity",
            "search",
            "duckduckgo",
            "serper",
            "searxng",
            "kagi",
            "gptr",
        ],
        domain: ToolDomain::Network,
        intent: Some(ToolIntent::Search),
    },
    KnownServer {
        names: &["fetch", "firecrawl", "crawl4ai", "http", "jina", "scraper"],
        domain: ToolDomain::Network,
        intent: Some(ToolIntent::Read),
    },
    KnownServer {
        names: &["npm", "pypi", "maven", "nixos", "homebrew"],
        domain: ToolDomain::Package,
        intent: None,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The test `test_tool_classifier_heuristic` in section 9.1.
    #[test]
    fn finding_a_symbol_is_searching_code() {
        let found = classify("mcp__serena__find_symbol").expect("certain enough");
        assert_eq!((found.intent, found.domain), (ToolIntent::Search, ToolDomain::Code));
        assert!(found.confidence >= 0.5);
    }

    #[test]
    fn whole_words_count_and_parts_of_words_do_not() {
        assert_eq!(classify("mcp__acme__thread_pool"), None);
        assert_eq!(classify("address_book"), None);
        assert_eq!(classify("latest"), None);
        assert_eq!(classify("mcp__acme__read_thread").expect("read").intent, ToolIntent::Read);
    }

    #[test]
    fn the_first_verb_decides() {
        for (tool, intent) in [
            ("update_read_status", ToolIntent::Modify),
            ("getOrCreateUser", ToolIntent::Read),
            ("issue_write", ToolIntent::Create),
            ("browser_click", ToolIntent::Execute),
        ] {
            assert_eq!(classify(tool).expect("has a verb").intent, intent, "{tool}");
        }
    }

    #[test]
    fn a_name_without_verb_and_known_server_is_unknown() {
        for tool in ["mcp__unknown__custom_tool", "unknown_tool", "", "mcp__", "__"] {
            assert_eq!(classify(tool), None, "{tool}");
        }
    }

    #[test]
    fn names_are_split_as_agents_write_them() {
        assert_eq!(parts("mcp__linear-server__get_issue"), ("linear-server", "get_issue"));
        assert_eq!(parts("github__list_prs"), ("github", "list_prs"));
        assert_eq!(parts("mcp_github_list_prs"), ("github", "list_prs"));
        assert_eq!(parts("mcp_find_symbol"), ("", "find_symbol"));
        assert_eq!(parts("_fetch_pr"), ("", "_fetch_pr"));
        assert_eq!(parts("mcp__a__b__c"), ("a", "b__c"));
    }
}
