//! Refines the classification of programs whose intent or domain depends on options or arguments in
//! a way that the table cannot express.

use crate::{
    activity::classify::{bash::command, file::FileKind},
    lang::shell::{
        args::Args,
        inner,
        parse::{Redirect, ShellCommand},
    },
    model::tool::{ToolDomain, ToolIntent},
};

/// The parts of a classification that the arguments determine; `None` keeps the value of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Refinement {
    pub(super) intent: Option<ToolIntent>,
    pub(super) domain: Option<ToolDomain>,
}

/// Refines the classification of a command of the program `name`.
pub(super) fn refine(name: &str, args: &Args, command: &ShellCommand) -> Refinement {
    let words = command.words.get(1..).unwrap_or_default();
    match name {
        "curl" | "http" | "https" | "xh" | "wget" | "curlie" => refine_web(name, args),
        "gh" => refine_gh(args),
        "find" | "gfind" | "fd" | "fdfind" => refine_find(command),
        "tar" | "gtar" | "bsdtar" => archive(words),
        "rsync" | "rclone" => refine_copy(args),
        "psql" | "pgcli" | "mysql" | "mariadb" | "sqlite3" | "sqlite" | "duckdb" | "clickhouse"
        | "clickhouse-client" | "usql" | "sqlcmd" | "cockroach" | "bq" | "trino" | "snowsql" => {
            query(args, &command.redirects)
        }
        _ => Refinement::default(),
    }
}

/// Classifies a command that prints text into a file, and so creates or changes the file.
pub(super) fn classify_print_redirect(
    name: &str,
    redirects: &[Redirect],
) -> Option<(ToolIntent, FileKind)> {
    if !matches!(name, "cat" | "echo" | "printf" | "print" | "bat") {
        return None;
    }
    redirects.iter().find_map(|redirect| match redirect {
        Redirect::Written(path) if !is_device(path) => {
            Some((ToolIntent::Create, FileKind::of(path)))
        }
        Redirect::Appended(path) if !is_device(path) => {
            Some((ToolIntent::Modify, FileKind::of(path)))
        }
        _ => None,
    })
}

fn is_device(path: &str) -> bool {
    path.starts_with("/dev/")
}

/// Classifies an SQL text by its first verb. A command of a database client, such as `\dt` or
/// `.tables`, is a read.
pub(super) fn of_sql(text: &str) -> Option<ToolIntent> {
    let text = text.trim_start();
    if text.starts_with('\\') || text.starts_with('.') {
        return Some(ToolIntent::Read);
    }
    let verbs =
        text.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    verbs.map(str::to_ascii_lowercase).take(40).find_map(|verb| match verb.as_str() {
        "with" => Some(change_after_with(text).unwrap_or(ToolIntent::Read)),
        "select" | "show" | "explain" | "describe" | "pragma" | "values" | "list" | "tables" => {
            Some(ToolIntent::Read)
        }
        "insert" | "create" | "copy" => Some(ToolIntent::Create),
        "update" | "alter" | "replace" | "merge" | "upsert" | "grant" | "revoke" | "vacuum"
        | "reindex" => Some(ToolIntent::Modify),
        "delete" | "drop" | "truncate" => Some(ToolIntent::Delete),
        _ => None,
    })
}

/// Returns the intent of the first clause that changes data in an SQL or Cypher text with the
/// clause `WITH`. Quoted values and parts of names such as `last_update` do not count.
fn change_after_with(text: &str) -> Option<ToolIntent> {
    let unquoted = text.split(['\'', '"', '`']).step_by(2);
    let words = unquoted.flat_map(|part| {
        part.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
    });
    let words = words.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase);
    let mut before = String::new();
    for word in words {
        let intent = match (before.as_str(), word.as_str()) {
            // `SELECT … FOR UPDATE` locks rows, and a character set is a type.
            ("for", "update") | ("character", "set") => None,
            (_, "insert" | "create") => Some(ToolIntent::Create),
            (_, "update" | "merge" | "set") => Some(ToolIntent::Modify),
            (_, "delete" | "remove") => Some(ToolIntent::Delete),
            _ => None,
        };
        if intent.is_some() {
            return intent;
        }
        before = word;
    }
    None
}

fn intent(intent: ToolIntent) -> Refinement {
    Refinement { intent: Some(intent), domain: None }
}

fn refine_web(name: &str, args: &Args) -> Refinement {
    let joined = args.flags.iter().filter_map(|flag| flag.strip_prefix("-X"));
    let mut joined = joined.filter(|method| !method.is_empty()).map(str::to_owned);
    let method = args.value(&["-X", "--request", "--method"]).map(str::to_owned);
    let method = method.or_else(|| joined.next()).or_else(|| {
        let is_method =
            |word: &&String| word.len() < 8 && word.bytes().all(|byte| byte.is_ascii_uppercase());
        args.positionals.first().filter(is_method).cloned()
    });
    let sends = match method.as_deref() {
        Some("GET" | "HEAD" | "OPTIONS") => false,
        Some(_) => true,
        // The short options of wget have other meanings than those of curl.
        None if name == "wget" => args.flags.iter().any(|flag| flag.starts_with("--post-")),
        None => SENDING
            .iter()
            .any(|option| args.flags.iter().any(|flag| flag.split('=').next() == Some(option))),
    };
    if sends { intent(ToolIntent::Communicate) } else { Refinement::default() }
}

