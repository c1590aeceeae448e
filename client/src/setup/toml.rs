//! Edits TOML settings; comments and order stay unchanged.

use std::path::Path;

use toml_edit::{DocumentMut, InlineTable, Item, Table, value};

use crate::setup::{EditError, command::is_ours};

const SERVERS: &str = "mcp_servers";
const SERVER: &str = "graphiti";
const HEADER: &str = "[mcp_servers.graphiti]";
/// The environment variable for the daemon's home.
const HOME: &str = "GRAPHITI_HOME";

/// The command of our server.
pub(super) struct Server {
    pub(super) program: String,
    /// The daemon's home, unless it is the default. The settings must contain the home, because Codex
    /// does not pass environment variables on.
    pub(super) home: Option<String>,
}

/// Returns `text` with our MCP server.
pub(super) fn with_server(text: &str, server: &Server) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let servers = document.entry(SERVERS).or_insert_with(|| {
        let mut servers = Table::new();
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let servers = servers.as_table_like_mut().ok_or(EditError::Unexpected("mcp_servers"))?;
    let Server { program, home } = server;
    if let Some(there) = servers.get_mut(SERVER) {
        if !is_our_server(there) {
            return Err(EditError::Foreign("mcp_servers.graphiti"));
        }
        let mut changed = set(there, "command", program);
        if let Some(home) = home {
            changed |= set(&mut there["env"], HOME, home);
        }
        return Ok(if changed { document.to_string() } else { text.to_owned() });
    }
    let mut server = Table::new();
    server.insert("command", value(program));
    server.insert("args", value(toml_edit::Array::from_iter(["mcp"])));
    if let Some(home) = home {
        server.insert("env", value(InlineTable::from_iter([(HOME, home.as_str())])));
    }
    // Appending our table at the end moves nothing else, not even a comment. This is not possible if
    // the servers are in an inline table.
    let appended = format!("{text}{}{HEADER}\n{server}", space_before(text));
    servers.insert(SERVER, Item::Table(server));
    Ok(if parse(&appended).is_ok() { appended } else { document.to_string() })
}

/// Sets a string in a table. Returns whether the table changed.
fn set(table: &mut Item, key: &str, text: &str) -> bool {
    let is_there = table.get(key).and_then(Item::as_str) == Some(text);
    if !is_there {
        table[key] = value(text);
    }
    !is_there
}

/// Returns `text` without our server.
pub(super) fn without_server(text: &str) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let Some(servers) = document.get_mut(SERVERS).and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    if !servers.get(SERVER).is_some_and(is_our_server) {
        return Ok(text.to_owned());
    }
    servers.remove(SERVER);
    if servers.is_empty() {
        document.remove(SERVERS);
    }
    let cut = without_lines(text);
    let is_same =
        cut.parse().is_ok_and(|cut: DocumentMut| is_equivalent(cut.as_item(), document.as_item()));
    Ok(if is_same { cut } else { document.to_string() })
}

/// Returns `text` without the lines of our table and the empty line before them, which
/// `with_server` added.
fn without_lines(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(first) = lines.iter().position(|line| line.trim() == HEADER) else {
        return text.to_owned();
    };
    let is_other =
        |line: &&str| line.trim().is_empty() || line.trim_start().starts_with(['#', '[']);
    let end = lines[first + 1..].iter().position(is_other).map_or(lines.len(), |at| first + 1 + at);
    let begin = if first > 0 && lines[first - 1].trim().is_empty() { first - 1 } else { first };
    lines[..begin].iter().chain(&lines[end..]).copied().collect()
}

/// Whether two documents differ only in comments and spaces between tables.
fn is_equivalent(one: &Item, other: &Item) -> bool {
    match (one.as_table_like(), other.as_table_like()) {
        (Some(one), Some(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, item)| {
                    other.get(key).is_some_and(|other| is_equivalent(item, other))
                })
        }
        (None, None) => one.to_string().trim() == other.to_string().trim(),
        _ => false,
    }
}

/// Whether Codex, whose settings are in `text`, trusts a hook in `file`.
pub(super) fn trusts_hooks_of(text: &str, file: &Path) -> bool {
    let Ok(document) = parse(text) else { return false };
    let state = document.get("hooks").and_then(|hooks| hooks.get("state"));
    let Some(hooks) = state.and_then(Item::as_table_like) else { return false };
    // The names of the hooks have the form `FILE:EVENT:GROUP:HANDLER`.
    let prefix = format!("{}:", file.display());
    hooks.iter().any(|(name, hook)| {
        name.starts_with(&prefix) && hook.get("trusted_hash").is_some_and(Item::is_str)
    })
}

