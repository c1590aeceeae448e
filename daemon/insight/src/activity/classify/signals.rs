//! Derives the signals of a call from its intent and domain.

use crate::{
    activity::classify::file::FileKind,
    model::{
        activity::{Activity, Signals},
        tool::{ToolDomain, ToolIntent},
        transcript::FileChange,
    },
};

/// Returns the signals of an intent and a domain, as the specification defines them
/// (intelligent-session-summarization, 3.4, `_intent_to_signals`).
pub(crate) fn of_intent(intent: ToolIntent, domain: ToolDomain) -> Signals {
    let mut signals: Signals = intent_signals(intent).iter().copied().collect();
    match domain {
        ToolDomain::Testing => signals.add(Activity::Testing, 0.3),
        ToolDomain::Documentation => signals.add(Activity::Documenting, 0.4),
        ToolDomain::VersionControl => signals.add(Activity::Building, 0.1),
        _ => {}
    }
    signals
}

/// Returns the signals of a call whose intent and domain are certain.
///
/// Reading has half the weight of [`of_intent`]: agents read several files for each file that they
/// change, so with the full weight almost every session would count as exploring. Reading tests,
/// documents or the history of a repository does not count as testing, documenting or building. A
/// build, a commit or a copied file has less weight than a change of code.
pub(crate) fn of_known(intent: ToolIntent, domain: ToolDomain) -> Signals {
    use Activity::{Building, Configuring, Exploring, Fixing, Refactoring, Reviewing, Testing};
    let pairs: &[(Activity, f64)] = match (intent, domain) {
        (_, ToolDomain::Memory) => &[],
        (ToolIntent::Read, _) => &[(Exploring, 0.2), (Reviewing, 0.15)],
        (ToolIntent::Search, _) => &[(Exploring, 0.25), (Fixing, 0.1)],
        (ToolIntent::Create | ToolIntent::Communicate, ToolDomain::VersionControl) => {
            &[(Building, 0.2)]
        }
        (_, ToolDomain::VersionControl) => &[(Building, 0.1)],
        (ToolIntent::Create, ToolDomain::Filesystem) => &[(Building, 0.1), (Configuring, 0.1)],
        (ToolIntent::Delete | ToolIntent::Modify, ToolDomain::Filesystem) => &[(Refactoring, 0.2)],
        (ToolIntent::Modify, ToolDomain::Code) => &[(Refactoring, 0.2)],
        (ToolIntent::Validate, ToolDomain::Code) => {
            &[(Reviewing, 0.2), (Testing, 0.3), (Fixing, 0.2)]
        }
        (ToolIntent::Execute, ToolDomain::Code) => &[(Building, 0.3), (Testing, 0.1)],
        (ToolIntent::Execute, _) => &[(Testing, 0.2), (Building, 0.1)],
        _ => return of_intent(intent, domain),
    };
    pairs.iter().copied().collect()
}

/// Returns the signals of a change to a file of this kind.
pub(crate) fn of_change(intent: ToolIntent, kind: FileKind) -> Signals {
    use Activity::{Building, Configuring, Documenting, Fixing, Testing};
    let pairs: &[(Activity, f64)] = match (kind, intent) {
        (_, ToolIntent::Delete) => intent_signals(intent),
        (FileKind::Plan, _) => &[],
        (FileKind::Test, ToolIntent::Create) => &[(Testing, 0.6), (Building, 0.2)],
        (FileKind::Test, _) => &[(Testing, 0.5), (Fixing, 0.2)],
        (FileKind::Document, _) => &[(Documenting, 0.6)],
        (FileKind::Package | FileKind::Settings, _) => &[(Configuring, 0.6)],
        (FileKind::Database, ToolIntent::Create) => &[(Building, 0.4), (Configuring, 0.2)],
        (FileKind::Code, ToolIntent::Create) => &[(Building, 0.5)],
        (_, intent) => intent_signals(intent),
    };
    pairs.iter().copied().collect()
}

/// Returns the signals of [`of_change`], except for edits of code: the main signal is building if
/// the new texts are over twice as long as the old texts, and refactoring if they are less than
/// half as long.
pub(crate) fn of_edits(intent: ToolIntent, kind: FileKind, change: &FileChange) -> Signals {
    use Activity::{Building, Fixing, Refactoring};
    let (old, new) = change
        .edits
        .iter()
        .fold((0, 0), |(old, new), edit| (old + edit.old.len(), new + edit.new.len()));
    let pairs = match (kind, intent) {
        (FileKind::Code, ToolIntent::Modify) if new > 2 * old => {
            [(Building, 0.5), (Fixing, 0.2), (Refactoring, 0.1)]
        }
        (FileKind::Code, ToolIntent::Modify) if 2 * new < old => {
            [(Refactoring, 0.5), (Fixing, 0.2), (Building, 0.0)]
        }
        _ => return of_change(intent, kind),
    };
    pairs.into_iter().collect()
}

fn intent_signals(intent: ToolIntent) -> &'static [(Activity, f64)] {
    use Activity::{Building, Configuring, Exploring, Fixing, Refactoring, Reviewing, Testing};
    match intent {
        ToolIntent::Create => &[(Building, 0.4), (Configuring, 0.2)],
        ToolIntent::Modify => &[(Fixing, 0.3), (Refactoring, 0.3), (Building, 0.2)],
        ToolIntent::Delete => &[(Refactoring, 0.3), (Fixing, 0.2)],
        ToolIntent::Read => &[(Exploring, 0.4), (Reviewing, 0.3)],
        ToolIntent::Search => &[(Exploring, 0.5), (Fixing, 0.2)],
        ToolIntent::Execute => &[(Testing, 0.3), (Building, 0.2)],
        ToolIntent::Configure => &[(Configuring, 0.6)],
        ToolIntent::Validate => &[(Testing, 0.5), (Fixing, 0.2)],
        ToolIntent::Communicate => &[(Building, 0.2)],
        ToolIntent::Transform => &[(Building, 0.3), (Refactoring, 0.2)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::{ChangeKind, Replacement};

    #[test]
    fn running_tests_gives_the_signals_of_the_example_in_the_specification() {
        let signals = of_intent(ToolIntent::Validate, ToolDomain::Testing);
        assert_eq!(signals.get(Activity::Testing), 0.8);
        assert_eq!(signals.get(Activity::Fixing), 0.2);
    }

    #[test]
    fn code_that_grows_is_building_and_code_that_shrinks_is_refactoring() {
        let edit = |old: usize, new: usize| FileChange {
            path: "a.rs".to_owned(),
            kind: ChangeKind::Edited,
            edits: vec![Replacement { old: "x".repeat(old), new: "y".repeat(new) }],
        };
        let strongest = |old, new| {
            let signals = of_edits(ToolIntent::Modify, FileKind::Code, &edit(old, new));
            Activity::ALL
                .into_iter()
                .reduce(|best, one| if signals.get(one) > signals.get(best) { one } else { best })
        };
        assert_eq!(strongest(10, 200), Some(Activity::Building));
        assert_eq!(strongest(200, 10), Some(Activity::Refactoring));
        assert_eq!(strongest(100, 110), Some(Activity::Fixing));
    }
}
