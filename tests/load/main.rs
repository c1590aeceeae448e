//! Simulates agents that write transcripts, at any rate, and reports how the real daemon keeps up.
//!
//!     cargo bench -p graphiti-tests --bench load -- live
//!     cargo bench -p graphiti-tests --bench load -- growth --sessions 1000,10000,100000
//!     cargo bench -p graphiti-tests --bench load -- busy
//!     cargo bench -p graphiti-tests --bench load -- formats --megabytes 100 --sessions 50
//!     cargo bench -p graphiti-tests --bench load -- formats --megabytes 1000 --sessions 1 --rest
//!     cargo bench -p graphiti-tests --bench load -- rows --turns 100,1000,4000
//!     cargo bench -p graphiti-tests --bench load -- clients
//!     cargo bench -p graphiti-tests --bench load -- soak --minutes 60
//!     cargo bench -p graphiti-tests --bench load -- play --into FOLDER
//!
//! All commands except `play` start a daemon in a fresh home. With `--recorded FOLDER`, the agents
//! of `live` and `play` write the transcripts in this folder instead of generated ones, repeatedly,
//! with other ids and current times.
#![expect(clippy::print_stdout, reason = "the program prints its figures")]

mod busy;
mod clients;
mod formats;
mod growth;
mod live;
mod play;
mod soak;

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser};

use crate::play::{Crowd, Material, Pace};

/// Simulates agents that write transcripts.
#[derive(Parser)]
#[command(name = "load")]
enum LoadCommand {
    /// Write many sessions concurrently; count missed records, and measure how soon records are read
    Live(Played),
    /// Measure the cost of the daemon as history grows
    Growth(growth::GrowthOptions),
    /// Measure searches while history is imported
    Busy(busy::BusyOptions),
    /// Measure the speed and the memory of imports of each agent's transcripts
    Formats(formats::FormatsOptions),
    /// Measure the cost of following a session in a database as the session grows
    Rows(formats::RowsOptions),
    /// Measure programs that agents and people run, from exec to exit or to the first answer
    Clients(clients::ClientsOptions),
    /// Run sessions while the daemon is killed, stopped, suspended and reloaded
    Soak(soak::SoakOptions),
    /// Write transcripts into a folder that another daemon watches
    Play {
        /// The folder, for example the folder `projects` of Claude Code
        #[arg(long)]
        into: PathBuf,
        #[command(flatten)]
        played: Played,
    },
}

/// How the simulated agents write.
#[derive(Args, Clone)]
struct Played {
    /// Sessions that are written to at one time
    #[arg(long, default_value_t = 200)]
    sessions: usize,
    /// Records per second, in all sessions together
    #[arg(long, default_value_t = 2_000)]
    rate: u64,
    /// Duration in seconds
    #[arg(long, default_value_t = 300)]
    seconds: u64,
    /// Folder with transcripts to write instead of generated ones
    #[arg(long)]
    recorded: Option<PathBuf>,
}

impl Played {
    fn material(&self) -> Material {
        self.recorded.as_deref().map_or_else(Material::made_up, Material::recorded)
    }

    fn pace(&self) -> Pace {
        Pace { rate: self.rate, duration: Duration::from_secs(self.seconds) }
    }
}

fn main() {
    // `cargo bench` adds the argument `--bench`; `cargo test --all-targets` does not.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    match LoadCommand::parse_from(std::env::args().filter(|argument| argument != "--bench")) {
        LoadCommand::Live(played) => live::run(&played),
        LoadCommand::Growth(options) => growth::run(&options),
        LoadCommand::Busy(options) => busy::run(&options),
        LoadCommand::Formats(options) => formats::run(&options),
        LoadCommand::Rows(options) => formats::rows(&options),
        LoadCommand::Clients(options) => clients::run(&options),
        LoadCommand::Soak(options) => soak::run(&options),
        LoadCommand::Play { into, played } => {
            let mut crowd = Crowd::new(&into, played.sessions, played.material());
            let behind = crowd.play(played.pace(), |_| {});
            println!("{} records, written at most {behind:.0?} late", crowd.records());
        }
    }
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
