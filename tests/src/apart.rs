//! A process of its own for tests that need a disk or limits of their own: user, mount and nothing
//! else is new in it, and all of it is gone with the process.

use std::{
    env,
    io::{self, Write},
    path::Path,
    process::Command,
};

/// Set in the process that a test runs itself in.
const INSIDE: &str = "GRAPHITI_TEST_INSIDE";

/// Runs `test` (the name of the calling test) in a process that is root in namespaces of its own and
/// may mount. Returns whether this is that process, in which the test goes on; in the other one it
/// has ended well by then, or cannot be run on this system, which is said.
///
/// # Panics
///
/// When the test failed inside.
pub fn inside(test: &str) -> bool {
    if env::var_os(INSIDE).is_some() {
        return true;
    }
    let may = Command::new("unshare").args(["-Urm", "true"]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        left_out(test, "`unshare -Urm` does not work here");
        return false;
    }
    let status = Command::new("unshare")
        .arg("-Urm")
        .arg(env::current_exe().expect("the test knows where it lies"))
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .status();
    assert!(status.expect("run the test inside").success(), "{test} failed inside");
    false
}

/// Says that a test did not run, past the test runner, which keeps to itself what a test that passes prints.
///
/// # Panics
///
/// Without a standard error.
pub fn left_out(test: &str, why: &str) {
    writeln!(io::stderr(), "{test} IS LEFT OUT: {why}").expect("standard error is there");
}

/// Mounts an empty disk of so many megabytes at `folder`, which is made.
///
/// # Panics
///
/// When that is not possible; call [`inside`] first.
pub fn disk(folder: &Path, megabytes: u32) {
    std::fs::create_dir_all(folder).expect("a folder to mount at");
    let size = format!("size={megabytes}m,mode=0700");
    run("mount", &["-t", "tmpfs", "-o", &size, "graphiti-test", &folder.to_string_lossy()]);
}

/// Lets nothing be written to the disk at `folder` any more.
///
/// # Panics
///
/// When that is not possible.
pub fn read_only(folder: &Path) {
    run("mount", &["-o", "remount,ro", &folder.to_string_lossy()]);
}

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status().expect("run a program");
    assert!(status.success(), "{program} {arguments:?}");
}
