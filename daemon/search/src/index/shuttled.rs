//! Runs changes, commits, purges, releases of memory and reads concurrently, in many interleavings.

use super::*;
use crate::{
    rank::Scope,
    sync::{Arc, AtomicU64, Ordering, in_orders, thread},
    testing::{card, keys, search, user_messages},
};

const CHANGES: u64 = 5;

#[test]
fn shuttled_an_applied_change_is_found_exactly_once() {
    in_orders(300, || {
        let folder = tempfile::tempdir().unwrap();
        let index = Arc::new(SearchIndex::create(folder.path()).unwrap());
        let (begun, applied) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let in_background = |work: fn(&SearchIndex)| {
            let index = index.clone();
            thread::spawn(move || work(&index))
        };
        let in_background = [
            in_background(|index| {
                for _ in 0..2 {
                    index.commit().unwrap();
                }
            }),
            in_background(|index| {
                index.release_memory().unwrap();
                index.commit().unwrap();
            }),
            in_background(|index| index.purge().unwrap()),
        ];
        let changes = {
            let (index, begun, applied) = (index.clone(), begun.clone(), applied.clone());
            thread::spawn(move || {
                for number in 1..=CHANGES {
                    begun.store(number, Ordering::SeqCst);
                    index.apply(user_messages(card(number), &["a marmot"]), Position(number));
                    applied.store(number, Ordering::SeqCst);
                }
            })
        };
        for _ in 0..3 {
            let least = applied.load(Ordering::SeqCst);
            let found = index.with_view(|view| Ok(view.passages())).unwrap();
            let most = begun.load(Ordering::SeqCst);
            assert!(
                (least..=most).contains(&found),
                "{found} passages instead of {least} to {most}"
            );
        }
        changes.join().unwrap();
        in_background.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(index.commit().unwrap(), Position(CHANGES));
        drop(index);
        let index = SearchIndex::open(folder.path()).unwrap();
        let mut found = keys(&search(&index, "marmot", &Scope::default(), None));
        found.sort_unstable();
        assert_eq!(found, (1..=CHANGES).collect::<Vec<_>>());
        assert_eq!(index.with_view(|view| Ok(view.passages())).unwrap(), CHANGES);
    });
}
