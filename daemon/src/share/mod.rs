//! A graph that several machines share, in Graphiti's schema, on FalkorDB or Neo4j.
//!
//! [`node`] defines the nodes and edges, with ids that are derived from their content ([`id`]);
//! [`privacy`] removes what must not leave the machine. [`mod@write`] and [`schema`] turn them into
//! Cypher for a [`Dialect`]; a [`GraphEngine`] runs it: [`falkordb`] over the protocol of Redis,
//! [`neo4j`] over its Query API. [`read`] finds what others wrote. `engine::sharing` decides what
//! is written when.

pub mod config;
pub mod dialect;
mod endpoint;
pub mod falkordb;
pub mod graph_engine;
pub mod id;
mod literal;
pub mod neo4j;
pub mod node;
mod password;
pub mod privacy;
pub mod read;
pub mod schema;
#[cfg(test)]
pub(crate) mod testing;
pub mod write;

use std::sync::Arc;

use self::{config::Config, falkordb::FalkorDb, neo4j::Neo4j};
pub use self::{
    dialect::Dialect,
    endpoint::{Endpoint, EngineKind, WrongUrl},
    graph_engine::{EngineError, GraphEngine, Row, Statement},
};

/// Returns the configured engine, which is connected on first use; `None` if there is none,
/// or its address is wrong.
pub fn connect(config: &Config) -> Option<Arc<dyn GraphEngine>> {
    let endpoint = config.endpoint().ok()??;
    Some(match config.engine? {
        EngineKind::FalkorDb => Arc::new(FalkorDb::new(endpoint, config.credentials())),
        EngineKind::Neo4j => Arc::new(Neo4j::new(endpoint, config.credentials())),
    })
}
