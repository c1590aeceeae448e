//! Tests `graphiti blame`, `graphiti fix` and `graphiti log`, and their tools.

use std::{
    fs,
    io::Write,
    process::{Output, Stdio},
    time::Duration,
};

use graphiti_tests::{Daemon, World};
use serde_json::{Value, json};

const HOUR: Duration = Duration::from_secs(3_600);
const PROJECT: &str = "/work/app";
const POOL: &str = "/work/app/src/pool.py";
const ERROR: &str = "ModuleNotFoundError: No module named 'lanterns'";

/// Creates a machine on which two sessions changed a file, and one of them fixed an error.
fn machine() -> (World, Daemon) {
    machine_with(World::new(), PROJECT)
}

fn machine_with(world: World, project: &str) -> (World, Daemon) {
    let edit = |old: &str, new: &str| {
        let path = format!("{project}/src/pool.py");
        json!({ "file_path": path, "old_string": old, "new_string": new })
    };
    let mut first = world.transcript_in("aaaa-1", project).aged(HOUR * 72);
    first.prompt("Make the pool larger, requests wait for connections");
    first.tool("Edit", &edit("size = 5", "size = 20  # for slow requests"), "has been updated");
    first.reply("The pool has 20 connections now.");
    let mut second = world.transcript_in("bbbb-2", project).aged(HOUR * 24);
    let run = json!({ "command": "python app.py" });
    second.prompt("The server does not start, fix it");
    second.failing_tool("Bash", &run, &format!("Exit code 1\n{ERROR}"));
    second.reply("The root cause is that lanterns is missing from requirements.txt.");
    second.tool("Edit", &edit("import sys", "import os"), "has been updated");
    second.tool(
        "Edit",
        &json!({
            "file_path": format!("{project}/requirements.txt"),
            "old_string": "flask", "new_string": "flask\nlanterns",
        }),
        "has been updated",
    );
    second.tool("Bash", &run, "Serving on port 8000");
    second.reply("The server starts now: I added lanterns to requirements.txt.");
    let daemon = world.start();
    daemon.settle_sessions();
    (world, daemon)
}

