//! Tests with real programs.

use std::{fs, sync::Arc};

use serde_json::json;
use tokio::sync::Notify;

use crate::{
    config::ProviderKind,
    error::Retry,
    provider::command::{MARKER, directory},
    tests::world::{ClientFixture, SECRET, json_request, text_request},
};

fn world(command: &[&str]) -> ClientFixture {
    let mut world = ClientFixture::new(ProviderKind::Command);
    world.config.command = Some(command.iter().map(|word| (*word).to_owned()).collect());
    world
}

#[cfg(unix)]
fn script(text: &str) -> ClientFixture {
    world(&["sh", "-c", text])
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_reads_the_prompt_and_prints_the_answer() {
    let world = script("cat > seen; echo '  A summary.'");
    let reply =
        world.client().complete(&text_request(&format!("the text {SECRET}"))).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.model.as_str()), ("A summary.", "sh"));
    assert_eq!(reply.cost, None);
    let seen = fs::read_to_string(directory(world.home()).join("seen")).unwrap();
    assert!(seen.contains("Summarize this:") && seen.contains("the text [REDACTED]"), "{seen}");
    assert!(seen.starts_with("You are a function"), "{seen}");
}

#[cfg(unix)]
#[tokio::test]
async fn json_is_requested_in_the_prompt() {
    let world =
        script("grep -q 'by this JSON schema' && echo '{\"goal\": \"a\", \"end\": \"done\"}'");
    let reply = world.client().complete(&json_request("x")).await.unwrap();
    assert_eq!(reply.json, Some(json!({"goal": "a", "end": "done"})));
}

#[cfg(unix)]
#[tokio::test]
async fn each_prompt_contains_the_schema_once() {
    let world = script(
        "cat > seen; cat seen >> all; \
         grep -q 'earlier answer' seen && echo '{\"goal\": \"a\", \"end\": \"done\"}' || echo nonsense",
    );
    let reply = world.client().complete(&json_request("x")).await.unwrap();
    assert_eq!(reply.json, Some(json!({"goal": "a", "end": "done"})));
    let all = fs::read_to_string(directory(world.home()).join("all")).unwrap();
    let prompts: Vec<&str> = all.split("You are a function").skip(1).collect();
    let counts = prompts.iter().map(|prompt| prompt.matches("by this JSON schema").count());
    assert_eq!(counts.collect::<Vec<_>>(), [1, 1], "{all}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_finds_the_marker_and_runs_in_its_own_folder() {
    let world = script("cat > /dev/null; echo \"$GRAPHITI_LLM_CALL|$CLAUDECODE|$(pwd -P)\"");
    let reply = world.client().complete(&text_request("x")).await.unwrap();
    let folder = directory(world.home()).canonicalize().unwrap();
    assert_eq!(reply.text, format!("1||{}", folder.display()));
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_daemon_with_the_marker_runs_no_program() {
    let mut world = world(&["cat"]);
    world.environment.push((MARKER.to_owned(), "1".to_owned()));
    let error = world.client().complete(&text_request("x")).await.unwrap_err();
    assert_eq!(error.kind(), "misconfigured");
    assert!(error.to_string().contains(MARKER));
}

#[cfg(unix)]
#[tokio::test]
async fn a_slow_program_is_killed_with_its_child_processes() {
    let world =
        script("cat > /dev/null; sleep 600 & echo $! > child; mkfifo pipe; : > ready; cat pipe");
    let folder = directory(world.home());
    let reached = Arc::new(Notify::new());
    world.expire_limit_on(reached.clone());
    let client = world.client();
    let request = text_request("x");
    let watch = async {
        while !folder.join("ready").exists() {
            tokio::task::yield_now().await;
        }
        let child = fs::read_to_string(folder.join("child")).unwrap();
        fs::remove_file(folder.join("ready")).unwrap();
        fs::remove_file(folder.join("pipe")).unwrap();
        reached.notify_one();
        while !folder.join("ready").exists() {
            tokio::task::yield_now().await;
        }
        reached.notify_one();
        child.trim().parse::<i32>().unwrap()
    };
    let (answer, child) = tokio::join!(client.complete(&request), watch);
    let error = answer.unwrap_err();
    assert_eq!((error.kind(), error.retry()), ("unavailable", Retry::Later(None)));
    assert!(error.to_string().contains("no answer within 77 seconds"), "{error}");
    wait_until_gone(child).await;
}

#[cfg(unix)]
#[tokio::test]
async fn remaining_child_processes_are_killed_without_a_wait() {
    let world = script("cat > /dev/null; sleep 600 & echo $! > child; echo 'A summary.'");
    let reply = world.client().complete(&text_request("x")).await.unwrap();
    assert_eq!(reply.text, "A summary.");
    let child = fs::read_to_string(directory(world.home()).join("child")).unwrap();
    wait_until_gone(child.trim().parse().unwrap()).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_failing_program_is_retried_once_and_its_error_is_reported() {
    let world = script(&format!(
        "cat > /dev/null; echo . >> tries; echo 'limit reached {SECRET}' >&2; exit 3"
    ));
    let error = world.client().complete(&text_request("x")).await.unwrap_err();
    assert_eq!(error.kind(), "unavailable");
    let text = error.to_string();
    assert!(text.contains("exit status: 3: limit reached [REDACTED]"), "{text}");
    let tries = fs::read_to_string(directory(world.home()).join("tries")).unwrap();
    assert_eq!(tries.lines().count(), 2);
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_with_too_much_output_is_killed() {
    let world = script("yes");
    let error = world.client().complete(&text_request("x")).await.unwrap_err();
    assert_eq!(error.kind(), "bad_reply");
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_may_ignore_its_input_or_print_nothing() {
    let world = script("exec <&-; echo 'A summary.'");
    let long = "word ".repeat(20_000);
    assert_eq!(world.client().complete(&text_request(&long)).await.unwrap().text, "A summary.");
    let silent = script("cat > /dev/null");
    let error = silent.client().complete(&text_request("x")).await.unwrap_err();
    assert!(error.to_string().contains("printed nothing"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_folder_of_the_program_is_created_as_soon_as_it_can_be() {
    let world = script("cat > /dev/null; echo 'A summary.'");
    fs::write(directory(world.home()), "in the way").unwrap();
    let client = world.client();
    let error = client.complete(&text_request("x")).await.unwrap_err();
    assert!(error.to_string().contains("llm-work cannot be created"), "{error}");
    let error = client.reach(world.config.timeout).await.unwrap_err();
    assert!(error.to_string().contains("llm-work cannot be created"), "{error}");
    fs::remove_file(directory(world.home())).unwrap();
    assert!(client.reach(world.config.timeout).await.is_ok());
    client.admit_again();
    assert_eq!(client.complete(&text_request("x")).await.unwrap().text, "A summary.");
}

#[tokio::test]
async fn a_missing_program_is_reported() {
    for command in [&["no-such-program-here"][..], &[]] {
        let error = world(command).client().complete(&text_request("x")).await.unwrap_err();
        assert_eq!(error.kind(), "misconfigured");
        assert!(error.to_string().contains("llm.command"), "{error}");
    }
}

/// Waits until the process has ended. A zombie counts as ended: the system may reap it later.
#[cfg(unix)]
async fn wait_until_gone(process: i32) {
    let process = rustix::process::Pid::from_raw(process).unwrap();
    let stat = format!("/proc/{}/stat", process.as_raw_nonzero());
    let is_zombie = || fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") Z "));
    while rustix::process::test_kill_process(process).is_ok() && !is_zombie() {
        tokio::task::yield_now().await;
    }
}
