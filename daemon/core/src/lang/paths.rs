//! Classifies paths: scratch files, files of agents, and files in a worktree.

use crate::{
    model::project::{Project, WORKTREE_FOLDERS},
    pattern::pattern,
};

/// Whether `path` is in a folder of temporary files, devices or an agent's notes (`scratchpad`).
/// The separators may be `/` or `\`.
pub fn is_scratch(path: &str) -> bool {
    pattern!(
        r"^(?:/private)?/(?:tmp|var/tmp|var/folders|dev|proc)/|[/\\]AppData[/\\]Local[/\\]Temp[/\\]|[/\\]scratchpad[/\\]"
    )
    .is_match(path)
}

/// Whether `path` is a scratch file for sessions in `folders`. A file of a project is not a scratch
/// file, even if the project is in a folder of temporary files.
pub fn is_scratch_outside<'f>(folders: impl IntoIterator<Item = &'f str>, path: &str) -> bool {
    let is_inside = |folder: &str| is_scratch(folder) && Project::new(folder).contains(path);
    is_scratch(path) && !folders.into_iter().any(is_inside)
}

/// Whether `path` is one of Claude Code's own files: plans, transcripts, task lists.
pub fn is_agents_own(path: &str) -> bool {
    pattern!(r"/\.claude/(?:plans|projects|todos|tasks)/").is_match(path)
}

/// Whether `path` is a file or folder that `mktemp` created, or a file in such a folder.
pub fn is_from_mktemp(path: &str) -> bool {
    pattern!(r"^(?:/private)?/(?:tmp|var/folders/.+)/tmp\.\w+").is_match(path)
}

/// Whether `path` contains `worktree`, as the names of folders of worktrees usually do.
pub fn contains_worktree(path: &str) -> bool {
    path.contains("worktree")
}

/// Returns a path in a worktree relative to the innermost worktree, if this worktree is in one of
/// the folders in which agents create worktrees. Other paths are not changed.
pub fn inside_worktree(path: &str) -> &str {
    let inside = |folder: &&str| {
        let last = path.rsplit_once(folder).map(|(_, below)| below);
        let below = last.or_else(|| path.strip_prefix(&folder[1..]))?;
        below.split_once('/').map(|(_, inside)| inside)
    };
    WORKTREE_FOLDERS.iter().filter_map(inside).min_by_key(|inside| inside.len()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_files_are_recognised_on_every_system() {
        for path in [
            "/tmp/a.py",
            "/private/tmp/b.py",
            "/var/tmp/c",
            "/private/var/folders/x/y/T/d",
            "/dev/null",
            "C:/Users/a/AppData/Local/Temp/e.py",
            "C:\\Users\\a\\AppData\\Local\\Temp\\e.py",
            "/home/ann/.agent/scratchpad/f.md",
        ] {
            assert!(is_scratch(path), "{path}");
        }
        for path in ["/home/ann/tmp/a.py", "src/tmp/b.rs", "/tmpfiles/x", "/home/ann/dev/a"] {
            assert!(!is_scratch(path), "{path}");
        }
    }

    #[test]
    fn the_files_of_a_project_in_a_folder_of_temporary_files_are_no_scratch_files() {
        assert!(!is_scratch_outside(["/tmp/app"], "/tmp/app/a.py"));
        assert!(!is_scratch_outside(["/home/ann", "/tmp/app/"], "/tmp/app/a.py"));
        assert!(is_scratch_outside(["/tmp/app"], "/tmp/application/a.py"));
        assert!(is_scratch_outside(["/"], "/tmp/app/a.py"));
        let folder = "c:\\Users\\ann\\AppData\\Local\\Temp\\app";
        assert!(!is_scratch_outside([folder], "C:/Users/ann/AppData/Local/Temp/app/a.py"));
        assert!(is_scratch_outside([folder], "C:/Users/ann/AppData/Local/Temp/apple/a.py"));
        assert!(is_scratch_outside([folder], "D:/Users/ann/AppData/Local/Temp/app/a.py"));
    }

    #[test]
    fn folders_of_mktemp_are_recognised() {
        for path in ["/tmp/tmp.a1b2", "/private/var/folders/x/y/T/tmp.a1/b"] {
            assert!(is_from_mktemp(path), "{path}");
        }
        assert!(!is_from_mktemp("/tmp/app") && !is_from_mktemp("/srv/tmp.a1"));
    }

    #[test]
    fn the_path_of_a_file_in_a_worktree_is_relative_to_the_worktree() {
        for path in ["/app/.claude/worktrees/one/src/a.rs", ".worktrees/2/src/a.rs"] {
            assert_eq!(inside_worktree(path), "src/a.rs");
        }
        assert_eq!(inside_worktree("/a/.worktrees/1/b/.worktrees/2/c.rs"), "c.rs");
        assert_eq!(inside_worktree("/a/.claude/worktrees/1/.worktrees/2/c.rs"), "c.rs");
        assert_eq!(
            inside_worktree(".worktrees/1/.claude/worktrees/c.md"),
            ".claude/worktrees/c.md"
        );
        for path in ["worktrees/one/a.rs", "my.worktrees/one/a.rs", "/app/.claude/worktrees/one"] {
            assert_eq!(inside_worktree(path), path);
        }
    }

    #[test]
    fn plans_and_transcripts_are_the_agents_own() {
        assert!(is_agents_own("/home/ann/.claude/plans/plan.md"));
        assert!(!is_agents_own("/home/ann/app/.claude/settings.json"));
    }
}
