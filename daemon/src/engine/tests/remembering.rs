//! Tests that a wish is stored once.

use std::collections::BTreeSet;

use super::Machine;
use crate::{
    engine::imported::{Memory, MemoryKind},
    model::Project,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_equal_wishes_at_the_same_time_are_stored_once() {
    let machine = Machine::new();
    let run = machine.start();
    let memory = |body: &str, kind: MemoryKind| Memory {
        name: "style".to_owned(),
        body: body.to_owned(),
        source: "text".to_owned(),
        description: String::new(),
        project: Project::new("/app"),
        replaces: None,
        kind,
    };
    let stored = |one: &str, other: &str, kind, finds_known| {
        let add = |body: &str| {
            let (engine, memory) = (run.engine.clone(), memory(body, kind));
            tokio::spawn(async move { engine.add_memory(memory, finds_known).await.unwrap().0.id })
        };
        let (one, other) = (add(one), add(other));
        async { BTreeSet::from([one.await.unwrap(), other.await.unwrap()]).len() }
    };
    for number in 0..40 {
        let wish = format!("Always use {number} spaces");
        assert_eq!(stored(&wish, &wish, MemoryKind::Preference, true).await, 1, "{wish}");
    }
    let (tabs, spaces) = ("Always use tabs", "Always use spaces in Markdown");
    assert_eq!(stored(tabs, spaces, MemoryKind::Preference, true).await, 2);
    assert_eq!(stored(tabs, tabs, MemoryKind::Preference, false).await, 2);
    assert_eq!(stored(tabs, tabs, MemoryKind::Note, true).await, 2);
    drop(run.stop().await);
}
