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
fn up_starts_one_daemon_and_prints_the_path_of_its_log() {
    let world = World::new();
    let printed = world.printed(&["up"]);
    assert!(printed.contains("is running (pid "), "{printed}");
    assert!(printed.contains(&format!("{}/graphitid.log", world.home().display())), "{printed}");
    let pid = |printed: &str| {
        printed.split("pid ").nth(1).and_then(|rest| rest.split(')').next()).map(str::to_owned)
    };
    let again = world.printed(&["up"]);
    assert!(again.contains("is already running"), "{again}");
    assert_eq!(pid(&printed), pid(&again));
    assert_eq!(world.json(&["status"])["pid"].to_string(), pid(&printed).expect("a process"));
    world.printed(&["stop"]);
}

#[test]
fn up_reports_why_the_daemon_does_not_start() {
    let world = World::new();
    world.configure(&json!({ "inactivity_timeout": "soon" }));
    let output = world.graphiti(&["up"]);
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        printed.contains("graphitid ended with") && printed.contains("inactivity_timeout"),
        "{printed}"
    );
}

#[test]
fn two_concurrent_commands_start_the_same_daemon() {
    let world = World::new();
    let start = || world.command("graphiti").arg("up").stdout(Stdio::piped()).spawn();
    let both = [start(), start()].map(|child| child.expect("run graphiti").wait_with_output());
    for output in both {
        assert!(output.expect("graphiti ends").status.success());
    }
    world.printed(&["stop"]);
}

#[test]
fn up_waits_for_a_daemon_that_is_ending() {
    let world = World::new();
    fs::create_dir_all(world.home()).expect("a home");
    let lock = File::create(world.home().join("graphitid.lock")).expect("a lock");
    lock.lock().expect("the lock is free");
    // The first daemon writes its error message to this pipe, and closes the pipe when it ends.
    let errors = world.home().join("graphitid.err");
    assert!(Command::new("mkfifo").arg(&errors).status().expect("run mkfifo").success());
    let mut up = world.command("graphiti").arg("up").spawn().expect("run graphiti");
    let printed = fs::read_to_string(&errors).expect("the message of the first daemon");
    assert!(printed.contains("graphitid is already running"), "{printed}");
    drop(lock);
    let _second = File::open(&errors).expect("a second daemon is started");
    assert!(up.wait().expect("graphiti ends").success());
    world.printed(&["stop"]);
}

/// The first connection to systemd's socket starts the daemon, which answers on this connection. The
/// test is skipped if systemd is not installed.
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
    let mut errors = BufReader::new(manager.stderr.take().expect("its errors")).lines();
    errors.next();
    let mut wire = Wire::connect(&socket.to_string_lossy()).expect("the socket exists");
    let welcome = wire.ask(methods::HELLO, json!({})).expect("the daemon answers");
    assert_eq!(welcome["pid"], manager.id());
    wire.ask(methods::STOP, json!({})).expect("the daemon stops");
    assert!(manager.wait().expect("the daemon ends").success());
    assert!(socket.exists(), "only the service manager may remove the socket");
}

/// The test is skipped if systemd is not installed.
#[test]
fn systemd_accepts_the_units() {
    let world = World::new();
    let units = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systemd");
    for name in ["graphitid.service", "graphitid.socket"] {
        let text = fs::read_to_string(units.join(name)).expect("a unit");
        // systemd checks that the program exists.
        let program = world.command("graphitid").get_program().to_string_lossy().into_owned();
        fs::write(world.path(name), text.replace("/usr/bin/graphitid", &program)).expect("a unit");
    }
    let verify = |names: &[&str]| {
        let mut verify = Command::new("systemd-analyze");
        verify.env("XDG_RUNTIME_DIR", world.path(""));
        verify.args(["verify", "--user"]).args(names.iter().map(|name| world.path(name))).output()
    };
    let Ok(output) = verify(&["graphitid.service", "graphitid.socket"]) else { return };
    let printed = String::from_utf8_lossy(&output.stderr);
    // The output may contain messages about other units on this machine.
    assert!(output.status.success() && !printed.contains("graphitid"), "{printed}");
}

/// The test is skipped if Python is not installed.
#[test]
fn the_agent_of_launchd_is_a_property_list_with_values_of_the_right_types() {
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

/// The daemon has another working directory than its caller, so the client must make the path
/// absolute.
#[test]
fn a_relative_home_is_the_same_folder_for_the_client_and_the_daemon() {
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
    let home = world.path("memory/here").canonicalize().expect("the home exists");
    assert_eq!(status["home"], home.to_string_lossy().as_ref());
    assert!(!home.join("memory").exists());
    assert!(graphiti(&["stop"]).status.success());
}

#[test]
#[cfg(target_os = "linux")]
fn a_failure_to_print_is_an_error_unless_the_reader_has_left() {
    let world = World::new();
    let daemon = world.start();
    for arguments in [&["list"][..], &["status", "--json"], &["man"]] {
        let full = File::options().write(true).open("/dev/full").expect("a full device");
        let mut command = world.command("graphiti");
        let output = command.args(arguments).stdout(full).output().expect("run graphiti");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(
            printed.contains("cannot print: No space left on device"),
            "{arguments:?}: {printed}"
        );
    }
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = world.command("graphiti").arg("man").stdout(writer).output();
    assert!(output.expect("run graphiti").status.success());
    daemon.stop();
}
