//! Tests summaries that are created again, and the state of their sessions meanwhile.

use super::{
    Decider, indexed,
    jobs::{close, end},
};
use crate::{
    engine::{
        command::EngineCommand, job_result::IndexOutcome, new_episode::NewEpisode,
        remake_permit::RemakePermit,
    },
    model::{Episode, SessionKey},
    store::{Write, contract},
};

const A: SessionKey = SessionKey(1);

#[test]
fn a_summary_is_created_again_only_while_there_is_no_other_work() {
    let (mut decider, episode) = with_episode();
    assert!(matches!(permit(&mut decider, &episode), RemakePermit::Granted(_)));
    decider.put("/p/b", 1, 10);
    decider.announce(&["/p/b"]);
    assert!(
        matches!(permit(&mut decider, &episode), RemakePermit::Busy),
        "a file is being identified"
    );
    decider.identify();
    assert!(matches!(permit(&mut decider, &episode), RemakePermit::Busy), "the file is being read");
    decider.finish(1);
    assert!(matches!(permit(&mut decider, &episode), RemakePermit::Granted(_)));
}

#[test]
fn a_permit_allows_one_summary_to_be_stored() {
    let (mut decider, episode) = with_episode();
    assert!(!store(&mut decider, &episode), "no permit was given");
    permit(&mut decider, &episode);
    decider.performed.clear();
    assert!(store(&mut decider, &episode));
    assert_eq!(decider.performed, ["episode + statements"]);
    assert!(!store(&mut decider, &episode));
}

#[test]
fn a_summary_is_not_stored_while_its_session_is_being_closed() {
    let (mut decider, episode) = with_episode();
    permit(&mut decider, &episode);
    let (_, mut closed) = close(&mut decider);
    decider.performed.clear();
    assert!(!store(&mut decider, &episode));
    assert_eq!(decider.performed, [""; 0]);
    end(&mut decider, |done| done.index = Some(IndexOutcome::Unchanged));
    assert_eq!(closed.try_recv().unwrap().unwrap().episode, Some(episode.id));
    assert_eq!(decider.store.episode(episode.id).unwrap(), Some(episode));
}

#[test]
fn a_permit_stays_valid_after_a_close_without_changes() {
    let (mut decider, episode) = with_episode();
    permit(&mut decider, &episode);
    let _closed = close(&mut decider);
    end(&mut decider, |done| done.index = Some(IndexOutcome::Unchanged));
    assert!(store(&mut decider, &episode));
}

#[test]
fn the_summary_of_an_episode_that_was_deleted_meanwhile_is_not_stored() {
    let (mut decider, episode) = with_episode();
    permit(&mut decider, &episode);
    decider.store.write(vec![Write::DropEpisode(episode.id)]).wait().unwrap();
    assert!(!store(&mut decider, &episode));
    assert!(decider.store.episode(episode.id).unwrap().is_none());
}

fn with_episode() -> (Decider, Episode) {
    let (session, writes) = indexed(A.0, "a");
    let decider = Decider::with(|_, _| {}, &writes, "");
    let episode = decider.store.episode(session.indexed.unwrap().episode).unwrap().unwrap();
    (decider, episode)
}

fn permit(decider: &mut Decider, episode: &Episode) -> RemakePermit {
    let episode = episode.id;
    let permit = |reply| EngineCommand::PermitRemake { session: A, episode, reply };
    decider.command(permit).try_recv().unwrap()
}

/// Returns whether the summary is stored.
fn store(decider: &mut Decider, episode: &Episode) -> bool {
    let statements = contract::statements(2_000);
    let made = Box::new(NewEpisode { episode: episode.clone(), statements, figures: None });
    decider.command(|reply| EngineCommand::StoreRemade { made, reply }).try_recv().unwrap()
}
