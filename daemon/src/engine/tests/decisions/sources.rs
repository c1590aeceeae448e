//! Tests files that are created, changed, moved and deleted, and events about them that are
//! repeated or late.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Decider, EngineEvent, Settings};

const OWN: &str = "/p/a";
const ARCHIVED: &str = "/archive/a";
const SUB_AGENT: &str = "/p/a/1";

#[test]
fn a_new_file_is_identified_registered_and_read() {
    let mut decider = Decider::new();
    decider.put(OWN, 1, 10);
    decider.announce(&[OWN]);
    assert_eq!(decider.batches, [[PathBuf::from(OWN)]]);
    decider.identify();
    assert_eq!(
        (decider.paths().as_slice(), decider.state_of("a")),
        (&[OWN.to_owned()][..], "active")
    );
    assert_eq!(decider.due_files(), [0]);
    decider.finish(1);
    assert!(decider.jobs.is_empty() && decider.batches.is_empty());
}

#[test]
fn files_of_one_session_have_different_numbers_and_share_one_job() {
    let mut decider = Decider::new();
    decider.put(OWN, 1, 10);
    decider.put(SUB_AGENT, 2, 10);
    decider.announce(&[OWN, SUB_AGENT, OWN]);
    decider.identify();
    assert_eq!(decider.paths(), [OWN, SUB_AGENT]);
    assert_eq!(decider.due_files(), [0, 1]);
    assert_eq!(decider.jobs.len(), 1);
}

#[test]
fn a_file_that_is_announced_again_while_it_is_identified_is_registered_once() {
    let mut decider = Decider::new();
    decider.put(OWN, 1, 10);
    decider.announce(&[OWN]);
    decider.announce(&[OWN]);
    decider.identify();
    assert!(decider.batches.is_empty(), "the file is registered");
    assert_eq!(decider.paths(), [OWN]);
    assert_eq!(decider.jobs.len(), 1);
}

#[test]
fn an_event_about_a_file_that_did_not_change_starts_nothing() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    decider.announce(&[OWN, OWN]);
    assert!(decider.jobs.is_empty() && decider.performed.is_empty());
}

#[test]
fn an_event_about_a_file_that_was_deleted_meanwhile_starts_nothing() {
    let mut decider = Decider::new();
    decider.announce(&[OWN]);
    assert!(decider.batches.is_empty());
    decider.put(OWN, 1, 10);
    decider.announce(&[OWN]);
    decider.files.clear();
    decider.identify();
    assert_eq!(decider.paths(), [""; 0]);
    decider.put(OWN, 1, 10);
    decider.announce(&[OWN]);
    decider.identify();
    assert_eq!(decider.paths(), [OWN], "the file exists again");
}

#[test]
fn a_file_that_grows_while_its_job_runs_is_read_again_afterwards() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    decider.put(OWN, 1, 20);
    decider.announce(&[OWN]);
    decider.put(OWN, 1, 30);
    decider.announce(&[OWN]);
    assert_eq!(decider.jobs.len(), 1, "one job at a time");
    decider.finish(1);
    assert_eq!(decider.due_files(), [0]);
}

#[test]
fn a_file_that_was_replaced_is_read_even_if_it_is_as_long_as_before() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    decider.put(OWN, 2, 10);
    decider.announce(&[OWN]);
    assert_eq!(decider.due_files(), [0]);
}

#[test]
fn a_session_ends_when_its_own_file_is_deleted_but_not_when_a_sub_agents_file_is() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    decider.follow(SUB_AGENT, 2);
    decider.files.remove(Path::new(SUB_AGENT));
    decider.announce(&[SUB_AGENT]);
    assert_eq!(decider.state_of("a"), "active");
    decider.files.clear();
    decider.announce(&[OWN]);
    assert_eq!(decider.state_of("a"), "unindexed");
    decider.pass(Duration::from_secs(3));
    assert_eq!(decider.state_of("a"), "indexing");
}

#[test]
fn a_session_ends_when_its_own_file_is_missing_for_its_job_but_not_when_a_sub_agents_file_is() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    decider.follow(SUB_AGENT, 2);
    for (path, state) in [(SUB_AGENT, "active"), (OWN, "unindexed")] {
        decider.put(path, 3, 20);
        decider.announce(&[path]);
        decider.files.remove(Path::new(path));
        decider.finish(0);
        assert_eq!(decider.state_of("a"), state);
    }
}

#[test]
fn a_session_continues_in_a_file_that_was_moved() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    let file = decider.files.remove(Path::new(OWN)).unwrap();
    decider.files.insert("/q/a".into(), file);
    decider.announce(&[OWN, "/q/a"]);
    assert_eq!(decider.state_of("a"), "unindexed");
    decider.identify();
    assert_eq!(decider.paths(), [OWN, "/q/a"]);
    assert_eq!(decider.due_files(), [1]);
    decider.finish(1);
    assert_eq!(decider.state_of("a"), "active");
}

#[test]
fn a_file_that_its_agent_archived_stays_registered_under_its_new_path() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    let file = decider.files.remove(Path::new(OWN)).unwrap();
    decider.files.insert(ARCHIVED.into(), file);
    decider.announce(&[OWN, ARCHIVED]);
    decider.identify();
    assert_eq!(decider.paths(), [ARCHIVED]);
    assert_eq!(decider.session("a").file, ARCHIVED);
    assert!(decider.jobs.is_empty(), "the file has no new content");
    decider.put(ARCHIVED, 1, 20);
    decider.announce(&[ARCHIVED]);
    assert_eq!(decider.due_files(), [0]);
}

#[test]
fn a_copy_in_the_archive_is_registered_only_after_the_original_was_deleted() {
    let mut decider = Decider::new();
    decider.follow(OWN, 1);
    decider.put(ARCHIVED, 2, 10);
    decider.announce(&[ARCHIVED]);
    decider.identify();
    assert_eq!(decider.paths(), [OWN]);
    decider.files.remove(Path::new(OWN));
    decider.announce(&[OWN, ARCHIVED]);
    decider.identify();
    assert_eq!(decider.paths(), [ARCHIVED]);
}

#[test]
fn files_in_an_excluded_folder_are_not_identified() {
    let mut decider = Decider::with(|_, settings| settings.excluded = vec!["/p".into()], &[], "");
    decider.put(OWN, 1, 10);
    decider.put("/q/a", 2, 10);
    decider.announce(&[OWN, "/q/a"]);
    assert_eq!(decider.batches, [[PathBuf::from("/q/a")]]);
}

#[test]
fn all_files_are_reported_again_after_a_change_of_the_files_to_be_read() {
    let mut decider = Decider::with(|_, settings| settings.excluded = vec!["/p".into()], &[], "");
    let mut restarts = |change: fn(&mut Settings)| {
        let before = decider.watches;
        change(&mut decider.settings);
        decider.reload();
        decider.watches - before
    };
    assert_eq!(restarts(|_| {}), 0);
    assert_eq!(restarts(|settings| settings.excluded.clear()), 1);
    assert_eq!(restarts(|settings| settings.max_age = Some(Duration::from_secs(9))), 1);
    assert_eq!(restarts(|_| {}), 0);
}

#[test]
fn a_session_ends_when_its_agent_recorded_the_end() {
    let mut decider = Decider::new();
    decider.put(OWN, 1, 10);
    decider.announce(&[OWN]);
    decider.identify();
    let job = decider.jobs.pop_front().unwrap();
    let mut done = decider.read(&job, 1);
    done.files[0].state.is_ended = true;
    decider.turn(EngineEvent::JobDone(Box::new(done)));
    assert_eq!(decider.state_of("a"), "unindexed");
}
