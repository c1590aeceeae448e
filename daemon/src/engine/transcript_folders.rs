//! The folders in which the engine looks for transcripts and for running sessions.

use std::path::{Path, PathBuf};

use crate::capture::{
    format::{FormatHandle, Formats, Surroundings},
    watch::Method,
};

/// The folders that the engine watches.
#[derive(Clone)]
pub struct TranscriptFolders {
    /// Folders with transcripts.
    pub roots: Vec<PathBuf>,
    /// Folders in which agents list their running sessions, by format.
    pub liveness: Vec<(FormatHandle, PathBuf)>,
    /// How changes are detected.
    pub method: Method,
}

impl TranscriptFolders {
    pub fn none() -> TranscriptFolders {
        TranscriptFolders { roots: Vec::new(), liveness: Vec::new(), method: Method::Automatic }
    }

    /// Returns the folders in which the agents of `formats` store their transcripts, and the
    /// folders in `more`.
    pub fn for_formats(
        surroundings: &Surroundings<'_>,
        formats: &Formats,
        more: &[PathBuf],
    ) -> TranscriptFolders {
        let known = formats.iter().flat_map(|format| format.roots(surroundings));
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in known.chain(more.iter().cloned()) {
            // The watcher follows no symbolic links, and reports paths without them.
            let root = root.canonicalize().unwrap_or(root);
            if !contains(&roots, &root) {
                roots.retain(|known| !known.starts_with(&root));
                roots.push(root);
            }
        }
        let liveness = formats.iter().filter_map(|format| {
            let folder = format.liveness_folder(surroundings)?;
            Some((format, folder))
        });
        let liveness = liveness.collect();
        TranscriptFolders { roots, liveness, method: Method::Automatic }
    }
}

fn contains(roots: &[PathBuf], folder: &Path) -> bool {
    roots.iter().any(|known| folder.starts_with(known))
}
