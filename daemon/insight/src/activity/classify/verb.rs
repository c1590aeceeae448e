//! Maps single words: verbs to an intent, nouns to a domain (section 3.4 of the specification
//! intelligent-session-summarization).
//!
//! The lists come from the specification, with additions. Only whole words count, and the first
//! verb of a name decides, because names usually begin with their verb.

use crate::model::tool::{ToolDomain, ToolIntent};

/// Returns the intent of a verb, and the confidence before the discount for guesses.
pub(crate) fn intent_of(word: &str) -> Option<(ToolIntent, f64)> {
    let found = INTENTS.iter().find(|(words, ..)| words.contains(&word));
    found.map(|(_, intent, confidence)| (*intent, *confidence))
}

/// Returns the first domain of the table that has one of `words` as a noun.
pub(crate) fn domain_of<W: AsRef<str>>(words: &[W]) -> Option<ToolDomain> {
    let names =
        |nouns: &&(&[&str], ToolDomain)| words.iter().any(|word| nouns.0.contains(&word.as_ref()));
    DOMAINS.iter().find(names).map(|(_, domain)| *domain)
}

type Verbs = (&'static [&'static str], ToolIntent, f64);

static INTENTS: &[Verbs] = &[
    (
        &[
            "read",
            "get",
            "fetch",
            "list",
            "show",
            "retrieve",
            "view",
            "describe",
            "inspect",
            "info",
            "status",
            "display",
            "dump",
            "tail",
            "log",
            "logs",
            "load",
            "download",
            "explain",
            "stats",
            "stat",
            "snapshot",
            "screenshot",
            "watch",
            "poll",
            "count",
            "history",
            "preview",
            "ls",
            "cat",
            "peek",
            "whoami",
            "version",
            "help",
            "overview",
            "report",
            "trace",
            "diff",
            "summary",
        ],
        ToolIntent::Read,
        0.7,
    ),
    (
        &[
            "write", "create", "add", "new", "insert", "make", "generate", "upload", "append",
            "register", "save", "store", "remember", "compose", "draft", "scaffold", "clone",
            "copy", "record",
        ],
        ToolIntent::Create,
        0.7,
    ),
    (
        &[
            "edit",
            "update",
            "modify",
            "replace",
            "patch",
            "change",
            "set",
            "rename",
            "move",
            "merge",
            "apply",
            "rewrite",
            "assign",
            "close",
            "reopen",
            "transition",
            "toggle",
            "upsert",
            "sync",
            "refactor",
            "put",
            "migrate",
            "reorder",
            "mark",
            "archive",
            "restore",
            "adjust",
        ],
        ToolIntent::Modify,
        0.7,
    ),
    (
        &[
            "delete",
            "remove",
            "clear",
            "drop",
            "purge",
            "destroy",
            "uninstall",
            "erase",
            "prune",
            "rm",
            "clean",
        ],
        ToolIntent::Delete,
        0.8,
    ),
    (
        &[
            "search", "find", "grep", "query", "lookup", "locate", "resolve", "discover", "glob",
            "browse", "recall", "rg",
        ],
        ToolIntent::Search,
        0.8,
    ),
    (
        &[
            "run", "exec", "execute", "invoke", "call", "start", "stop", "kill", "launch",
            "navigate", "click", "press", "hover", "drag", "evaluate", "eval", "trigger",
            "restart", "serve", "spawn", "build", "compile", "open", "fill", "type", "scroll",
            "wait", "delegate", "cancel", "select", "up", "down",
        ],
        ToolIntent::Execute,
        0.7,
    ),
    (
        &[
            "test",
            "check",
            "validate",
            "verify",
            "lint",
            "assert",
            "audit",
            "typecheck",
            "diagnose",
            "diagnostics",
            "tests",
            "doctor",
            "review",
        ],
        ToolIntent::Validate,
        0.7,
    ),
    (
        &[
            "config",
            "setup",
            "init",
            "install",
            "configure",
            "login",
            "connect",
            "authenticate",
            "auth",
            "enable",
            "disable",
            "activate",
            "onboarding",
        ],
        ToolIntent::Configure,
        0.7,
    ),
    (
        &[
            "send",
            "post",
            "notify",
            "reply",
            "message",
            "publish",
            "push",
            "deploy",
            "share",
            "invite",
            "ask",
            "email",
            "broadcast",
            "announce",
            "submit",
            "comment",
        ],
        ToolIntent::Communicate,
        0.7,
    ),
    (
        &[
            "convert",
            "transform",
            "parse",
            "encode",
            "decode",
            "compress",
            "extract",
            "render",
            "translate",
            "format",
        ],
        ToolIntent::Transform,
        0.7,
    ),
];

static DOMAINS: &[(&[&str], ToolDomain)] = &[
    (
        &["file", "files", "dir", "directory", "directories", "path", "folder", "fs", "filesystem"],
        ToolDomain::Filesystem,
    ),
    (
        &[
            "symbol",
            "symbols",
            "code",
            "codebase",
            "ast",
            "syntax",
            "serena",
            "diagnostics",
            "definition",
            "references",
            "lint",
        ],
        ToolDomain::Code,
    ),
    (
        &[
            "git",
            "commit",
            "commits",
            "branch",
            "merge",
            "push",
            "pull",
            "pr",
            "github",
            "gitlab",
            "repo",
            "repository",
        ],
        ToolDomain::VersionControl,
    ),
    (
        &["db", "database", "sql", "query", "neo4j", "table", "tables", "schema"],
        ToolDomain::Database,
    ),
    (&["http", "api", "fetch", "request", "url", "web", "browser"], ToolDomain::Network),
    (&["bash", "shell", "process", "cmd", "terminal", "command", "container"], ToolDomain::Process),
    (&["npm", "pip", "cargo", "package", "packages", "install", "uv"], ToolDomain::Package),
    (&["test", "tests", "pytest", "jest", "spec", "coverage"], ToolDomain::Testing),
    (
        &[
            "memory",
            "memories",
            "remember",
            "episode",
            "episodes",
            "knowledge",
            "graphiti",
            "thoughts",
            "journal",
            "todo",
            "task",
            "tasks",
            "plan",
        ],
        ToolDomain::Memory,
    ),
    (&["doc", "docs", "documentation", "readme", "comment", "markdown"], ToolDomain::Documentation),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_verb_is_in_two_lists() {
        let mut all: Vec<&str> = INTENTS.iter().flat_map(|(words, ..)| *words).copied().collect();
        all.sort_unstable();
        let twice: Vec<_> = all.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
