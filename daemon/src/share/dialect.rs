//! What differs between the engines.

/// A dialect of Cypher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    FalkorDb,
    Neo4j,
}

impl Dialect {
    /// An expression for the time in the text `expression`: FalkorDB has texts, Neo4j has times.
    pub fn time(self, expression: &str) -> String {
        match self {
            Dialect::FalkorDb => expression.to_owned(),
            Dialect::Neo4j => format!("datetime({expression})"),
        }
    }
}