const SENDING: [&str; 10] = [
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "-T",
    "--upload-file",
];

/// Classifies `gh api`: a request is a read if it is a GraphQL query, or if the options state the
/// method `GET`, even with a body.
fn refine_gh(args: &Args) -> Refinement {
    if args.positionals.first().is_none_or(|word| word != "api") {
        return Refinement::default();
    }
    let is_query = args.positionals.get(1).is_some_and(|word| word == "graphql")
        && !args.values.iter().any(|(_, value)| value.contains("mutation"));
    let reads = is_query || matches!(args.value(&["-X", "--method"]), Some("GET" | "get"));
    if reads { intent(ToolIntent::Read) } else { Refinement::default() }
}

/// Classifies `find` by `-delete`, or by the command that it runs on the results.
fn refine_find(command: &ShellCommand) -> Refinement {
    if command.words.iter().any(|word| word == "-delete") {
        return intent(ToolIntent::Delete);
    }
    let Some(inner) = inner::command_of_find(&command.words) else { return Refinement::default() };
    if matches!(inner.first().map(String::as_str), Some("sh" | "bash" | "zsh")) {
        return Refinement::default();
    }
    match command::effect_of(inner) {
        Some((ToolIntent::Read, _)) | None => Refinement::default(),
        Some((intent, domain)) => Refinement { intent: Some(intent), domain: Some(domain) },
    }
}

/// Classifies a copy to or from another machine (`host:path`).
fn refine_copy(args: &Args) -> Refinement {
    let is_remote = |word: &String| {
        word.split_once(':').is_some_and(|(host, _)| host.len() > 1 && !host.contains('/'))
    };
    if args.positionals.iter().any(is_remote) {
        return Refinement {
            intent: Some(ToolIntent::Communicate),
            domain: Some(ToolDomain::Network),
        };
    }
    Refinement::default()
}

fn archive(words: &[String]) -> Refinement {
    let first = words.first().map(String::as_str).unwrap_or_default();
    let letters = first.trim_start_matches('-');
    let is_short = !first.starts_with("--");
    if is_short && letters.len() <= 6 && letters.contains('t') && !letters.contains(['c', 'x']) {
        intent(ToolIntent::Read)
    } else {
        Refinement::default()
    }
}

fn query(args: &Args, redirects: &[Redirect]) -> Refinement {
    let given = args.value(&["-c", "--command", "-e", "--execute", "--query", "-q", "-cmd"]);
    let by_text = given
        .into_iter()
        .chain(args.positionals.iter().map(String::as_str).filter(|word| may_be_sql(word)))
        .chain(redirects.iter().filter_map(|redirect| match redirect {
            Redirect::Text(text) => Some(text.as_str()),
            _ => None,
        }))
        .find_map(of_sql);
    let runs_file = args.value(&["-f", "--file"]).is_some()
        || redirects.iter().any(|redirect| matches!(redirect, Redirect::Read(_)));
    match by_text {
        Some(found) => intent(found),
        None if runs_file => intent(ToolIntent::Modify),
        None if args.has("-l") || args.has("--list") => intent(ToolIntent::Read),
        None => Refinement::default(),
    }
}

/// Whether a word can be SQL or a command of the database client, and not the name of a database.
fn may_be_sql(word: &str) -> bool {
    word.contains(char::is_whitespace)
        || word.starts_with('\\')
        || (word.starts_with('.') && !word.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_verb_of_an_sql_text_determines_the_intent() {
        for (text, expected) in [
            ("SELECT 1", Some(ToolIntent::Read)),
            ("  insert into t values (1)", Some(ToolIntent::Create)),
            ("BEGIN; UPDATE t SET a = 1", Some(ToolIntent::Modify)),
            ("drop table selected", Some(ToolIntent::Delete)),
            ("WITH t AS (SELECT last_update FROM u) SELECT 1 FROM t", Some(ToolIntent::Read)),
            ("WITH t AS (SELECT 1) SELECT * FROM t WHERE a = 'delete'", Some(ToolIntent::Read)),
            ("WITH t AS (SELECT 1) SELECT * FROM t FOR UPDATE", Some(ToolIntent::Read)),
            ("WITH old AS (SELECT 1) DELETE FROM t", Some(ToolIntent::Delete)),
            ("MATCH (n) WITH n LIMIT 9 DETACH DELETE n", Some(ToolIntent::Delete)),
            (r"\dt", Some(ToolIntent::Read)),
            (".tables", Some(ToolIntent::Read)),
            ("data/app.db", None),
            ("", None),
        ] {
            assert_eq!(of_sql(text), expected, "{text}");
        }
    }
}
