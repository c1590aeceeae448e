//! The address of the graph database that contains the shared graph. Such a database is called an
//! engine here.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    FalkorDb,
    Neo4j,
}

impl EngineKind {
    pub fn as_str(self) -> &'static str {
        match self {
            EngineKind::FalkorDb => "falkordb",
            EngineKind::Neo4j => "neo4j",
        }
    }
}

/// A parsed address. It never contains a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub host: String,
    pub port: u16,
    pub has_tls: bool,
    /// The database of Neo4j.
    pub database: String,
    pub engine: EngineKind,
}

/// What is wrong with an address, and how to correct it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidUrl(String);

/// The protocols and ports of an engine.
struct UrlForm {
    plain: &'static [&'static str],
    tls: &'static [&'static str],
    port: u16,
    tls_port: u16,
    default_url: &'static str,
    example: &'static str,
}

const FALKORDB: UrlForm = UrlForm {
    plain: &["redis", "falkor"],
    tls: &["rediss", "falkors"],
    port: 6379,
    tls_port: 6379,
    default_url: "redis://127.0.0.1:6379",
    example: "rediss://graph.example.org:6379",
};

const NEO4J: UrlForm = UrlForm {
    plain: &["http"],
    tls: &["https"],
    port: 7474,
    tls_port: 7473,
    default_url: "http://127.0.0.1:7474",
    example: "https://graph.example.org:7473/neo4j",
};

impl Endpoint {
    /// Parses `url`. If `needs_tls`, an address of another machine must use TLS.
    pub(super) fn read(
        engine: EngineKind,
        url: Option<&str>,
        needs_tls: bool,
    ) -> Result<Endpoint, InvalidUrl> {
        let form = match engine {
            EngineKind::FalkorDb => &FALKORDB,
            EngineKind::Neo4j => &NEO4J,
        };
        let wrong = |what: &str| InvalidUrl(format!("{what}; write {}, for example", form.example));
        let url = url.unwrap_or(form.default_url);
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong("has no protocol"))?;
        let has_tls = form.tls.contains(&scheme);
        if !has_tls && !form.plain.contains(&scheme) {
            let what = format!("`{scheme}` is not a protocol of {}", engine.as_str());
            return Err(wrong(&what));
        }
        let (address, path) = rest.split_once('/').unwrap_or((rest, ""));
        if address.contains('@') {
            return Err(wrong(
                "contains a user or a password; move them to `share.user` and `share.password_env`",
            ));
        }
        let (host, port) = split_port(address).ok_or_else(|| wrong("has no valid port"))?;
        if host.is_empty() || host.contains(char::is_whitespace) {
            return Err(wrong("has no host name"));
        }
        let endpoint = Endpoint {
            port: port.unwrap_or(if has_tls { form.tls_port } else { form.port }),
            host: host.to_owned(),
            has_tls,
            database: match path.trim_matches('/') {
                "" => "neo4j".to_owned(),
                name => name.to_owned(),
            },
            engine,
        };
        if !endpoint
            .database
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        {
            return Err(wrong("has an invalid database name"));
        }
        if needs_tls && !has_tls && !endpoint.is_local() {
            return Err(InvalidUrl(format!(
                "does not use TLS; write {}:// as the protocol, or set `share.tls` to false if you trust the network",
                form.tls[0]
            )));
        }
        Ok(endpoint)
    }

    pub fn is_local(&self) -> bool {
        let host = self.host.trim_matches(['[', ']']);
        host == "localhost"
            || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

/// Splits `host:port`, where the host may be an IPv6 address in brackets.
fn split_port(address: &str) -> Option<(&str, Option<u16>)> {
    let after_host = address.rfind(']').map_or(0, |end| end + 1);
    match address[after_host..].rfind(':') {
        None => Some((address, None)),
        Some(colon) => {
            let (host, port) = address.split_at(after_host + colon);
            Some((host, Some(port[1..].parse().ok()?)))
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, path) = match (self.engine, self.has_tls) {
            (EngineKind::FalkorDb, true) => ("rediss", ""),
            (EngineKind::FalkorDb, false) => ("redis", ""),
            (EngineKind::Neo4j, true) => ("https", self.database.as_str()),
            (EngineKind::Neo4j, false) => ("http", self.database.as_str()),
        };
        write!(f, "{scheme}://{}:{}", self.host, self.port)?;
        if path.is_empty() { Ok(()) } else { write!(f, "/{path}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(engine: EngineKind, url: &str, needs_tls: bool) -> String {
        match Endpoint::read(engine, Some(url), needs_tls) {
            Ok(endpoint) => endpoint.to_string(),
            Err(InvalidUrl(what)) => what,
        }
    }

    #[test]
    fn addresses_are_parsed_and_completed() {
        use EngineKind::{FalkorDb, Neo4j};
        for (engine, url, wanted) in [
            (FalkorDb, "redis://127.0.0.1", "redis://127.0.0.1:6379"),
            (FalkorDb, "falkor://[::1]:7000", "redis://[::1]:7000"),
            (FalkorDb, "rediss://graph.example.org:6380/", "rediss://graph.example.org:6380"),
            (Neo4j, "http://localhost", "http://localhost:7474/neo4j"),
            (Neo4j, "https://db.example.org/team", "https://db.example.org:7473/team"),
        ] {
            assert_eq!(read(engine, url, true), wanted, "{url}");
        }
    }

    #[test]
    fn the_error_of_an_invalid_address_contains_the_remedy() {
        use EngineKind::{FalkorDb, Neo4j};
        for (engine, url, wanted) in [
            (FalkorDb, "graph.example.org", "has no protocol; write rediss://"),
            (Neo4j, "bolt://localhost", "`bolt` is not a protocol of neo4j; write https://"),
            (FalkorDb, "redis://ann:secret@localhost", "move them to `share.user`"),
            (FalkorDb, "redis://localhost:none", "has no valid port"),
            (FalkorDb, "redis://", "has no host name"),
            (Neo4j, "http://localhost/a/b?c", "has an invalid database name"),
            (FalkorDb, "redis://graph.example.org", "does not use TLS; write rediss://"),
        ] {
            let what = read(engine, url, true);
            assert!(what.contains(wanted), "{url}: {what}");
            assert!(!what.contains("secret"), "{what}");
        }
        assert_eq!(read(FalkorDb, "redis://graph", false), "redis://graph:6379");
    }
}
