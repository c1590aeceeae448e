//! Helpers of the tests: a fresh home, the real binaries, transcripts in the formats of agents.
//!
//! Nothing here sleeps. The test receives the daemon's message to a service manager that it is
//! ready. Work is done when the daemon answers `graphiti/settle`.

pub mod corpus;
pub mod hostile;
pub mod made_up;
pub mod namespace;
pub mod summarized;
pub mod times;

mod counts;
mod faulty;
mod graph;
mod host;
mod model;
mod process;
mod random;
mod transcript;
mod wire;
mod world;

pub use self::{
    counts::{Counts, CountsFile},
    faulty::{Faulty, Refused},
    graph::MockGraph,
    host::McpHost,
    model::{MockModel, ModelReply, ModelRequest},
    process::Process,
    random::Random,
    transcript::Transcript,
    wire::Wire,
    world::{Daemon, PROJECT, World},
};
