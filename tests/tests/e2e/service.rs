//! Tests the daemon in the background, with and without a service manager.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use graphiti_proto::methods;
use graphiti_tests::{Wire, World};
use serde_json::{Value, json};

#[test]
fn up_starts_the_daemon_once_and_says_where_its_log_is() {
    let world = World::new();
    let said = world.printed(&["up"]);
    assert!(said.contains("is running (pid "), "{said}");
    assert!(said.contains(&format!("{}/graphitid.log", world.home().display())), "{said}");
    let pid = |said: &str| {
        said.split("pid ").nth(1).and_then(|rest| rest.split(')').next()).map(str::to_owned)
    };
    let again = world.printed(&["up"]);
    assert!(again.contains("runs already"), "{again}");
    assert_eq!(pid(&said), pid(&again));
    assert_eq!(world.json(&["status"])["pid"].to_string(), pid(&said).expect("a process"));
    world.printed(&["stop"]);
}

#[test]
fn up_says_why_the_daemon_does_not_start() {
    let world = World::new();
    world.configure(&json!({ "inactivity_timeout": "soon" }));
    let output = world.graphiti(&["up"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("graphitid ended with") && said.contains("inactivity_timeout"), "{said}");
}

#[test]
fn two_that_start_it_at_once_get_the_same_daemon() {
    let world = World::new();
    let start = || world.command("graphiti").arg("up").stdout(Stdio::piped()).spawn();
    let both = [start(), start()].map(|child| child.expect("run graphiti").wait_with_output());
    for output in both {
        assert!(output.expect("graphiti ends").status.success());
    }
    world.printed(&["stop"]);
}

#[test]
fn one_that_is_on_its_way_out_is_waited_for() {
    let world = World::new();
    fs::create_dir_all(world.home()).expect("a home");
    let lock = File::create(world.home().join("graphitid.lock")).expect("a lock");
    lock.lock().expect("it is free");
    // The daemon's error message comes through a pipe, which is closed when the daemon ends.
    let errors = world.home().join("graphitid.err");
    assert!(Command::new("mkfifo").arg(&errors).status().expect("run mkfifo").success());
    let mut up = world.command("graphiti").arg("up").spawn().expect("run graphiti");
    let said = fs::read_to_string(&errors).expect("what the first one says");
    assert!(said.contains("graphitid is already running"), "{said}");
    drop(lock);
    let _second = File::open(&errors).expect("a second one is started");
    assert!(up.wait().expect("graphiti ends").success());
    world.printed(&["stop"]);
}

/// The first caller makes systemd's socket start the daemon, which serves that caller. Skipped
/// where there is no systemd.
#[test]
fn a_connection_starts_the_daemon() {
    if Command::new("systemd-socket-activate").arg("--version").output().is_err() {
        return;
    }
    let world = World::new();
    fs::create_dir_all(world.home()).expect("a home");
    let socket = world.home().join("mcp.sock");
    let program = world.command("graphitid");
    let mut manager = Command::new("systemd-socket-activate");
    manager.arg("--listen").arg(&socket);
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            manager.arg("-E").arg(format!("{}={}", name.display(), value.display()));
        }
    }
    manager.arg(program.get_program()).stderr(Stdio::piped());
    let mut manager = manager.spawn().expect("run systemd-socket-activate");
    let mut said = BufReader::new(manager.stderr.take().expect("its errors")).lines();
    said.next();
    let mut wire = Wire::connect(&socket.to_string_lossy()).expect("the socket is there");
    let welcome = wire.ask(methods::HELLO, json!({})).expect("the daemon answers");
    assert_eq!(welcome["pid"], manager.id());
    wire.ask(methods::STOP, json!({})).expect("the daemon stops");
    assert!(manager.wait().expect("the daemon ends").success());
    assert!(socket.exists(), "the socket is the service manager's to remove");
}

/// Skipped where there is no systemd.
#[test]
fn systemd_takes_the_units() {
    let world = World::new();
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systemd");
    for name in ["graphitid.service", "graphitid.socket"] {
        let text = fs::read_to_string(units.join(name)).expect("a unit");
        // It checks that the program exists.
        let program = world.command("graphitid").get_program().to_string_lossy().into_owned();
        fs::write(world.path(name), text.replace("/usr/bin/graphitid", &program)).expect("a unit");
    }
    let verify = |names: &[&str]| {
        let mut verify = Command::new("systemd-analyze");
        verify.env("XDG_RUNTIME_DIR", world.path(""));
        verify.args(["verify", "--user"]).args(names.iter().map(|name| world.path(name))).output()
    };
    let Ok(output) = verify(&["graphitid.service", "graphitid.socket"]) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    // It may also print messages about other units on this machine.
    assert!(output.status.success() && !said.contains("graphitid"), "{said}");
}

/// Skipped where there is no Python.
#[test]
fn the_agent_of_launchd_is_a_property_list_with_values_of_the_right_kinds() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../launchd/org.graphiti.graphitid.plist");
    let read =
        "import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))";
    let python = Command::new("python3").args(["-c", read]).arg(file).output();
    let Ok(output) = python else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let agent: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let expected = json!({
        "Label": "org.graphiti.graphitid",
        "ProgramArguments": ["/usr/local/bin/graphitid"],
        "RunAtLoad": true,
        "KeepAlive": { "SuccessfulExit": false },
        "ThrottleInterval": 5,
        "ExitTimeOut": 40,
        "ProcessType": "Background",
        "Umask": 0o077,
    });
    assert_eq!(agent, expected);
}

/// A relative path would name another folder for the daemon than for its caller.
#[test]
fn a_home_that_is_given_by_a_relative_path_is_the_same_for_all() {
    let world = World::new();
    let graphiti = |arguments: &[&str]| {
        let mut command = world.command("graphiti");
        let output = command.env("GRAPHITI_HOME", "memory/here").args(arguments).output();
        output.expect("run graphiti")
    };
    let up = graphiti(&["up"]);
    assert!(up.status.success(), "{}", String::from_utf8_lossy(&up.stderr));
    let status = graphiti(&["status", "--json"]);
    let status: Value = serde_json::from_slice(&status.stdout).expect("JSON");
    let home = world.path("memory/here").canonicalize().expect("the home is there");
    assert_eq!(status["home"], home.to_string_lossy().as_ref());
    assert!(!home.join("memory").exists());
    assert!(graphiti(&["stop"]).status.success());
}

#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_printed_is_a_failure_unless_nobody_reads_it() {
    let world = World::new();
    let daemon = world.start();
    for arguments in [&["list"][..], &["status", "--json"], &["man"]] {
        let full = File::options().write(true).open("/dev/full").expect("a full device");
        let mut command = world.command("graphiti");
        let output = command.args(arguments).stdout(full).output().expect("run graphiti");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(said.contains("cannot print: No space left on device"), "{arguments:?}: {said}");
    }
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = world.command("graphiti").arg("man").stdout(writer).output();
    assert!(output.expect("run graphiti").status.success());
    daemon.stop();
}
