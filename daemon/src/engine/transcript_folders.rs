//! The folders in which the engine looks for transcripts and for running sessions.

use std::path::{Path, PathBuf};

use crate::capture::{
    format::{FormatHandle, Formats, Surroundings},
    watch::Method,
};

/// The folders that the engine watches.
#[derive(Clone)]
pub struct TranscriptFolders {
    pub roots: Vec<PathBuf>,
    /// The folders of built-in agents that are not watched, because other folders are configured.
    pub left_out: Vec<PathBuf>,
    /// Folders in which agents list their running sessions, by format.
    pub liveness: Vec<(FormatHandle, PathBuf)>,
    /// How changes are detected.
    pub method: Method,
}

impl TranscriptFolders {
    pub fn none() -> TranscriptFolders {
        let method = Method::Automatic;
        TranscriptFolders { roots: Vec::new(), left_out: Vec::new(), liveness: Vec::new(), method }
    }

    /// Returns the folders in `configured` instead of the folders of the built-in agents, unless
    /// `configured` is empty. The folders of configured formats are always included.
    pub fn for_formats(
        surroundings: &Surroundings<'_>,
        formats: &Formats,
        configured: &[PathBuf],
    ) -> TranscriptFolders {
        let is_included = |format: &FormatHandle| {
            configured.is_empty() || matches!(format, FormatHandle::Mapped(_))
        };
        let of_formats = formats.iter().filter(is_included);
        let of_formats = of_formats.flat_map(|format| format.roots(surroundings));
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in of_formats.chain(configured.iter().cloned()).map(without_links) {
            if !contains(&roots, &root) {
                roots.retain(|known| !known.starts_with(&root));
                roots.push(root);
            }
        }
        let others = formats.iter().filter(|format| !is_included(format));
        let others = others.flat_map(|format| format.roots(surroundings)).map(without_links);
        // If a configured folder is inside an agent's folder, the user chose some of the agent's
        // transcripts, and the agent's folder does not count as left out.
        let is_left_out = |folder: &PathBuf| {
            !contains(&roots, folder) && !roots.iter().any(|root| root.starts_with(folder))
        };
        let left_out = others.filter(is_left_out).collect();
        let liveness = formats.iter().filter_map(|format| {
            let folder = format.liveness_folder(surroundings)?;
            Some((format, folder))
        });
        let liveness = liveness.collect();
        TranscriptFolders { roots, left_out, liveness, method: Method::Automatic }
    }
}

/// Returns the path without symbolic links, because the watcher does not follow symbolic links, and
/// reports paths without them.
fn without_links(folder: PathBuf) -> PathBuf {
    folder.canonicalize().unwrap_or(folder)
}

fn contains(roots: &[PathBuf], folder: &Path) -> bool {
    roots.iter().any(|known| folder.starts_with(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_folders_replace_the_folders_of_the_agents() {
        let surroundings = Surroundings { home: Path::new("/home/ann"), variable: &|_| None };
        let folders = |configured: &[&str]| {
            let configured: Vec<PathBuf> = configured.iter().map(PathBuf::from).collect();
            TranscriptFolders::for_formats(&surroundings, &Formats::new(&[]), &configured)
        };
        let roots = |configured: &[&str]| folders(configured).roots;
        let of_agents = roots(&[]);
        assert!(of_agents.contains(&PathBuf::from("/home/ann/.claude/projects")), "{of_agents:?}");
        assert!(of_agents.len() > 5);
        assert_eq!(roots(&["/srv/logs", "/srv/logs/a"]), [PathBuf::from("/srv/logs")]);
        assert_eq!(folders(&[]).left_out, [] as [PathBuf; 0]);
        assert_eq!(folders(&["/srv/logs"]).left_out, of_agents);
        let some = folders(&["/home/ann/.claude/projects/-app", "/home/ann/.codex"]).left_out;
        assert!(!some.iter().any(|folder| folder.starts_with("/home/ann/.claude")), "{some:?}");
        assert!(!some.iter().any(|folder| folder.starts_with("/home/ann/.codex")), "{some:?}");
        assert!(some.contains(&PathBuf::from("/home/ann/.gemini/tmp")), "{some:?}");
    }
}
