//! Records the work on files: reads and changes.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use serde::{Deserialize, Serialize};

use crate::{
    lang::paths,
    model::{
        evidence::{Evidence, FileWork},
        graph::fingerprint,
        project::Project,
        transcript::{ChangeKind, FileChange, Origin, Replacement},
    },
    summarize::{
        evidence::{
            bounds,
            moment::EntryPosition,
            settings::{self, Setting},
            shell::{Effect, resolve},
        },
        lists::push_latest,
    },
    text::kept,
};

/// A change of a file by a call. The change is recorded when the call succeeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PlannedChange {
    pub(super) path: String,
    pub(super) deed: FileAction,
    /// Number of added lines.
    pub(super) added: u32,
    /// Number of removed lines.
    pub(super) removed: u32,
    pub(super) settings: Vec<Setting>,
    /// The text of a todo or plan file, or of a file that describes the progress, or what the
    /// agent noted in its memory.
    #[serde(default)]
    pub(super) note: Option<String>,
    /// Hashes of the texts of each edit, to recognise a later edit that reverses the edit.
    #[serde(default)]
    pub(super) texts: Vec<FileTexts>,
}

/// Hashes of the old and of the new text of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileTexts {
    old: u64,
    new: u64,
}

fn hash(text: &str) -> u64 {
    fingerprint(text.trim())
}

impl FileTexts {
    fn of(edit: &Replacement) -> FileTexts {
        FileTexts { old: hash(&edit.old), new: hash(&edit.new) }
    }

    fn reverses(self, other: FileTexts) -> bool {
        self.old == other.new && self.new == other.old
    }
}

/// An edit that a later edit may reverse.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct EditMade {
    /// The hash of the file's path.
    path: u64,
    texts: FileTexts,
}

/// What is done to a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileAction {
    Read,
    /// Parts of the file are replaced.
    Edit,
    /// The file is written as a whole.
    Write,
    Delete,
    /// The file is moved to this path.
    Move(String),
}

impl PlannedChange {
    /// Converts `change`: resolves its paths against `directory`, counts its lines, and finds its
    /// settings. The caller sets the note, because the note depends on the prompt.
    pub(super) fn of(change: &FileChange, directory: &str) -> PlannedChange {
        let lines = |text: &str| u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let (mut added, mut removed) = (0u32, 0u32);
        for edit in &change.edits {
            let (more, less) = changed_lines(&edit.old, &edit.new);
            added = added.saturating_add(lines(more));
            removed = removed.saturating_add(lines(less));
        }
        let deed = match &change.kind {
            ChangeKind::Edited => FileAction::Edit,
            ChangeKind::Written => FileAction::Write,
            ChangeKind::Deleted => FileAction::Delete,
            ChangeKind::Moved { to } => FileAction::Move(resolve(directory, to)),
        };
        let settings = settings::changed(change, directory);
        let is_edit = deed == FileAction::Edit;
        let texts =
            change.edits.iter().filter(|_| is_edit).take(EDITS).map(FileTexts::of).collect();
        PlannedChange {
            path: resolve(directory, &change.path),
            deed,
            added,
            removed,
            settings,
            note: None,
            texts,
        }
    }
}

/// Maximum number of edits of one change whose hashes are kept.
const EDITS: usize = 8;

impl PlannedChange {
    /// Returns an edit of the file at `path`, for a file that a report names as changed.
    pub(super) fn reported(path: &str, directory: &str) -> PlannedChange {
        let path = resolve(directory, path);
        PlannedChange { path, ..PlannedChange::from(&Effect::Edit(String::new())) }
    }
}

/// Returns `new` and `old` without the lines that both have at the start and at the end.
fn changed_lines<'t>(old: &'t str, new: &'t str) -> (&'t str, &'t str) {
    let mut head = 0;
    for (a, b) in old.split_inclusive('\n').zip(new.split_inclusive('\n')) {
        if a != b {
            break;
        }
        head += a.len();
    }
    let (old, new) = (&old[head..], &new[head..]);
    let mut tail = 0;
    for (a, b) in old.rsplit('\n').zip(new.rsplit('\n')) {
        if a != b || tail + a.len() >= old.len().min(new.len()) {
            break;
        }
        tail += a.len() + 1;
    }
    (&new[..new.len() - tail.min(new.len())], &old[..old.len() - tail.min(old.len())])
}

