//! Measures the duration of programs that agents and people run.

use std::time::{Duration, Instant};

use clap::Args;
use graphiti_proto::tools::search_sessions;
use graphiti_tests::{
    McpHost, Random, World,
    made_up::{Library, history},
    times::{Times, timed},
};
use serde_json::json;

/// The version of the protocol that the agent requests.
const PROTOCOL: &str = "2025-06-18";
/// Size, in bytes, of a session.
const SESSION_BYTES: u64 = 20_000;

#[derive(Args)]
pub(crate) struct ClientsOptions {
    /// Runs of each program
    #[arg(long, default_value_t = 200)]
    runs: usize,
    /// Sessions that are searched
    #[arg(long, default_value_t = 1_000)]
    sessions: u64,
}

pub(crate) fn run(options: &ClientsOptions) {
    let world = World::new();
    let library = Library::new();
    history::sessions(&world.projects(), &library, 1..=options.sessions, SESSION_BYTES);
    let daemon = world.start();
    daemon.settle();
    let show = |what: &str, run: &mut dyn FnMut() -> Duration| {
        let times = Times::of((0..options.runs).map(|_| run()).collect());
        println!("  {what:<42} {}", times.to_text());
    };
    println!("{} sessions, {} runs each", options.sessions, options.runs);
    show("graphiti --version, from exec to exit", &mut || {
        timed(world.command("graphiti").arg("--version"), "").0
    });
    let mut random = Random::new(5);
    show("graphiti search, from exec to exit", &mut || {
        let query = library.question(&mut random);
        let (time, succeeded) = timed(world.command("graphiti").args(["search", &query]), "");
        assert!(succeeded, "graphiti search {query} failed");
        time
    });
    let (mut transcript, mut lines, mut wire) = (world.transcript("aaaa-1"), 0, daemon.wire());
    show("a new line, from written to found", &mut || {
        lines += 1;
        let word = format!("quagga{lines}");
        transcript.prompt(&format!("Look at the {word}"));
        let began = Instant::now();
        while wire.call(search_sessions::NAME, &json!({ "query": word }))["hits"] == json!([]) {}
        began.elapsed()
    });
    show("graphiti mcp, from exec to `initialize`", &mut || {
        let began = Instant::now();
        let mut host = McpHost::start(world.command("graphiti").arg("mcp"));
        let answer = host.initialize(PROTOCOL);
        let time = began.elapsed();
        assert!(answer["serverInfo"].is_object(), "{answer}");
        time
    });
}
