//! Reads the text of `apply_patch`: a list of files, each with the lines that are removed, added and
//! kept.

use crate::model::transcript::{ChangeKind, FileChange, Replacement};

/// Returns the changed files of a patch.
pub(super) fn files(patch: &str) -> Vec<FileChange> {
    let mut files: Vec<FileChange> = Vec::new();
    for line in patch.lines() {
        if let Some((kind, path)) = file_header(line) {
            files.push(FileChange { path: path.to_owned(), kind, edits: Vec::new() });
            continue;
        }
        let Some(file) = files.last_mut() else { continue };
        if let Some(to) = line.strip_prefix("*** Move to: ") {
            file.kind = ChangeKind::Moved { to: to.trim().to_owned() };
        } else if line.starts_with("@@") || file.edits.is_empty() && is_content(line) {
            file.edits.push(Replacement::default());
        }
        if let Some(edit) = file.edits.last_mut() {
            add(line, edit);
        }
    }
    for file in &mut files {
        file.edits.retain(|edit| edit.old != edit.new);
    }
    files
}

fn file_header(line: &str) -> Option<(ChangeKind, &str)> {
    const HEADERS: [(&str, ChangeKind); 3] = [
        ("*** Update File: ", ChangeKind::Edited),
        ("*** Add File: ", ChangeKind::Written),
        ("*** Delete File: ", ChangeKind::Deleted),
    ];
    HEADERS.into_iter().find_map(|(header, kind)| Some((kind, line.strip_prefix(header)?.trim())))
}

fn is_content(line: &str) -> bool {
    line.starts_with(['+', '-', ' ']) || line.is_empty()
}

fn add(line: &str, edit: &mut Replacement) {
    let (is_old, is_new, text) = match line.as_bytes().first() {
        Some(b'+') => (false, true, &line[1..]),
        Some(b'-') => (true, false, &line[1..]),
        Some(b' ') => (true, true, &line[1..]),
        None => (true, true, line),
        Some(_) => return,
    };
    for (side, takes) in [(&mut edit.old, is_old), (&mut edit.new, is_new)] {
        if takes {
            side.push_str(text);
            side.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_names_each_file_and_its_changes() {
        let files = files(
            "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@ fn a\n kept\n-old\n\
             +new\n@@\n-gone\n*** Add File: c.rs\n+one\n+two\n*** Delete File: d.rs\n*** End Patch",
        );
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["src/a.rs", "c.rs", "d.rs"]);
        assert_eq!(files[0].kind, ChangeKind::Moved { to: "src/b.rs".to_owned() });
        let edit = |old: &str, new: &str| Replacement { old: old.to_owned(), new: new.to_owned() };
        assert_eq!(files[0].edits, [edit("kept\nold\n", "kept\nnew\n"), edit("gone\n", "")]);
        assert_eq!(files[1].edits, [edit("", "one\ntwo\n")]);
        assert_eq!(files[2].kind, ChangeKind::Deleted);
    }
}
