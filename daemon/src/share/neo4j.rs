//! Runs statements in Neo4j with its HTTP Query API. All groups are in one database, and are
//! distinguished by `group_id`.

use std::{future::Future, pin::Pin, time::Duration};

use serde_json::{Value, json};

use crate::share::{
    Dialect, Endpoint, EngineError, GraphEngine, Row, Statement,
    graph_engine::{Instance, ReadResult, RunResult},
    password::Credentials,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for a statement. Even a busy engine needs less time.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);
/// Neo4j's access mode for statements that may change something.
const WRITE: &str = "WRITE";
const MAX_RESPONSE_BYTES: usize = 32 << 20;

pub struct Neo4j {
    endpoint: Endpoint,
    credentials: Credentials,
    client: Result<reqwest::Client, EngineError>,
}

/// Installs the cryptography provider for TLS connections.
pub(super) fn install_tls() {
    // This fails if a provider was installed already. In this case, that provider is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

impl Neo4j {
    pub(super) fn new(endpoint: Endpoint, credentials: Credentials) -> Neo4j {
        install_tls();
        let builder = reqwest::Client::builder();
        let builder = if endpoint.is_local() { builder.no_proxy() } else { builder };
        let client = builder
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(STATEMENT_TIMEOUT)
            // A redirect must not carry the password to another server.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("graphitid/", env!("CARGO_PKG_VERSION")))
            .build();
        let client = client.map_err(|error| EngineError::Unreachable(describe(error)));
        Neo4j { endpoint, credentials, client }
    }

    /// Sends a request, and returns the JSON of its response.
    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Value, EngineError> {
        let password = self.credentials.password()?;
        let request = match (&self.credentials.user, &password) {
            (None, None) => request,
            (user, password) => {
                request.basic_auth(user.as_deref().unwrap_or("neo4j"), password.as_deref())
            }
        };
        let unreachable = |error| EngineError::Unreachable(describe(error));
        let mut response = request.send().await.map_err(unreachable)?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_RESPONSE_BYTES {
                return Err(EngineError::Rejected("the response is too long".to_owned()));
            }
        }
        let body: Value = match serde_json::from_slice(&bytes) {
            Ok(body) => body,
            Err(_) if (200..300).contains(&status) => {
                let error = "the server answers without JSON; is this the HTTP port of Neo4j?";
                return Err(EngineError::Unreachable(error.to_owned()));
            }
            Err(_) => Value::Null,
        };
        match failure(status, &body) {
            Some(error) => Err(error),
            None => Ok(body),
        }
    }

    async fn query(
        &self,
        statement: &Statement,
        access: &str,
        limit: Duration,
    ) -> Result<Vec<Row>, EngineError> {
        let Endpoint { host, port, has_tls, database, .. } = &self.endpoint;
        let scheme = if *has_tls { "https" } else { "http" };
        let url = format!("{scheme}://{host}:{port}/db/{database}/query/v2");
        let body = json!({
            "statement": statement.text, "parameters": statement.parameters, "accessMode": access,
        });
        let request = self.client.as_ref().map_err(Clone::clone)?.post(url);
        let request = request
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .body(body.to_string());
        match tokio::time::timeout(limit, self.send(request)).await {
            Ok(answer) => Ok(rows(&answer?)),
            Err(_) => Err(EngineError::TimedOut(limit)),
        }
    }
}

impl GraphEngine for Neo4j {
    fn dialect(&self) -> Dialect {
        Dialect::Neo4j
    }

    fn run<'e>(&'e self, _group: &'e str, statements: &'e [Statement]) -> RunResult<'e> {
        Box::pin(async move {
            let mut results = Vec::with_capacity(statements.len());
            for statement in statements {
                results.push(self.query(statement, WRITE, STATEMENT_TIMEOUT).await?);
            }
            Ok(results)
        })
    }

    fn read<'e>(
        &'e self,
        _group: &'e str,
        statement: &'e Statement,
        limit: Duration,
    ) -> ReadResult<'e> {
        Box::pin(self.query(statement, "READ", limit))
    }

    fn instance(&self) -> Pin<Box<dyn Future<Output = Result<Instance, EngineError>> + Send + '_>> {
        Box::pin(async move {
            let Endpoint { host, port, has_tls, .. } = &self.endpoint;
            let scheme = if *has_tls { "https" } else { "http" };
            let client = self.client.as_ref().map_err(Clone::clone)?;
            let request = client.get(format!("{scheme}://{host}:{port}/"));
            let response = self.send(request.header("accept", "application/json")).await?;
            let version = response["neo4j_version"].as_str().unwrap_or("of an unknown version");
            // The request above does not need a login, so this query checks the login.
            self.query(&Statement::plain("RETURN 1 AS one"), WRITE, STATEMENT_TIMEOUT).await?;
            Ok(Instance { run: None, version: format!("Neo4j {version}") })
        })
    }
}

fn rows(body: &Value) -> Vec<Row> {
    let names = body["data"]["fields"].as_array().cloned().unwrap_or_default();
    let row = |cells: &Value| -> Row {
        let cells = cells.as_array().cloned().unwrap_or_default();
        let names = names.iter().map(|name| name.as_str().unwrap_or_default().to_owned());
        names.zip(cells).collect()
    };
    body["data"]["values"].as_array().map(|rows| rows.iter().map(row).collect()).unwrap_or_default()
}

/// Returns the error that a response reports, if any.
fn failure(status: u16, body: &Value) -> Option<EngineError> {
    let first = &body["errors"][0];
    let code = first["code"].as_str().unwrap_or_default();
    if (200..300).contains(&status) && code.is_empty() {
        return None;
    }
    let text = match first["message"].as_str() {
        Some(message) => format!("{code}: {message}"),
        None => format!("HTTP {status}"),
    };
    let is_denied = matches!(status, 401 | 403) || code.starts_with("Neo.ClientError.Security");
    Some(if is_denied {
        EngineError::Denied(text)
    } else if code.contains("OutOfMemory") || code.contains("MemoryPoolOutOf") {
        EngineError::Full(text)
    } else if code.starts_with("Neo.ClientError") || status == 400 {
        EngineError::Rejected(text)
    } else {
        EngineError::Unreachable(text)
    })
}

/// Describes an error with its causes, but without the address.
fn describe(error: reqwest::Error) -> String {
    use std::error::Error as _;
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}
