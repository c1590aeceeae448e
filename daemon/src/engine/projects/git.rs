//! Determines the repository of a directory from the files of Git. Does not run Git, because an
//! agent's hook may wait for the answer.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use crate::engine::projects::remote;

/// Maximum number of bytes that are read from one of Git's files.
const MAX_FILE_BYTES: u64 = 64 << 10;
/// Maximum number of folders that are searched for a repository, from the directory upwards.
const MAX_DEPTH: usize = 64;

/// The repository of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Repository {
    /// The main working tree. For a bare repository or a submodule: the folder with Git's files.
    pub(super) root: PathBuf,
    /// The address of the remote, normalised.
    pub(super) remote: Option<String>,
}

/// Returns the repository that contains an existing directory.
pub(super) fn repository_of(directory: &Path) -> Option<Repository> {
    let directory = directory.canonicalize().ok()?;
    let common = directory.ancestors().take(MAX_DEPTH).find_map(common_folder)?;
    let config = read(&common.join("config")).unwrap_or_default();
    let root = match common.file_name() {
        Some(name) if name == ".git" => common.parent()?.to_owned(),
        _ => common,
    };
    Some(Repository { root, remote: remote_url(&config).and_then(remote::normalized) })
}

/// Whether a directory is in a worktree or a submodule, even if the repository does not exist any
/// more.
pub(super) fn is_in_worktree_or_submodule(directory: &Path) -> bool {
    directory.ancestors().take(MAX_DEPTH).any(|folder| folder.join(".git").is_file())
}

/// Returns the folder with Git's files of the repository whose working tree begins at `folder`.
fn common_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let metadata = fs::metadata(&git).ok()?;
    if metadata.is_dir() {
        return git.join("HEAD").exists().then_some(git);
    }
    // In a worktree or a submodule, `.git` is a file with the path of the folder.
    let text = read(&git)?;
    let own = folder.join(text.strip_prefix("gitdir:")?.trim());
    let common = match read(&own.join("commondir")) {
        Some(common) => own.join(common.trim()),
        None => own,
    };
    common.canonicalize().ok()
}

/// Returns the address of `origin` or, when there is no `origin`, of the first remote.
fn remote_url(config: &str) -> Option<&str> {
    let mut remote = None;
    let mut first = None;
    for line in config.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            let name = section.strip_prefix("remote \"").and_then(|name| name.split('"').next());
            remote = name;
        } else if let (Some(name), Some((key, url))) = (remote, line.split_once('='))
            && key.trim().eq_ignore_ascii_case("url")
        {
            if name == "origin" {
                return Some(url.trim());
            }
            first = first.or(Some(url.trim()));
        }
    }
    first
}

fn read(path: &Path) -> Option<String> {
    // Opening a named pipe would block.
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut text).ok()?;
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = /srv/fork.git\n\
        [remote \"origin\"]\n\turl = git@Example.com:ann/App.git\n[branch \"main\"]\n\tremote = origin\n";

    fn sample_folders() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let write = |path: &str, text: &str| {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), text).unwrap();
        };
        write("app/.git/HEAD", "ref: refs/heads/main\n");
        write("app/.git/config", CONFIG);
        write("app/.git/worktrees/two/commondir", "../..\n");
        write("app/src/deep/x.rs", "");
        let own = at("app/.git/worktrees/two");
        write("two/.git", &format!("gitdir: {}\n", own.display()));
        write("app/.git/modules/lib/HEAD", "ref: refs/heads/main\n");
        write("app/lib/.git", "gitdir: ../.git/modules/lib\n");
        write("plain/.git/nothing", "");
        folder
    }

    #[test]
    fn worktrees_and_folders_of_a_repository_share_its_root() {
        let folder = sample_folders();
        let root = folder.path().canonicalize().unwrap().join("app");
        let remote = Some("example.com/ann/app".to_owned());
        for path in ["app", "app/src/deep", "two"] {
            let found = repository_of(&folder.path().join(path));
            assert_eq!(found, Some(Repository { root: root.clone(), remote: remote.clone() }));
        }
        let lib = repository_of(&folder.path().join("app/lib")).unwrap();
        assert_eq!(lib, Repository { root: root.join(".git/modules/lib"), remote: None });
    }

    #[test]
    fn a_folder_without_a_repository_has_none() {
        let folder = sample_folders();
        assert_eq!(repository_of(&folder.path().join("plain")), None);
        assert_eq!(repository_of(&folder.path().join("missing")), None);
    }

    #[test]
    fn the_first_remote_counts_without_an_origin() {
        assert_eq!(remote_url(CONFIG), Some("git@Example.com:ann/App.git"));
        assert_eq!(remote_url("[remote \"up\"]\nurl=a/b\n"), Some("a/b"));
        assert_eq!(remote_url("[branch \"up\"]\nurl=a/b\n"), None);
    }
}
