//! A graph that several machines share, in Graphiti's schema, on FalkorDB or Neo4j.
//!
//! [`node`] defines the nodes and edges of a group (a shared project). Episodes keep their own ids;
//! all other ids are derived from the content ([`id`]). [`privacy`] removes paths and secrets from
//! texts. [`mod@write`] and [`schema`] build the Cypher statements for a [`Dialect`], and a
//! [`GraphEngine`] runs them: [`falkordb`] over the Redis protocol, [`neo4j`] over its Query API.
//! [`read`] builds the statements that read, and parses their rows. `engine::sharing` decides what
//! is written, and when.

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
    endpoint::{Endpoint, EngineKind, InvalidUrl},
    graph_engine::{EngineError, GraphEngine, Row, Statement},
};

/// Returns the configured engine, which connects on first use. `None` if no engine is configured or
/// its address is invalid.
pub fn connect(config: &Config) -> Option<Arc<dyn GraphEngine>> {
    let endpoint = config.endpoint().ok()??;
    Some(match config.engine? {
        EngineKind::FalkorDb => Arc::new(FalkorDb::new(endpoint, config.credentials())),
        EngineKind::Neo4j => Arc::new(Neo4j::new(endpoint, config.credentials())),
    })
}
