//! The interface of a graph database.

use std::{future::Future, pin::Pin, time::Duration};

use serde_json::{Map, Value};

use crate::share::Dialect;

/// A Cypher statement with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    pub text: String,
    pub parameters: Map<String, Value>,
}

/// A row of a result: the value of each column.
pub type Row = Map<String, Value>;

/// The result of several statements: the rows of each.
pub type RunResult<'e> =
    Pin<Box<dyn Future<Output = Result<Vec<Vec<Row>>, EngineError>> + Send + 'e>>;

/// The result of one statement: its rows.
pub type ReadResult<'e> = Pin<Box<dyn Future<Output = Result<Vec<Row>, EngineError>> + Send + 'e>>;

/// A graph database that supports Cypher.
pub trait GraphEngine: Send + Sync {
    fn dialect(&self) -> Dialect;

    /// Runs statements on a group, one after the other, until one fails. Each statement is applied
    /// completely or not at all.
    fn run<'e>(&'e self, group: &'e str, statements: &'e [Statement]) -> RunResult<'e>;

    /// Runs a statement that only reads, with a time limit. Returns no rows if the group does not
    /// exist.
    fn read<'e>(
        &'e self,
        group: &'e str,
        statement: &'e Statement,
        limit: Duration,
    ) -> ReadResult<'e>;

    /// Identifies the running engine, so that the caller can detect a restart. A restart may lose
    /// the last writes.
    fn instance(&self) -> Pin<Box<dyn Future<Output = Result<Instance, EngineError>> + Send + '_>>;
}

/// A running engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instance {
    /// An id that changes with each start of the engine. `None` if a restart loses no writes.
    pub run: Option<String>,
    /// Name and version, for people.
    pub version: String,
}

/// The reason why an engine did not run a statement. Any of these errors may be temporary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    #[error("the engine does not answer: {0}")]
    Unreachable(String),
    #[error("the engine did not answer within {0:?}")]
    TimedOut(Duration),
    #[error("the engine rejects the login: {0}")]
    Denied(String),
    #[error("the engine has no memory left: {0}")]
    Full(String),
    /// The statement or its data are wrong.
    #[error("the engine rejects a statement: {0}")]
    Rejected(String),
}

impl Statement {
    /// Creates a statement with `rows` as its only parameter.
    pub(super) fn with_rows(rows: Vec<Value>, text: impl Into<String>) -> Statement {
        Statement::with("rows", Value::Array(rows), text)
    }

    /// Creates a statement with one parameter.
    pub(super) fn with(name: &str, value: Value, text: impl Into<String>) -> Statement {
        let parameters = Map::from_iter([(name.to_owned(), value)]);
        Statement { text: text.into(), parameters }
    }

    /// Adds a parameter.
    pub(super) fn and(mut self, name: &str, value: Value) -> Statement {
        self.parameters.insert(name.to_owned(), value);
        self
    }

    /// Creates a statement without parameters.
    pub fn plain(text: impl Into<String>) -> Statement {
        Statement { text: text.into(), parameters: Map::new() }
    }
}
