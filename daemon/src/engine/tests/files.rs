//! Files that are announced twice, late, or in the middle of something.

use super::{Machine, messages, paths, sources};

const OWN: &str = "p/11111111-0000-4000-8000-000000000000.jsonl";
const SUB_AGENT: &str = "p/11111111-0000-4000-8000-000000000000/subagents/agent-a.jsonl";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_announced_twice_in_one_batch_is_registered_once() {
    let machine = Machine::new();
    let both = [OWN, SUB_AGENT].map(|path| machine.path(path));
    machine.append(OWN, "one");
    machine.append(SUB_AGENT, "two");
    let run = machine.start();
    run.announce(&[both.clone(), both.clone()].concat()).await;
    run.settle().await;
    machine.append(OWN, "three");
    machine.append(SUB_AGENT, "four");
    run.announce(&both).await;
    run.settle().await;
    let store = run.stop().await;
    let sources = sources(store.as_ref());
    assert_eq!(paths(&sources), both);
    let texts: Vec<String> = sources
        .iter()
        .flat_map(|source| messages(store.as_ref(), source))
        .map(|message| message.text)
        .collect();
    assert_eq!(texts, ["one", "three", "two", "four"]);
}