impl From<&Effect> for PlannedChange {
    fn from(effect: &Effect) -> PlannedChange {
        let (path, deed, added) = match effect {
            Effect::Remove(path) => (path, FileAction::Delete, 0),
            Effect::Move { from, to } => (from, FileAction::Move(to.clone()), 0),
            Effect::Write { path, lines } => (path, FileAction::Write, *lines),
            Effect::Edit(path) => (path, FileAction::Edit, 0),
        };
        PlannedChange {
            path: path.clone(),
            deed,
            added,
            removed: 0,
            settings: Vec::new(),
            note: None,
            texts: Vec::new(),
        }
    }
}

/// Whether a path is a temporary file outside of the session's directories.
pub(in crate::summarize) fn is_scratch(evidence: &Evidence, path: &str) -> bool {
    paths::is_scratch_outside(evidence.directories.iter().map(String::as_str), path)
}

/// Records that a file was read.
pub(super) fn read(evidence: &mut Evidence, path: &str, origin: Origin) {
    if is_scratch(evidence, path) {
        return;
    }
    let work = entry(evidence, path);
    work.reads = work.reads.saturating_add(1);
    if !work.changed() {
        work.last = origin;
    }
    bound(evidence, path, &BTreeSet::new());
}

pub(super) fn change(evidence: &mut Evidence, planned: &PlannedChange, moment: EntryPosition) {
    let target = match &planned.deed {
        FileAction::Move(to) => to,
        _ => &planned.path,
    };
    if is_scratch(evidence, target) {
        return;
    }
    // A file that the session created and removed is not lasting work.
    if planned.deed == FileAction::Delete
        && evidence.files.get(&planned.path).is_some_and(|work| work.created)
    {
        evidence.files.remove(&planned.path);
        return;
    }
    let path = match &planned.deed {
        FileAction::Move(to) => {
            let known = evidence.files.contains_key(&planned.path);
            move_work(evidence, &planned.path, to);
            // A folder is not counted as a file. `move_work` already moved the work on its files.
            if !known && !looks_like_a_file(&planned.path) && !looks_like_a_file(to) {
                return;
            }
            to
        }
        FileAction::Delete => {
            if remove_under(evidence, &planned.path, moment) {
                return;
            }
            &planned.path
        }
        FileAction::Edit | FileAction::Write | FileAction::Read => &planned.path,
    };
    // The removal of a folder (build output, for example) or of the old path of a moved file is not
    // counted.
    if planned.deed == FileAction::Delete && !evidence.files.contains_key(path.as_str()) {
        let was_moved = evidence.files.values().any(|work| work.moved_from.as_ref() == Some(path));
        if was_moved || !looks_like_a_file(path) {
            return;
        }
    }
    let path = path.clone();
    let work = entry(evidence, &path);
    match &planned.deed {
        FileAction::Read => work.reads = work.reads.saturating_add(1),
        FileAction::Edit => work.edits = work.edits.saturating_add(1),
        FileAction::Write => work.writes = work.writes.saturating_add(1),
        FileAction::Delete => work.deleted = true,
        FileAction::Move(_) => {
            work.moved_from = work.moved_from.take().or(Some(planned.path.clone()));
        }
    }
    if matches!(planned.deed, FileAction::Edit | FileAction::Write | FileAction::Move(_)) {
        work.deleted = false;
    }
    work.lines_added = work.lines_added.saturating_add(planned.added);
    work.lines_removed = work.lines_removed.saturating_add(planned.removed);
    (work.last, work.changed_at) = (moment.origin, moment.at);
    bound(evidence, &path, &BTreeSet::new());
}

/// If `planned` is a single edit that reverses an earlier edit, removes the earlier edit from the
/// work on the file, so that neither edit counts. Returns whether there was such an earlier edit.
pub(super) fn cancel_reversed_edit(
    evidence: &mut Evidence,
    made: &mut Vec<EditMade>,
    planned: &PlannedChange,
) -> bool {
    let [texts] = planned.texts.as_slice() else { return false };
    let path = hash(&planned.path);
    let is_reversed = |edit: &EditMade| edit.path == path && texts.reverses(edit.texts);
    let Some(work) = evidence.files.get_mut(&planned.path) else { return false };
    let Some(at) = made.iter().rposition(is_reversed).filter(|_| work.edits > 0) else {
        return false;
    };
    made.remove(at);
    work.edits -= 1;
    work.lines_added = work.lines_added.saturating_sub(planned.removed);
    work.lines_removed = work.lines_removed.saturating_sub(planned.added);
    true
}

pub(super) fn remember(made: &mut Vec<EditMade>, planned: &PlannedChange) {
    for texts in &planned.texts {
        let edit = EditMade { path: hash(&planned.path), texts: *texts };
        push_latest(made, edit, bounds::EDITS_REMEMBERED);
    }
}