fn ids(answer: &Value, list: &str) -> Vec<String> {
    let rows = answer[list].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    rows.map(|row| row["session"]["session_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_sessions_that_changed_a_file_are_shown_with_their_reasons() {
    let (world, daemon) = machine();
    let blame = world.json(&["blame", POOL]);
    assert_eq!(ids(&blame, "changes"), ["bbbb-2", "aaaa-1"], "{blame}");
    assert_eq!(blame["file"], "src/pool.py");
    let change = blame["changes"][1]["change"].as_str().unwrap();
    assert!(change.contains("`src/pool.py` was changed"), "{change}");
    // The message is the edit, or the result of the edit.
    let message = json!({
        "session_id": "aaaa-1", "view": "messages", "limit": 1,
        "from": blame["changes"][1]["message"],
    });
    let shown = daemon.call("get_session", &message).to_string();
    assert!(shown.contains("pool.py"), "{shown}");
    let printed = world.printed(&["blame", POOL, "-n", "1"]);
    assert!(printed.contains("bbbb-2") && !printed.contains("aaaa-1"), "{printed}");
    assert!(printed.contains(" · claude · app · "), "the project is named: {printed}");
    assert_eq!(world.printed(&["blame", POOL, "-n", "1", "--text", " "]), printed);
    let none = world.printed(&["blame", "/work/app/src/other.py"]);
    assert_eq!(none, "No known session changed src/other.py.\n");
    // An agent may give the path of the file in the project.
    let whole = daemon.call("blame_file", &json!({ "file": "src/pool.py" }));
    assert_eq!(ids(&whole, "changes"), ["bbbb-2", "aaaa-1"]);
    // A name without folders is enough.
    let named = daemon.call("blame_file", &json!({ "file": "pool.py" }));
    assert_eq!(ids(&named, "changes"), ["bbbb-2", "aaaa-1"], "{named}");
    assert_eq!(named["file"], "src/pool.py");
    let part = daemon.call("blame_file", &json!({ "file": "src/pool.py", "text": "size = 20" }));
    assert_eq!(ids(&part, "changes"), ["aaaa-1"]);
}

#[test]
fn files_with_the_same_name_in_two_folders_of_a_repository_are_distinguished() {
    let world = World::new();
    for folder in ["mono/.git", "mono/apps/web", "mono/apps/api"] {
        fs::create_dir_all(world.path(folder)).unwrap();
    }
    fs::write(world.path("mono/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let root = fs::canonicalize(world.path("mono")).unwrap().display().to_string();
    for (session, package, age) in [("aaaa-1", "web", 3), ("bbbb-2", "api", 2)] {
        let project = format!("{root}/apps/{package}");
        let path = format!("{project}/index.ts");
        fs::write(&path, "const port = 9000;\n").unwrap();
        let edit = json!({
            "file_path": path, "old_string": "const port = 8000;", "new_string": "const port = 9000;",
        });
        let mut transcript = world.transcript_in(session, &project).aged(HOUR * age);
        transcript.prompt(&format!("Port 9000 for the {package}, please"));
        transcript.tool("Edit", &edit, "has been updated").reply("The port is 9000 now.");
    }
    let daemon = world.start();
    daemon.settle_sessions();
    for (file, wanted) in
        [("mono/apps/web/index.ts", "aaaa-1"), ("mono/apps/api/index.ts", "bbbb-2")]
    {
        let blame = world.json(&["blame", file]);
        assert_eq!(ids(&blame, "changes"), [wanted], "{blame}");
        let blame = world.json(&["blame", &format!("{file}:1")]);
        assert_eq!(ids(&blame, "changes"), [wanted], "{blame}");
    }
    let shown = &world.json(&["show", "bbbb-2"])["summary"];
    assert_eq!(shown["files_modified"], json!(["apps/api/index.ts"]), "{shown}");
}

#[test]
fn a_line_is_traced_to_the_edit_that_wrote_it() {
    let world = World::new();
    fs::create_dir_all(world.path("app/src")).unwrap();
    let project = fs::canonicalize(world.path("app")).unwrap().display().to_string();
    let text = "import os\nsize = 20  # for slow requests\n\n";
    fs::write(world.path("app/src/pool.py"), text).unwrap();
    let (world, _daemon) = machine_with(world, &project);
    let blame = world.json(&["blame", "app/src/pool.py:2"]);
    assert_eq!(ids(&blame, "changes"), ["aaaa-1"], "{blame}");
    assert_eq!(blame["changes"][0]["lines"], json!(["+size = 20  # for slow requests"]));
    let removed = world.json(&["blame", "app/src/pool.py", "--text", "size = 5"]);
    assert_eq!(removed["changes"][0]["lines"], json!(["-size = 5"]));
    let printed = world.printed(&["blame", "app/src/pool.py:1"]);
    assert!(printed.contains("bbbb-2") && printed.contains("+import os"), "{printed}");
    let refused = world.graphiti(&["blame", "app/src/pool.py:3"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("line 3 has no words"));
    let refused = world.graphiti(&["blame", "app/src/pool.py:9999"]);
    assert!(
        String::from_utf8_lossy(&refused.stderr)
            .contains("there is no line 9999: the last line is 3")
    );
}

#[test]
fn a_line_is_not_traced_to_the_file_of_another_project() {
    let world = World::new();
    let folder = |name: &str| {
        fs::create_dir_all(world.path(&format!("{name}/src"))).unwrap();
        fs::canonicalize(world.path(name)).unwrap().display().to_string()
    };
    let (app, other) = (folder("app"), folder("other"));
    fs::write(world.path("app/src/pool.py"), "import sys\nsize = 20  # for slow requests\n")
        .unwrap();
    let mut session = world.transcript_in("cccc-3", &other).aged(HOUR);
    let edit = json!({
        "file_path": format!("{other}/src/pool.py"),
        "old_string": "size = 4", "new_string": "size = 20  # for slow requests",
    });
    session.prompt("Make the other pool larger, too").tool("Edit", &edit, "has been updated");
    session.reply("The other pool has 20 connections now.");
    // The agent of this session, in a sub-folder, used a path relative to the sub-folder.
    let mut session = world.transcript_in("dddd-4", &format!("{app}/src")).aged(HOUR * 48);
    let edit = json!({
        "file_path": "pool.py", "old_string": "size = 20", "new_string": "size = 20  # for slow requests",
    });
    session.prompt("Say in the pool why it is so large").tool("Edit", &edit, "has been updated");
    session.reply("The pool says now why it is so large.");
    let (world, daemon) = machine_with(world, &app);
    let blame = world.json(&["blame", "app/src/pool.py:2"]);
    assert_eq!(ids(&blame, "changes"), ["dddd-4", "aaaa-1"], "{blame}");
    let of_other = json!({ "file": format!("{other}/src/pool.py"), "text": "size = 20" });
    assert_eq!(ids(&daemon.call("blame_file", &of_other), "changes"), ["cccc-3"]);
}

#[test]
fn the_known_fix_of_an_error_is_found() {
    let (world, daemon) = machine();
    let fix = world.json(&["fix", ERROR]);
    let known = &fix["errors"][0];
    assert_eq!(known["state"], "fixed", "{fix}");
    assert!(
        known["cause"].as_str().unwrap().contains("is missing from requirements.txt"),
        "{known}"
    );
    assert_eq!(known["sessions"][0]["session_id"], "bbbb-2");
    let output = format!("$ python app.py\nTraceback (most recent call last):\n{ERROR}\n");
    let piped = with_input(&world, &["fix"], &output);
    let printed = String::from_utf8(piped.stdout).unwrap();
    assert!(printed.starts_with("Known error: "), "{printed}");
    assert!(printed.contains("Fix: ") && printed.contains("bbbb-2"), "{printed}");
    let similar =
        daemon.call("find_fix", &json!({ "error": "the module lanterns cannot be imported" }));
    let text = similar["similar"][0]["fact"].as_str().unwrap_or_else(|| panic!("{similar}"));
    assert!(text.contains("lanterns"), "{text}");
    let unknown = world.printed(&["fix", "zebra overflow in the walrus"]);
    assert_eq!(unknown, "This error is not known.\n");
    let empty = with_input(&world, &["fix"], "\n");
    assert_eq!(empty.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&empty.stderr).contains("contains no error"));
}

#[test]
fn a_command_that_worked_in_another_form_is_found_by_its_error() {
    let world = World::new();
    let error = "error: unrecognized subcommand 'bun'";
    let mut session = world.transcript_in("eeee-5", PROJECT).aged(HOUR);
    let run = |command: &str| json!({ "command": command });
    session.prompt("Start the program");
    session.failing_tool("Bash", &run("rtk bun run dev"), &format!("Exit code 2\n{error}"));
    session.tool("Bash", &run("bun run dev"), "Listening on port 3000");
    session.reply("The program is running.");
    let (world, _daemon) = machine_with(world, PROJECT);
    let printed = world.printed(&["fix", error]);
    assert!(printed.contains("`bun run dev`"), "{printed}");
    let found = world.json(&["fix", error]);
    assert_eq!(found["errors"][0]["state"], "fixed", "{found}");
    let fix = found["errors"][0]["fix"].as_str().unwrap();
    assert_eq!(fix, "`bun run dev` instead of `rtk bun run dev`", "{found}");
    assert_eq!(found["similar"], json!([]), "{found}");
    assert!(!printed.contains("lanterns"), "{printed}");
}

#[test]
fn the_log_lists_sessions_by_day() {
    let (world, daemon) = machine();
    let log = world.json(&["log"]);
    assert_eq!(ids(&log, "sessions"), ["bbbb-2", "aaaa-1"], "{log}");
    assert!(log["sessions"][0]["fixed"][0].as_str().unwrap().contains("lanterns"), "{log}");
    let printed = world.printed(&["log", "app"]);
    let days = printed.lines().filter(|line| !line.is_empty() && !line.starts_with(' '));
    assert_eq!(days.count(), 2, "{printed}");
    let first = daemon.call("get_log", &json!({ "limit": 1 }));
    assert_eq!(ids(&first, "sessions"), ["bbbb-2"]);
    let second = daemon.call("get_log", &json!({ "limit": 1, "before": first["next"] }));
    assert_eq!(ids(&second, "sessions"), ["aaaa-1"]);
    assert_eq!(second["next"], Value::Null);
    let since = days_ago(2);
    assert_eq!(ids(&world.json(&["log", "--since", &since]), "sessions"), ["bbbb-2"]);
    assert_eq!(world.printed(&["log", "/else"]), "No sessions.\n");
    // Added memories are not listed, and do not reduce the number of listed sessions.
    for text in ["The staging server is slow", "Ann knows the pool", "Releases are on Mondays"] {
        daemon.call("add_memory", &json!({ "name": text, "episode_body": text }));
    }
    let first = daemon.call("get_log", &json!({ "limit": 1 }));
    assert_eq!(ids(&first, "sessions"), ["bbbb-2"], "{first}");
    let second = daemon.call("get_log", &json!({ "limit": 1, "before": first["next"] }));
    assert_eq!(
        (ids(&second, "sessions"), &second["next"]),
        (vec!["aaaa-1".to_owned()], &Value::Null)
    );
}

/// Returns the date of `days` days ago.
fn days_ago(days: u32) -> String {
    let now = graphitid::model::Timestamp::from(std::time::SystemTime::now());
    now.minus(HOUR * 24 * days).to_string()[..10].to_owned()
}

fn with_input(world: &World, arguments: &[&str], input: &str) -> Output {
    let mut command = world.command("graphiti");
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}
