//! Groups the known directories that belong together. The groups are kept up to date, so that a
//! look-up does not compare all directories.

use std::collections::{BTreeSet, HashMap};

use super::{Identity, KnownProject};
use crate::model::{Namespace, Project};

/// The groups of the directories that share a spelling ([`Project::spelling`]), a repository or a
/// remote, directly or through other directories.
#[derive(Default)]
pub(super) struct Groups {
    /// The group of each key, as an index of `groups`.
    of_key: HashMap<String, usize>,
    /// A group that was merged into another one is empty.
    groups: Vec<Group>,
}

#[derive(Default)]
struct Group {
    keys: Vec<String>,
    members: BTreeSet<Namespace>,
}

impl Groups {
    pub(super) fn of<'k>(known: impl Iterator<Item = &'k KnownProject>) -> Groups {
        let mut groups = Groups::default();
        known.for_each(|known| groups.add(&known.project, &known.identity));
        groups
    }

    /// Adds a directory to the group with which it shares a key, or to a new group. If the
    /// directory shares keys with several groups, they are merged.
    pub(super) fn add(&mut self, project: &Project, identity: &Identity) {
        let keys = keys(project, identity);
        let found: BTreeSet<usize> =
            keys.iter().filter_map(|key| self.of_key.get(key).copied()).collect();
        let largest = found.iter().copied().max_by_key(|group| self.groups[*group].keys.len());
        let group = largest.unwrap_or_else(|| {
            self.groups.push(Group::default());
            self.groups.len() - 1
        });
        for other in found.into_iter().filter(|other| *other != group) {
            let other = std::mem::take(&mut self.groups[other]);
            self.groups[group].members.extend(other.members);
            for key in other.keys {
                self.of_key.insert(key.clone(), group);
                self.groups[group].keys.push(key);
            }
        }
        for key in keys {
            if self.of_key.insert(key.clone(), group).is_none() {
                self.groups[group].keys.push(key);
            }
        }
        self.groups[group].members.extend([project.namespace(), project.root().namespace()]);
    }

    /// Returns the namespace of a directory, and then the namespaces of the other directories in
    /// the groups with which it shares a key. The directory need not be known.
    pub(super) fn members(&self, project: &Project, identity: &Identity) -> Vec<Namespace> {
        let (own, root) = (project.namespace(), project.root().namespace());
        let keys = keys(project, identity);
        let found: BTreeSet<usize> =
            keys.iter().filter_map(|key| self.of_key.get(key).copied()).collect();
        let others = found.iter().flat_map(|group| &self.groups[*group].members);
        let mut members = vec![own];
        members.extend(others.filter(|member| **member != own));
        if !members.contains(&root) {
            members.push(root);
        }
        members
    }
}

/// Returns the keys of a directory. Directories that share a key belong to the same project. The
/// key of a remote has a prefix that distinguishes it from a path.
fn keys(project: &Project, identity: &Identity) -> Vec<String> {
    let mut keys = vec![project.spelling()];
    let root = project.root();
    if root != *project {
        keys.push(root.spelling());
    }
    keys.extend(identity.repository.clone());
    keys.extend(identity.remote.as_ref().map(|remote| format!("remote {remote}")));
    keys
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn known(path: &str, repository: Option<&str>, remote: Option<&str>) -> KnownProject {
        let identity = Identity {
            repository: repository.map(str::to_owned),
            remote: remote.map(str::to_owned),
        };
        KnownProject { project: Project::new(path), identity, checked_at: None }
    }

    /// Computes the members of a group by comparing every directory.
    fn compared(all: &[KnownProject], one: &KnownProject) -> HashSet<Namespace> {
        let mut joined: HashSet<String> = keys(&one.project, &one.identity).into_iter().collect();
        let mut members: HashSet<Namespace> =
            [one.project.namespace(), one.project.root().namespace()].into();
        loop {
            let before = (joined.len(), members.len());
            for known in all {
                let keys = keys(&known.project, &known.identity);
                if keys.iter().any(|key| joined.contains(key)) {
                    joined.extend(keys);
                    members.extend([known.project.namespace(), known.project.root().namespace()]);
                }
            }
            if before == (joined.len(), members.len()) {
                return members;
            }
        }
    }

    fn directory() -> impl Strategy<Value = KnownProject> {
        let path = prop::sample::select(vec![
            "/a",
            "/a/src",
            "/b",
            "/B",
            "/c",
            "/d",
            "/e",
            "/f",
            "/a/.claude/worktrees/x",
            r"C:\w",
            "c:/w",
        ]);
        let repository = prop::option::of(prop::sample::select(vec!["/a", "/b", "/c", "/d"]));
        let remote = prop::option::of(prop::sample::select(vec!["h/one", "h/two", "h/three"]));
        (path, repository, remote)
            .prop_map(|(path, repository, remote)| known(path, repository, remote))
    }

    proptest! {
        #[test]
        fn groups_equal_the_result_of_comparing_all_directories(
            all in prop::collection::vec(directory(), 0..12),
            unknown in directory(),
        ) {
            let groups = Groups::of(all.iter());
            for one in all.iter().chain([&unknown]) {
                let members = groups.members(&one.project, &one.identity);
                prop_assert_eq!(members[0], one.project.namespace());
                let found: HashSet<Namespace> = members.iter().copied().collect();
                prop_assert_eq!(found.len(), members.len(), "no namespace occurs twice");
                prop_assert_eq!(found, compared(&all, one));
            }
        }
    }

    #[test]
    fn a_directory_that_shares_keys_with_two_groups_merges_them() {
        let (one, two) = (known("/one", None, Some("h/r")), known("/two", Some("/main"), None));
        let between = known("/three", Some("/main"), Some("h/r"));
        let members = |all: &[&KnownProject]| {
            let groups = Groups::of(all.iter().copied());
            groups.members(&one.project, &one.identity).len()
        };
        assert_eq!(members(&[&one, &two]), 1);
        assert_eq!(members(&[&one, &two, &between]), 3);
    }
}