/// Records that a file did not exist before the session wrote it.
pub(super) fn created(evidence: &mut Evidence, path: &str) {
    if let Some(work) = evidence.files.get_mut(path) {
        work.created = true;
    }
}

fn entry<'e>(evidence: &'e mut Evidence, path: &str) -> &'e mut FileWork {
    evidence.files.entry(kept(path, bounds::PATH)).or_default()
}

/// Moves the work on a file, or on everything in a folder, to its new path.
fn move_work(evidence: &mut Evidence, from: &str, to: &str) {
    let moved: Vec<String> = evidence
        .files
        .keys()
        .filter(|path| *path == from || is_under(path, from))
        .cloned()
        .collect();
    for path in moved {
        let Some(mut work) = evidence.files.remove(&path) else { continue };
        let target = format!("{to}{}", path.strip_prefix(from).unwrap_or_default());
        work.moved_from.get_or_insert(path);
        evidence.files.insert(kept(&target, bounds::PATH), work);
    }
}

/// Records the removal of the files in a folder. Files that the session created are not lasting
/// work, and are forgotten. Build output that the session only read does not count as changed.
/// Returns whether files in the folder were known.
fn remove_under(evidence: &mut Evidence, folder: &str, moment: EntryPosition) -> bool {
    let homes = evidence.directories.iter().map(|home| Project::new(home).relative(folder));
    let is_output = is_build_output(homes.min_by_key(|path| path.len()).unwrap_or(folder));
    let files = &mut evidence.files;
    let is_known = files.keys().any(|path| is_under(path, folder));
    files.retain(|path, work| !(work.created && is_under(path, folder)));
    for (_, work) in files.iter_mut().filter(|(path, _)| is_under(path, folder)) {
        if work.changed() || !is_output {
            work.deleted = true;
            (work.last, work.changed_at) = (moment.origin, moment.at);
        }
    }
    is_known
}

/// Whether a folder contains the output of a build.
fn is_build_output(folder: &str) -> bool {
    const NAMES: &[&str] =
        &["build", "coverage", "dist", "node_modules", "out", "target", "__pycache__", ".next"];
    folder.split(['/', '\\']).any(|name| NAMES.contains(&name))
}

fn is_under(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn looks_like_a_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.trim_start_matches('.').contains('.'))
}

/// Removes files until the limits of their number and of their paths are met, but never removes
/// `latest`. Among changed files, the files in `own` are removed last.
pub(super) fn bound(evidence: &mut Evidence, latest: &str, own: &BTreeSet<String>) {
    let files = &mut evidence.files;
    while files.len() > bounds::FILES
        || files.keys().map(String::len).sum::<usize>() > bounds::PATHS
        || files.values().filter(|work| !work.changed()).count() > bounds::FILES_READ
    {
        let Some(victim) = victim(files, latest, own) else { return };
        files.remove(&victim);
        evidence.files_left_out = evidence.files_left_out.saturating_add(1);
    }
}

