//! The dialects of Cypher of the graph databases.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    FalkorDb,
    Neo4j,
}

impl Dialect {
    /// Returns an expression for a stored time. The value of `expression` is the time as text:
    /// FalkorDB stores the text, and Neo4j converts the text to its type for times.
    pub fn time(self, expression: &str) -> String {
        match self {
            Dialect::FalkorDb => expression.to_owned(),
            Dialect::Neo4j => format!("datetime({expression})"),
        }
    }
}
