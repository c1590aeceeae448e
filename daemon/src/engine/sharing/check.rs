//! Checks the graph engine for `graphiti doctor`: whether it answers, its version, the rights of
//! the user, and the indexes of the shared groups.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{Sharing, team::TeamGroup};
use crate::share::{Dialect, EngineError, GraphEngine, Row, Statement, read};

/// The results of all checks of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineCheck {
    /// The name and the version of the engine; empty when sharing is off or the engine did not
    /// report them.
    pub version: String,
    pub findings: Vec<EngineFinding>,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineFinding {
    pub is_good: bool,
    pub what: String,
    /// The remedy for a problem.
    pub remedy: &'static str,
}

/// The oldest version of FalkorDB that has full-text indexes of edges.
const OLDEST_FALKORDB: [u32; 2] = [4, 2];
/// The oldest version of Neo4j that has the Query API.
const OLDEST_NEO4J: [u32; 2] = [5, 19];
/// The node labels and the type of edges that need a full-text index.
const INDEXED: &[&str] = &["Entity", "Episodic", "RELATES_TO"];

const REMEDY_UNREACHABLE: &str =
    "check that the engine runs, `share.url` and the certificate; then run graphiti reload";
const REMEDY_DENIED: &str = "check `share.user`, the password, and the user's rights (docs/sharing.md); then run graphiti reload";
const REMEDY_VERSION: &str = "update the engine";
const REMEDY_INDEXES: &str = "run graphiti share fill, which creates missing indexes";
const REMEDY_BACKLOG: &str =
    "graphiti share shows the waiting sessions; graphiti share fill writes all sessions again";

impl Sharing {
    /// Checks the engine. The checks together may take `limit`. A check that has not ended by then
    /// is reported as a problem.
    pub async fn check(&self, limit: Duration) -> EngineCheck {
        let Some(engine) = self.target().reader.clone() else { return EngineCheck::default() };
        let end = Instant::now() + limit;
        let mut check = EngineCheck::default();
        match timeout_at(end, engine.instance()).await {
            Ok(Ok(instance)) => check.version = instance.version,
            Ok(Err(error)) => {
                check.findings.push(failed(&error));
                return check;
            }
            Err(_) => {
                let error = format!("no answer within {limit:?}");
                check.findings.push(failed(&EngineError::Unreachable(error)));
                return check;
            }
        }
        check.findings.extend(too_old(&check.version));
        for group in self.team_groups(None) {
            let found = timeout_at(end, check_group(engine.as_ref(), &group, limit)).await;
            let late = || format!("{} was not checked within {limit:?}", group.group);
            check.findings.extend(found.unwrap_or_else(|_| Some(bad(late(), REMEDY_UNREACHABLE))));
        }
        if let Some(error) = self.status().error {
            check
                .findings
                .push(bad(format!("the graph is not up to date: {error}"), REMEDY_BACKLOG));
        }
        if check.findings.is_empty() {
            let status = self.status();
            let what = match status.backlog {
                0 => format!("{} has all shared sessions", check.version),
                count => {
                    format!("{} answers; number of sessions to be written: {count}", check.version)
                }
            };
            check.findings.push(EngineFinding { is_good: true, what, remedy: "" });
        }
        check
    }
}

/// Checks whether a group has its indexes, and whether the user may write to it.
async fn check_group(
    engine: &dyn GraphEngine,
    group: &TeamGroup,
    limit: Duration,
) -> Option<EngineFinding> {
    let name = &group.group;
    match engine.read(name, &read::indexes(engine.dialect()), limit).await {
        // In FalkorDB, each group is a separate graph, whose indexes are created with its first
        // session.
        Ok(rows) if rows.is_empty() && engine.dialect() == Dialect::FalkorDb => return None,
        Ok(rows) => {
            let missing: Vec<&str> =
                INDEXED.iter().copied().filter(|one| !is_indexed(&rows, one)).collect();
            if !missing.is_empty() {
                let what = format!("{name} lacks the full-text index for {}", missing.join(", "));
                return Some(bad(what, REMEDY_INDEXES));
            }
        }
        Err(error) => return Some(failed(&error)),
    }
    let probe = [Statement::plain("RETURN 1 AS one")];
    engine.run(name, &probe).await.err().map(|error| failed(&error))
}

fn is_indexed(rows: &[Row], entity: &str) -> bool {
    rows.iter().any(|row| {
        let text = |column: &str| row.get(column).map(ToString::to_string).unwrap_or_default();
        // The column contains a label or a list of labels.
        text("entity").contains(&format!("\"{entity}\"")) && text("kinds").contains("FULLTEXT")
    })
}

fn failed(error: &EngineError) -> EngineFinding {
    let remedy = match error {
        EngineError::Denied(_) => REMEDY_DENIED,
        EngineError::Unreachable(_) | EngineError::TimedOut(_) => REMEDY_UNREACHABLE,
        EngineError::Full(_) => "give the engine more memory (maxmemory)",
        EngineError::Rejected(_) => REMEDY_VERSION,
    };
    bad(error.to_string(), remedy)
}

fn bad(what: String, remedy: &'static str) -> EngineFinding {
    EngineFinding { is_good: false, what, remedy }
}

/// Returns a finding if a version such as `FalkorDB 4.0.1 on Redis 7.2` is too old. A version
/// without numbers counts as new enough.
fn too_old(version: &str) -> Option<EngineFinding> {
    let oldest = match version.split_once(' ')? {
        ("FalkorDB", _) => OLDEST_FALKORDB,
        ("Neo4j", _) => OLDEST_NEO4J,
        _ => return None,
    };
    let numbers = version.split(' ').nth(1)?;
    let numbers: Vec<u32> = numbers.split('.').map_while(|number| number.parse().ok()).collect();
    let is_old = numbers.first_chunk::<2>()? < &oldest;
    let [major, minor] = oldest;
    is_old.then(|| bad(format!("{version} is older than {major}.{minor}"), REMEDY_VERSION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_engines_are_reported() {
        for (version, is_old) in [
            ("FalkorDB 4.22.1 on Redis 8.2", false),
            ("FalkorDB 4.1.9 on Redis 7.2", true),
            ("FalkorDB 2.12.10 on Redis 7.2", true),
            ("Redis 7.0", false),
            ("Neo4j 5.26.0", false),
            ("Neo4j 5.3.0", true),
            ("Neo4j 2025.01.0", false),
            ("Neo4j of an unknown version", false),
            ("", false),
        ] {
            assert_eq!(too_old(version).is_some(), is_old, "{version}");
        }
    }

    #[test]
    fn an_index_is_found_in_the_rows_of_both_engines() {
        let row = |value: serde_json::Value| value.as_object().cloned().unwrap_or_default();
        let rows = [
            row(serde_json::json!({ "entity": "Entity", "kinds": "{name: [FULLTEXT, RANGE]}" })),
            row(serde_json::json!({ "entity": ["Episodic"], "kinds": "RANGE" })),
            row(serde_json::json!({ "entity": ["Community"], "kinds": "FULLTEXT" })),
        ];
        assert!(is_indexed(&rows, "Entity") && is_indexed(&rows, "Community"));
        assert!(!is_indexed(&rows, "Episodic") && !is_indexed(&rows, "RELATES_TO"));
    }
}
