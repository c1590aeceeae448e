//! Tests hostile clients: silent and half-open connections, unread answers, gigantic and malformed
//! lines, thousands of connections. All other clients are served.

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    time::Duration,
};

use graphiti_proto::rpc::Response;
use graphiti_tests::{
    Daemon, World,
    hostile::{Mutator, parser, seeds},
};
use serde_json::{Value, json};

/// Checks that well-behaved clients get answers, in this process and in another process.
fn assert_others_are_served(world: &World, daemon: &Daemon) {
    assert_eq!(daemon.wire().ask("ping", json!({})), Ok(json!({})));
    assert_eq!(world.json(&["status"])["pid"], daemon.pid());
}

fn connect(daemon: &Daemon) -> UnixStream {
    let stream = UnixStream::connect(daemon.socket()).unwrap();
    // A client that waits longer than this has failed.
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

#[test]
fn silent_slow_and_half_open_clients_do_not_delay_others() {
    let world = World::new();
    let daemon = world.start();
    let mut kept = Vec::new();
    for number in 0..400 {
        let mut stream = connect(&daemon);
        match number % 4 {
            // This client never sends anything.
            0 => {}
            // This client stops in the middle of a line.
            1 => stream.write_all(b"{\"id\":1,\"method\":\"pi").unwrap_or_default(),
            // This client sends nothing and closes its writing side.
            2 => stream.shutdown(Shutdown::Write).unwrap_or_default(),
            // This client sends one or many requests, and does not read the answers.
            _ => {
                stream.set_nonblocking(true).unwrap();
                let request = b"{\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"health_check\"}}\n";
                while stream.write_all(request).is_ok() && kept.len() % 7 != 0 {}
            }
        }
        kept.push(stream);
        if number % 100 == 99 {
            assert_others_are_served(&world, &daemon);
        }
    }
    assert_others_are_served(&world, &daemon);
}

#[test]
fn thousands_of_connections_are_accepted_one_after_another() {
    let world = World::new();
    let daemon = world.start();
    let mut wires = std::collections::VecDeque::new();
    for number in 0..3_000 {
        wires.push_back(connect(&daemon));
        if wires.len() > 500 {
            wires.pop_front();
        }
        if number % 1_000 == 999 {
            assert_others_are_served(&world, &daemon);
        }
    }
    // The latest connection works; the earliest one was closed.
    let mut latest = wires.pop_back().unwrap();
    latest.write_all(b"{\"id\":7,\"method\":\"ping\"}\n").unwrap();
    let mut answer = [0; 64];
    let length = latest.read(&mut answer).unwrap();
    assert!(answer[..length].starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":7"));
    assert_eq!(wires.pop_front().unwrap().read(&mut answer).unwrap_or(0), 0);
}

#[test]
fn a_connection_with_a_running_request_is_not_closed() {
    let world = World::new();
    let daemon = world.start();
    world.transcript("aaaa-1").prompt("Fix the login timeout");
    daemon.settle();
    let mut busy = daemon.wire();
    busy.send(b"{\"id\":1,\"method\":\"graphiti/settle\",\"params\":{\"sessions\":true}}\n{\"id\":2,\"method\":\"ping\"}\n");
    // When the second request is answered, the first request is running.
    assert_eq!(busy.receive().id, 2);
    let silent: Vec<UnixStream> = (0..600).map(|_| connect(&daemon)).collect();
    assert_others_are_served(&world, &daemon);
    busy.send(b"{\"id\":3,\"method\":\"ping\"}\n");
    assert_eq!(busy.receive().id, 3);
    drop(silent);
}

#[test]
fn gigantic_lines_take_bounded_memory() {
    let world = World::new();
    let daemon = world.start();
    assert_others_are_served(&world, &daemon);
    let before = peak_memory(&daemon);
    let mut streams: Vec<UnixStream> = (0..100).map(|_| connect(&daemon)).collect();
    streams.iter().for_each(|stream| stream.set_nonblocking(true).unwrap());
    let piece = vec![b'x'; 64 << 10];
    let mut sent = 0;
    // In total, this would be 300 MB of lines that never end. In each round, another client must
    // get an answer.
    for _ in 0..48 {
        for stream in &mut streams {
            match stream.write(&piece) {
                Ok(bytes) => sent += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => {}
            }
        }
        assert_eq!(daemon.wire().ask("ping", json!({})), Ok(json!({})));
    }
    assert!(sent > 32 << 20, "only {sent} bytes were sent");
    let grown = peak_memory(&daemon).saturating_sub(before);
    assert!(grown < 192 << 20, "{} MB more", grown >> 20);
    drop(streams);
    assert_others_are_served(&world, &daemon);
}

