//! Helpers of the tests: a fresh home, the real binaries, transcripts in the formats of agents.
//!
//! The helpers do not sleep. They wait for the message with which the daemon reports to a service
//! manager that it is ready. The work of the daemon is done when it answers `graphiti/settle`.

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
