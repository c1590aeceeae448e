//! Tests that no text of a forgotten session is left.

use super::{Machine, sources};
use crate::{prompt::cache_key::SummaryKey, store::NoteNamespace};

const OWN: &str = "p/11111111-0000-4000-8000-000000000000.jsonl";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_with_damaged_messages_is_forgotten_with_the_cached_summaries() {
    let machine = Machine::new();
    machine.append(OWN, "The codename is quokka");
    let run = machine.start();
    run.announce(&[machine.path(OWN)]).await;
    run.settle().await;
    drop(run.stop().await);
    let store = machine.store();
    let source = sources(&store).remove(0);
    store.damage_messages(source.key);
    drop(store);

    let run = machine.start();
    let session = run.store.session(source.key.session).unwrap().unwrap();
    let summarizer = run.engine.summarizer().await.unwrap();
    summarizer.summaries.put(SummaryKey::from_bytes([1; 32]), "The codename is quokka");
    drop(summarizer);
    run.engine.forget(vec![(session.id, Some(session.key))]).await.unwrap();
    let store = run.stop().await;
    assert_eq!(store.session(session.key).unwrap(), None);
    assert_eq!(store.notes(NoteNamespace::Summaries).unwrap(), []);
}
