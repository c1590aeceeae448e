//! Runs statements in FalkorDB with the Redis command `GRAPH.QUERY`. As in Graphiti, each group is
//! a separate graph.

use std::{future::Future, pin::Pin, time::Duration};

use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, IntoConnectionInfo as _, RedisConnectionInfo,
    RedisError, Value as Reply, aio::MultiplexedConnection,
};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::share::{
    Dialect, Endpoint, EngineError, GraphEngine, Row, Statement,
    graph_engine::{Instance, ReadResult, RunResult},
    literal,
    password::Credentials,
};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time limit for a statement. Even a busy engine needs less time.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

pub struct FalkorDb {
    endpoint: Endpoint,
    credentials: Credentials,
    /// The open connection. A broken connection is replaced.
    connection: Mutex<Option<MultiplexedConnection>>,
}

impl FalkorDb {
    pub(super) fn new(endpoint: Endpoint, credentials: Credentials) -> FalkorDb {
        FalkorDb { endpoint, credentials, connection: Mutex::default() }
    }

    async fn connection(&self) -> Result<MultiplexedConnection, EngineError> {
        let mut open = self.connection.lock().await;
        if let Some(connection) = &*open {
            return Ok(connection.clone());
        }
        let Endpoint { host, port, has_tls, .. } = &self.endpoint;
        let host = host.trim_matches(['[', ']']).to_owned();
        let address = match has_tls {
            true => {
                super::neo4j::install_tls();
                ConnectionAddr::TcpTls { host, port: *port, insecure: false, tls_params: None }
            }
            false => ConnectionAddr::Tcp(host, *port),
        };
        let mut login = RedisConnectionInfo::default();
        if let Some(user) = &self.credentials.user {
            login = login.set_username(user);
        }
        if let Some(password) = self.credentials.password()? {
            login = login.set_password(password);
        }
        let info = address
            .into_connection_info()
            .map_err(|error| failure(&error))?
            .set_redis_settings(login);
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(STATEMENT_TIMEOUT));
        let client = Client::open(info).map_err(|error| failure(&error))?;
        let connection = client
            .get_multiplexed_async_connection_with_config(&config)
            .await
            .map_err(|error| failure(&error))?;
        *open = Some(connection.clone());
        Ok(connection)
    }

    async fn send(&self, command: &redis::Cmd) -> Result<Reply, EngineError> {
        let mut connection = self.connection().await?;
        match command.query_async(&mut connection).await {
            Ok(reply) => Ok(reply),
            Err(error) => {
                let error = failure(&error);
                if !matches!(error, EngineError::Rejected(_)) {
                    *self.connection.lock().await = None;
                }
                Err(error)
            }
        }
    }

    async fn query(&self, group: &str, statement: &Statement) -> Result<Vec<Row>, EngineError> {
        let text = literal::prefix(&statement.parameters) + &statement.text;
        let mut command = redis::cmd("GRAPH.QUERY");
        command.arg(group).arg(text);
        Ok(rows(self.send(&command).await?))
    }
}

impl GraphEngine for FalkorDb {
    fn dialect(&self) -> Dialect {
        Dialect::FalkorDb
    }

