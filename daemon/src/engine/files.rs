//! Which session a new file belongs to.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use crate::{
    capture::{
        format::{FORMATS, Format, Identity},
        open::open,
        tail,
    },
    store::FileStamp,
};

/// A new file and the session it belongs to.
pub(super) struct Identified {
    pub(super) path: PathBuf,
    pub(super) format: &'static dyn Format,
    pub(super) identity: Identity,
    pub(super) stamp: FileStamp,
}

/// Of a file's beginning so much is looked at, and so much again where that does not tell.
const HEADS: [u64; 3] = [16 << 10, 256 << 10, 4 << 20];

/// Whether a file may be a transcript, judged by its path.
pub(super) fn is_wanted(path: &Path) -> bool {
    FORMATS.iter().any(|format| format.claims(path))
}

/// The format of an agent, by the agent's name.
pub(super) fn format_of(agent: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.agent() == agent)
}

/// Finds out whose the files are. What cannot be read or is no transcript is left out: an empty
/// file becomes one with its first line, and will be reported again.
pub(super) fn identify(paths: Vec<PathBuf>) -> Vec<Identified> {
    try_identify(paths).0
}

/// The same, and which of the files are there and could not be read.
pub(super) fn try_identify(paths: Vec<PathBuf>) -> (Vec<Identified>, Vec<PathBuf>) {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for path in paths {
        match identify_one(&path) {
            Ok(identified) => found.extend(identified),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                tracing::debug!(%error, file = %path.display(), "cannot read a transcript");
                unreadable.push(path);
            }
        }
    }
    (found, unreadable)
}

fn identify_one(path: &Path) -> io::Result<Option<Identified>> {
    for head in HEADS {
        let file = open(path)?;
        let stamp = tail::stamp(&file.metadata()?);
        let mut bytes = Vec::new();
        file.take(head).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let found = FORMATS
            .iter()
            .filter(|format| format.claims(path))
            .find_map(|format| Some((*format, format.identify(path, &text)?)));
        if let Some((format, identity)) = found {
            let path = path.to_owned();
            return Ok(Some(Identified { path, format, identity, stamp }));
        }
        if stamp.length <= head {
            return Ok(None);
        }
    }
    Ok(None)
}