fn space_before(text: &str) -> &'static str {
    match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    }
}

fn is_our_server(server: &Item) -> bool {
    let first = server.get("args").and_then(|args| args.get(0)).and_then(Item::as_str);
    let first = first.or_else(|| {
        server.get("args").and_then(Item::as_array).and_then(|args| args.get(0)?.as_str())
    });
    server.get("command").and_then(Item::as_str).is_some_and(is_ours) && first == Some("mcp")
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse().map_err(|error: toml_edit::TomlError| EditError::Broken(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &str =
        "# mine\nmodel = \"x\" # the good one\n\n[mcp_servers.other]\ncommand = 'C:\\other.exe'\n";

    #[test]
    fn a_server_is_added_and_removed_and_the_rest_stays() {
        for text in [SETTINGS, "", "# only a comment\n", "[tui]\nnotifications = true\n"] {
            let with = with_server(text, &server("/opt/graphiti")).unwrap();
            assert!(
                with.contains(
                    "[mcp_servers.graphiti]\ncommand = \"/opt/graphiti\"\nargs = [\"mcp\"]"
                ),
                "{with}"
            );
            assert!(with.starts_with(text), "{with}");
            assert_eq!(with_server(&with, &server("/opt/graphiti")).unwrap(), with);
            let moved = with_server(&with, &server("/usr/bin/graphiti")).unwrap();
            assert!(!moved.contains("/opt/"), "{moved}");
            assert_eq!(without_server(&moved).unwrap(), text);
        }
    }

    #[test]
    fn a_server_of_another_program_stays() {
        let text = "[mcp_servers.graphiti]\ncommand = \"uv\"\nargs = [\"run\"]\n";
        assert_eq!(
            with_server(text, &server("/opt/graphiti")),
            Err(EditError::Foreign("mcp_servers.graphiti"))
        );
        assert_eq!(without_server(text).unwrap(), text);
    }

    #[test]
    fn an_invalid_file_is_not_changed() {
        assert!(matches!(with_server("[a", &server("/opt/graphiti")), Err(EditError::Broken(_))));
    }

    #[test]
    fn the_home_is_set_for_an_agent_that_passes_no_variables_on() {
        let elsewhere =
            |home: &str| Server { home: Some(home.to_owned()), ..server("/opt/graphiti") };
        for text in [SETTINGS, ""] {
            let with = with_server(text, &elsewhere("/data/g")).unwrap();
            assert!(with.contains("env = { GRAPHITI_HOME = \"/data/g\" }"), "{with}");
            assert_eq!(with_server(&with, &elsewhere("/data/g")).unwrap(), with);
            assert_eq!(with_server(&with, &server("/opt/graphiti")).unwrap(), with, "home stays");
            let moved = with_server(&with, &elsewhere("/data/h")).unwrap();
            assert!(moved.contains("/data/h") && !moved.contains("/data/g"), "{moved}");
            assert_eq!(without_server(&moved).unwrap(), text);
            // An earlier setup wrote the table without a home.
            let before = with_server(text, &server("/opt/graphiti")).unwrap();
            let after = with_server(&before, &elsewhere("/data/g")).unwrap();
            assert!(after.contains("GRAPHITI_HOME"), "{after}");
            assert_eq!(without_server(&after).unwrap(), text);
        }
        let text = "[mcp_servers.graphiti]\ncommand = \"/opt/graphiti\"\nargs = [\"mcp\"]\n\n\
            [mcp_servers.graphiti.env]\nMINE = \"1\"\n";
        let with = with_server(text, &elsewhere("/data/g")).unwrap();
        assert!(with.contains("MINE = \"1\"\nGRAPHITI_HOME = \"/data/g\""), "{with}");
        assert_eq!(without_server(&with).unwrap().trim(), "");
    }

    #[test]
    fn hooks_are_trusted_if_the_settings_contain_their_trusted_hash() {
        let text = "[hooks.state.\"/h/.codex/hooks.json:session_start:0:0\"]\n\
            trusted_hash = \"sha256:1\"\n";
        let trusts = |text, file| trusts_hooks_of(text, Path::new(file));
        assert!(trusts(text, "/h/.codex/hooks.json"));
        assert!(!trusts(text, "/h/.codex/hooks"));
        assert!(!trusts("[hooks.state]\n", "/h/.codex/hooks.json"));
        assert!(!trusts("[h", "/h/.codex/hooks.json") && !trusts("", "/h/.codex/hooks.json"));
    }

    fn server(program: &str) -> Server {
        Server { program: program.to_owned(), home: None }
    }
}