    fn run<'e>(&'e self, group: &'e str, statements: &'e [Statement]) -> RunResult<'e> {
        Box::pin(async move {
            let mut results = Vec::with_capacity(statements.len());
            for statement in statements {
                results.push(self.query(group, statement).await?);
            }
            Ok(results)
        })
    }

    fn read<'e>(
        &'e self,
        group: &'e str,
        statement: &'e Statement,
        limit: Duration,
    ) -> ReadResult<'e> {
        Box::pin(async move {
            let text = literal::prefix(&statement.parameters) + &statement.text;
            // Uses the read-only command, because `GRAPH.QUERY` would create a missing graph.
            let mut command = redis::cmd("GRAPH.RO_QUERY");
            let milliseconds = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1);
            command.arg(group).arg(text).arg("TIMEOUT").arg(milliseconds);
            match self.send(&command).await {
                Ok(reply) => Ok(rows(reply)),
                Err(EngineError::Rejected(what)) if what.contains("empty key") => Ok(Vec::new()),
                Err(EngineError::Rejected(what)) if what.contains("timed out") => {
                    Err(EngineError::TimedOut(limit))
                }
                Err(error) => Err(error),
            }
        })
    }

    fn instance(&self) -> Pin<Box<dyn Future<Output = Result<Instance, EngineError>> + Send + '_>> {
        Box::pin(async move {
            let mut command = redis::cmd("INFO");
            command.arg("server");
            let info = text_of(&self.send(&command).await?);
            let line = |name: &str| {
                let found = info.lines().find_map(|line| line.strip_prefix(name));
                found.map(|value| value.trim().to_owned())
            };
            let mut modules = redis::cmd("MODULE");
            modules.arg("LIST");
            // Without the permission to list modules, the version of FalkorDB is omitted.
            let graph = self.send(&modules).await.ok().and_then(|list| graph_version(&list));
            let redis = line("redis_version:").unwrap_or_default();
            let version = match graph {
                Some(graph) => format!("FalkorDB {graph} on Redis {redis}"),
                None => format!("Redis {redis}"),
            };
            Ok(Instance { run: line("run_id:"), version })
        })
    }
}

/// Returns the version of the module `graph` in the reply to `MODULE LIST`.
fn graph_version(list: &Reply) -> Option<String> {
    let Reply::Array(modules) = list else { return None };
    modules.iter().find_map(|module| {
        let Reply::Array(members) = module else { return None };
        let value = |name: &str| {
            let pairs = members.chunks_exact(2);
            pairs.into_iter().find(|pair| text_of(&pair[0]) == name).map(|pair| &pair[1])
        };
        let Some(Reply::Int(version)) = value("ver") else { return None };
        if value("name").map(text_of)? != "graph" {
            return None;
        }
        Some(format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100))
    })
}

/// Reads the reply to a query. The reply consists of the names of the columns, the rows, and
/// statistics.
fn rows(reply: Reply) -> Vec<Row> {
    let Reply::Array(parts) = reply else { return Vec::new() };
    let [Reply::Array(header), Reply::Array(rows), _] = parts.as_slice() else { return Vec::new() };
    let names: Vec<String> = header.iter().map(text_of).collect();
    let row = |row: &Reply| match row {
        Reply::Array(cells) => names.iter().cloned().zip(cells.iter().map(value)).collect(),
        _ => Row::new(),
    };
    rows.iter().map(row).collect()
}

fn value(reply: &Reply) -> Value {
    match reply {
        Reply::Nil => Value::Null,
        Reply::Int(number) => Value::from(*number),
        Reply::Double(number) => Value::from(*number),
        Reply::Boolean(value) => Value::from(*value),
        Reply::Array(items) => items.iter().map(value).collect(),
        other => Value::from(text_of(other)),
    }
}

fn text_of(reply: &Reply) -> String {
    match reply {
        Reply::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Reply::SimpleString(text) | Reply::VerbatimString { text, .. } => text.clone(),
        Reply::Int(number) => number.to_string(),
        _ => String::new(),
    }
}

/// Classifies an error.
fn failure(error: &RedisError) -> EngineError {
    let code = error.code().unwrap_or_default();
    let detail = error.detail().unwrap_or_default().to_owned();
    let text = match detail.is_empty() {
        true => error.to_string(),
        false => detail,
    };
    let is_denied = matches!(code, "NOAUTH" | "WRONGPASS" | "NOPERM")
        || matches!(error.kind(), redis::ErrorKind::AuthenticationFailed);
    if is_denied {
        return EngineError::Denied(text);
    }
    if code == "OOM" || text.contains("used memory >") || text.contains("out of memory") {
        return EngineError::Full(text);
    }
    // A problem of the server has a code in capital letters, such as MISCONF. An error in a query
    // has the code ERR, or a code with small letters.
    let is_state =
        code.len() > 2 && code != "ERR" && code.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_answer = matches!(
        error.kind(),
        redis::ErrorKind::Server(redis::ServerErrorKind::ResponseError)
            | redis::ErrorKind::Extension
    );
    match is_answer && !is_state {
        true => EngineError::Rejected(text),
        false => EngineError::Unreachable(text),
    }
}