/// Returns the peak memory of the daemon, in bytes.
fn peak_memory(daemon: &Daemon) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

#[test]
fn malformed_lines_are_answered_or_close_only_their_connection() {
    let world = World::new();
    let daemon = world.start();
    world.transcript("aaaa-1").prompt("Fix the login timeout");
    daemon.settle();
    let seeds: Vec<Vec<u8>> = seeds("socket").into_iter().map(|(_, bytes)| bytes).collect();
    let mut mutator = Mutator::new(11);
    for number in 0..200 {
        let mut stream = connect(&daemon);
        if number % 2 == 0 {
            // The client uses the Model Context Protocol.
            stream.write_all(&seeds[0]).unwrap();
        }
        for _ in 0..20 {
            let bytes = mutator.change(&seeds, parser("socket").words);
            // The test must not stop the daemon.
            let text =
                String::from_utf8_lossy(&bytes).replace("graphiti/stop", "graphiti/stay") + "\n";
            if stream.write_all(text.as_bytes()).is_err() {
                break;
            }
        }
        if number % 3 == 0 {
            // The daemon may have closed the connection already.
            let _ = stream.shutdown(Shutdown::Write);
            // Each answer that arrives before the daemon closes the connection is complete.
            let mut answers = Vec::new();
            let _ = stream.read_to_end(&mut answers);
            for line in answers.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let message: Value = serde_json::from_slice(line).unwrap();
                assert_eq!(message["jsonrpc"], "2.0");
            }
        }
    }
    assert_others_are_served(&world, &daemon);
    assert!(!world.log().contains("panicked"), "{}", world.log());
}

#[test]
fn costly_requests_are_answered() {
    let world = World::new();
    let daemon = world.start();
    let call = |tool: &str, arguments: Value| json!({ "name": tool, "arguments": arguments });
    let search = |arguments: Value| call("search_sessions", arguments);
    let many: Vec<u32> = (0..500_000).collect();
    for params in [
        search(json!({ "query": "x", "after": "..".repeat(1_000_000) })),
        search(json!({ "query": "x ".repeat(1_000_000) })),
        search(json!({ "query": format!("date:{}", "..".repeat(4_000)) })),
        search(json!({ "query": "\"".repeat(100_000), "limit": u32::MAX })),
        search(json!({ "query": "(((((((((-*-*-*- a:b:c:d: ".repeat(300) })),
        call("get_session", json!({ "session_id": "../".repeat(100_000) })),
        call("get_handoff", json!({ "project": "/".repeat(1_000_000), "max_chars": u32::MAX })),
        call("list_sessions", json!({ "limit": u64::MAX })),
        json!({ "name": "x".repeat(3 << 20) }),
        json!({ "name": "health_check", "_meta": { "graphiti/caller": { "processes": many } } }),
    ] {
        let shown: String = params.to_string().chars().take(80).collect();
        let answer =
            daemon.wire().exchange(&json!({ "id": 1, "method": "tools/call", "params": params }));
        let answer: Response = serde_json::from_value(answer).unwrap();
        assert_eq!(answer.id, 1, "{shown}");
        assert_eq!(daemon.wire().ask("ping", json!({})), Ok(json!({})), "after {shown}");
    }
    let mut wire = daemon.wire();
    wire.send(format!("{}\n", "[".repeat(1 << 20)).as_bytes());
    assert!(wire.receive().outcome().is_err());
    assert!(!world.log().contains("panicked"), "{}", world.log());
}

#[test]
fn clients_that_disconnect_immediately_do_no_harm() {
    let world = World::new();
    let daemon = world.start();
    for number in 0..500 {
        let mut stream = connect(&daemon);
        match number % 3 {
            0 => {}
            1 => drop(stream.write_all(b"{\"id\":1,\"method\":\"ping\"}\n")),
            _ => drop(stream.write_all(b"{\"id\":1,\"method\":\"graphiti/settle\"}\n{")),
        }
    }
    assert_others_are_served(&world, &daemon);
    // A client that only closes its writing side still gets the answer.
    let mut stream = connect(&daemon);
    stream.write_all(b"{\"id\":1,\"method\":\"ping\"}\n").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert!(answers.contains("\"id\":1"), "{answers}");
}