fn victim(
    files: &BTreeMap<String, FileWork>,
    latest: &str,
    own: &BTreeSet<String>,
) -> Option<String> {
    files
        .iter()
        .filter(|(path, _)| *path != latest)
        .min_by_key(|(path, work)| {
            let is_own = own.contains(*path);
            (work.changed(), is_own, Reverse(work.last.source), work.last.line)
        })
        .map(|(path, _)| path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::transcript::Replacement;

    fn at(origin: Origin) -> EntryPosition {
        EntryPosition { origin, at: None }
    }

    #[test]
    fn only_lines_that_differ_count() {
        for (old, new, added, removed) in [
            ("a\nb\nc", "a\nx\ny\nc", 2, 1),
            ("", "a\nb\n", 2, 0),
            ("a\nb\n", "", 0, 2),
            ("a", "a\nb", 2, 1),
            ("same\n", "same\n", 0, 0),
        ] {
            let edits = vec![Replacement { old: old.to_owned(), new: new.to_owned() }];
            let change = FileChange { path: "x".to_owned(), edits, ..FileChange::default() };
            let planned = PlannedChange::of(&change, "");
            assert_eq!((planned.added, planned.removed), (added, removed), "{old:?} {new:?}");
        }
    }

    /// Hashes are stored while a session is open, also across an update of the daemon.
    #[test]
    fn the_hash_of_a_text_is_stable() {
        assert_eq!(hash(" let a = 1;\n"), 13_646_183_014_219_104_494);
    }

    #[test]
    fn the_files_of_a_moved_folder_get_new_paths() {
        let mut evidence = Evidence::default();
        let origin = Origin { source: 0, line: 1 };
        read(&mut evidence, "/app/old/a.rs", origin);
        let effect = Effect::Move { from: "/app/old".to_owned(), to: "/app/new".to_owned() };
        change(&mut evidence, &PlannedChange::from(&effect), at(origin));
        assert_eq!(evidence.files["/app/new/a.rs"].moved_from.as_deref(), Some("/app/old/a.rs"));
        assert_eq!(evidence.files["/app/new/a.rs"].reads, 1);
    }

    #[test]
    fn removing_build_output_does_not_count_as_a_change() {
        let mut evidence = Evidence::default();
        let origin = Origin { source: 0, line: 1 };
        let remove = |path: &str| PlannedChange::from(&Effect::Remove(path.to_owned()));
        change(&mut evidence, &remove("/app/dist"), at(origin));
        assert!(evidence.files.is_empty());
        change(&mut evidence, &remove("/app/src/a.rs"), at(origin));
        assert!(evidence.files["/app/src/a.rs"].deleted);
    }

    #[test]
    fn a_removed_folder_counts_for_the_files_that_existed_before() {
        let origin = Origin { source: 0, line: 1 };
        let removed = |path: &str, folder: &str, is_read: bool, is_new: bool| {
            let mut evidence = Evidence::default();
            evidence.directories.push("/home/ada/build/shop".to_owned());
            let path = format!("/home/ada/build/shop/{path}");
            if is_read {
                read(&mut evidence, &path, origin);
            } else {
                let write = Effect::Write { path: path.clone(), lines: 1 };
                change(&mut evidence, &PlannedChange::from(&write), at(origin));
            }
            if is_new {
                created(&mut evidence, &path);
            }
            let remove = Effect::Remove(format!("/home/ada/build/shop/{folder}"));
            change(&mut evidence, &PlannedChange::from(&remove), at(origin));
            evidence.files.into_values().map(|work| work.deleted).collect::<Vec<bool>>()
        };
        // Created by the session.
        assert_eq!(removed("try.d/a.py", "try.d", false, true), [false; 0]);
        assert_eq!(removed("build/a.py", "build", false, true), [false; 0]);
        // Build output that was read.
        assert_eq!(removed("build/out.js", "build", true, false), [false]);
        assert_eq!(removed("web/dist/js/out.js", "web/dist/js", true, false), [false]);
        // Files of the project.
        assert_eq!(removed("src/old/a.py", "src/old", true, false), [true]);
        assert_eq!(removed("src/old/a.py", "src", false, false), [true]);
        assert_eq!(removed("dist/a.js", "dist", false, false), [true]);
        assert_eq!(removed("src/new/a.py", "src/old", false, true), [false]);
    }

    #[test]
    fn temporary_and_removed_files_are_not_recorded() {
        let mut evidence = Evidence::default();
        let origin = Origin { source: 0, line: 1 };
        let write =
            |path: &str| PlannedChange::from(&Effect::Write { path: path.to_owned(), lines: 1 });
        for path in ["/tmp/a.py", "/private/tmp/b.py", "C:/Users/a/AppData/Local/Temp/c.py"] {
            change(&mut evidence, &write(path), at(origin));
            read(&mut evidence, path, origin);
        }
        change(&mut evidence, &write("/app/try.py"), at(origin));
        created(&mut evidence, "/app/try.py");
        let remove = PlannedChange::from(&Effect::Remove("/app/try.py".to_owned()));
        change(&mut evidence, &remove, at(origin));
        assert!(evidence.files.is_empty(), "{:?}", evidence.files);
        evidence.directories.push("/tmp/project".to_owned());
        change(&mut evidence, &write("/tmp/project/a.py"), at(origin));
        assert_eq!(evidence.files.len(), 1);
    }

    #[test]
    fn files_read_longest_ago_are_removed_first() {
        let mut evidence = Evidence::default();
        let origin = |line| Origin { source: 0, line };
        let write = PlannedChange::from(&Effect::Write { path: "/w.rs".to_owned(), lines: 1 });
        change(&mut evidence, &write, at(origin(1)));
        for n in 0..500 {
            read(&mut evidence, &format!("/r{n}.rs"), origin(n + 2));
        }
        assert!(evidence.files.contains_key("/w.rs"));
        assert!(evidence.files.contains_key("/r499.rs"));
        assert!(!evidence.files.contains_key("/r0.rs"));
        assert_eq!(evidence.files_left_out, 420);
    }
}
