//! Parses the patches of `apply_patch`.

use crate::model::transcript::{ChangeKind, FileChange, Replacement};

/// Returns the changes of a patch. Relative paths are resolved against `directory`.
///
/// Only the changed lines of a hunk are kept; each run of changed lines is one replacement.
pub(crate) fn parse(patch: &str, directory: Option<&str>) -> Vec<FileChange> {
    let mut changes = Vec::new();
    let mut open: Option<OpenChange> = None;
    for line in patch.lines() {
        if let Some((header, path)) = header(line) {
            let path = located(path, directory);
            if let (FileHeader::Move, Some(open)) = (header, &mut open) {
                open.change.kind = ChangeKind::Moved { to: path };
                continue;
            }
            changes.extend(open.take().map(OpenChange::finish));
            open = OpenChange::new(header, path);
        } else if let Some(open) = &mut open {
            open.line(line);
        }
    }
    changes.extend(open.map(OpenChange::finish));
    changes
}

#[derive(Clone, Copy)]
enum FileHeader {
    Add,
    Update,
    Delete,
    Move,
}

const HEADERS: &[(&str, FileHeader)] = &[
    ("*** Add File: ", FileHeader::Add),
    ("*** Update File: ", FileHeader::Update),
    ("*** Delete File: ", FileHeader::Delete),
    ("*** Move to: ", FileHeader::Move),
];

fn header(line: &str) -> Option<(FileHeader, &str)> {
    HEADERS.iter().find_map(|(start, header)| Some((*header, line.strip_prefix(start)?.trim())))
}

fn located(path: &str, directory: Option<&str>) -> String {
    match directory {
        Some(directory) if !path.starts_with('/') => {
            format!("{}/{path}", directory.trim_end_matches('/'))
        }
        _ => path.to_owned(),
    }
}

/// The change of a file whose lines are being read.
struct OpenChange {
    change: FileChange,
    run: Replacement,
}

impl OpenChange {
    fn new(header: FileHeader, path: String) -> Option<OpenChange> {
        let kind = match header {
            FileHeader::Add => ChangeKind::Written,
            FileHeader::Update => ChangeKind::Edited,
            FileHeader::Delete => ChangeKind::Deleted,
            FileHeader::Move => return None,
        };
        let change = FileChange { path, kind, edits: Vec::new() };
        Some(OpenChange { change, run: Replacement::default() })
    }

    fn line(&mut self, line: &str) {
        let add = |side: &mut String, text: &str| side.extend([text, "\n"]);
        match line.as_bytes().first() {
            Some(b'+') => add(&mut self.run.new, &line[1..]),
            Some(b'-') => {
                // In a run, removed lines precede added lines, so a removed line after an added
                // line starts a new run.
                if !self.run.new.is_empty() {
                    self.end_run();
                }
                add(&mut self.run.old, &line[1..]);
            }
            _ => self.end_run(),
        }
    }

    fn end_run(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        if !(run.old.is_empty() && run.new.is_empty()) {
            run.old.truncate(run.old.trim_end_matches('\n').len());
            if self.change.kind != ChangeKind::Written {
                run.new.truncate(run.new.trim_end_matches('\n').len());
            }
            self.change.edits.push(run);
        }
    }

    fn finish(mut self) -> FileChange {
        self.end_run();
        self.change
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_of_changed_lines_is_a_replacement() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@ fn x\n \
            keep\n-old\n+new\n+more\n \n-gone\n@@\n+added\n*** End of File\n*** Add File: n.txt\n\
            +one\n+\n+two\n*** Delete File: /old.txt\n*** End Patch";
        let edit = |old: &str, new: &str| Replacement { old: old.to_owned(), new: new.to_owned() };
        let change = |path: &str, kind, edits| FileChange { path: path.to_owned(), kind, edits };
        let moved = ChangeKind::Moved { to: "d/src/b.rs".to_owned() };
        let edits = vec![edit("old", "new\nmore"), edit("gone", ""), edit("", "added")];
        assert_eq!(
            parse(patch, Some("d/")),
            [
                change("d/src/a.rs", moved, edits),
                change("d/n.txt", ChangeKind::Written, vec![edit("", "one\n\ntwo\n")]),
                change("/old.txt", ChangeKind::Deleted, vec![]),
            ]
        );
        assert_eq!(parse("no patch\n+x", None), []);
    }
}
