//! Creates Linux namespaces for tests that need a separate disk or separate limits. Such a test
//! runs itself again inside new user and mount namespaces, which end with the inner process.

use std::{
    env,
    io::{self, Write},
    path::Path,
    process::Command,
};

/// Environment variable that marks the inner process of a test.
const INSIDE: &str = "GRAPHITI_TEST_INSIDE";

/// Starts the test binary again with only `test` (the calling test, with its modules), as root in
/// new namespaces. Returns true in that inner process, where the test must do its work, and false
/// in the outer process, where nothing is left to do.
///
/// # Panics
///
/// When the test failed inside the namespaces.
pub fn run_inside(test: &str) -> bool {
    if env::var_os(INSIDE).is_some() {
        return true;
    }
    let probe = Command::new("unshare").args(["-Urm", "true"]).output();
    if !probe.is_ok_and(|output| output.status.success()) {
        report_skipped(test, "`unshare -Urm` does not work here");
        return false;
    }
    let output = Command::new("unshare")
        .arg("-Urm")
        .arg(env::current_exe().expect("a running test has a path"))
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .expect("run the test inside the namespaces");
    let report = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    // libtest succeeds if the name is misspelt and selects no test.
    let has_passed = output.status.success() && report.contains("1 passed");
    assert!(has_passed, "{test} failed inside the namespaces:\n{report}");
    false
}

/// Prints that a test was skipped, on the real standard error: the test runner captures what a test
/// prints and drops it when the test passes.
///
/// # Panics
///
/// When standard error is closed.
pub fn report_skipped(test: &str, reason: &str) {
    writeln!(io::stderr(), "SKIPPED: {test}: {reason}").expect("standard error is open");
}

/// Mounts an empty disk of `megabytes` at `folder`, and creates the folder.
///
/// # Panics
///
/// When mounting fails, as it does outside of [`run_inside`].
pub fn mount_disk(folder: &Path, megabytes: u32) {
    std::fs::create_dir_all(folder).expect("create the mount point");
    let size = format!("size={megabytes}m,mode=0700");
    run("mount", &["-t", "tmpfs", "-o", &size, "graphiti-test", &folder.to_string_lossy()]);
}

/// Makes the disk at `folder` read-only.
///
/// # Panics
///
/// When remounting fails.
pub fn remount_read_only(folder: &Path) {
    run("mount", &["-o", "remount,ro", &folder.to_string_lossy()]);
}

fn run(program: &str, arguments: &[&str]) {
    let status = Command::new(program).args(arguments).status().expect("run a program");
    assert!(status.success(), "{program} {arguments:?}");
}
