//! Extracts changed and renamed files.

use super::draft::{ClaimDraft, Draft};
use crate::model::{
    evidence::FileWork,
    graph::{Certainty, EntityKind, Relation, Rename},
    transcript::Origin,
};

/// Maximum number of files of one session whose change becomes a fact: the files that were changed
/// last. Changes by sub-agents count as later than the others. The renames of all files are
/// followed.
const MAX_FILES: usize = 40;

pub(super) fn read(draft: &mut Draft<'_>) {
    let evidence = draft.evidence;
    let mut changed: Vec<(&String, &FileWork)> =
        evidence.files.iter().filter(|(_, work)| is_work(work)).collect();
    changed.sort_by_key(|(_, work)| std::cmp::Reverse(work.last));
    let (mut number, task) = (0, draft.task_name());
    for (path, work) in changed {
        let Some(file) = draft.file(path) else { continue };
        follow_rename(draft, path, file, work);
        number += 1;
        if number > MAX_FILES {
            continue;
        }
        let name = super::names::file_key(&draft.episode.project, path).unwrap_or_default();
        draft.claim(
            Relation::ChangedFor,
            file,
            draft.task,
            ClaimDraft {
                sentence: format!("`{name}` was {} for “{task}”{}.", verb(work), lines(work)),
                certainty: Some(Certainty::Verified),
                origins: origins(work),
                ..ClaimDraft::default()
            },
        );
    }
}

/// Whether the work on a file has a result. A file that was created and deleted has no result. A
/// shell command that writes a file does not show whether the file is new, so a file that the
/// session never read counts as new.
fn is_work(work: &FileWork) -> bool {
    let is_new = work.created || work.writes > 0 && work.reads == 0;
    work.changed() && !(work.deleted && is_new)
}

fn follow_rename(draft: &mut Draft<'_>, path: &str, file: crate::model::EntityId, work: &FileWork) {
    let Some(before) = &work.moved_from else { return };
    let Some(from) = draft.file(before).filter(|from| *from != file) else { return };
    let at = draft.moments.of(&origins(work));
    draft.rename(Rename { from, to: file, at });
    let name = |path: &str| super::names::file_key(&draft.episode.project, path);
    let (old, new) = (name(before).unwrap_or_default(), name(path).unwrap_or_default());
    draft.claim(
        Relation::RenamedTo,
        from,
        file,
        ClaimDraft {
            sentence: format!("`{old}` was renamed to `{new}`."),
            certainty: Some(Certainty::Verified),
            at: Some(at),
            origins: origins(work),
            others: vec![draft.task],
            ..ClaimDraft::default()
        },
    );
    draft.mention(EntityKind::File, &new, &new);
}

fn verb(work: &FileWork) -> &'static str {
    match work {
        FileWork { deleted: true, .. } => "removed",
        FileWork { moved_from: Some(_), .. } => "moved",
        FileWork { edits: 0, lines_removed: 0, .. } => "written",
        _ => "changed",
    }
}

fn lines(work: &FileWork) -> String {
    match (work.lines_added, work.lines_removed) {
        (0, 0) => String::new(),
        (added, 0) => format!(" (+{added} lines)"),
        (0, removed) => format!(" (−{removed} lines)"),
        (added, removed) => format!(" (+{added} −{removed} lines)"),
    }
}

fn origins(work: &FileWork) -> Vec<Origin> {
    if work.last == Origin::default() { Vec::new() } else { vec![work.last] }
}
