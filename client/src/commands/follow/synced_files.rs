//! Finds the files of other machines in the shared folder.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use graphiti_proto::methods::transfer::PortableEpisode;

use crate::files;

/// Maximum length, in bytes, of a file with one episode.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The length and the modification time of a file. If either differs, the file has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SyncStamp {
    length: u64,
    modified: Option<SystemTime>,
}

impl SyncStamp {
    /// The stamp of a file or folder that cannot be read. It differs from the stamp of each file,
    /// because access can be given without a change of the modification time.
    pub(super) const UNREADABLE: SyncStamp = SyncStamp { length: u64::MAX, modified: None };

    pub(super) fn of(metadata: &fs::Metadata) -> SyncStamp {
        SyncStamp { length: metadata.len(), modified: metadata.modified().ok() }
    }
}

/// A file in the folder of a machine, or a folder that cannot be read.
pub(super) struct SyncedFile {
    pub(super) path: PathBuf,
    pub(super) stamp: SyncStamp,
    /// The episode, or why the file contains no episode.
    pub(super) episode: Result<PortableEpisode, String>,
}

impl SyncedFile {
    pub(super) fn bytes(&self) -> usize {
        usize::try_from(self.stamp.length).unwrap_or(usize::MAX)
    }
}

/// Returns the folders of the other machines.
pub(super) fn other_machines(folder: &Path, own: &str) -> io::Result<Vec<PathBuf>> {
    let mut machines = Vec::new();
    for machine in fs::read_dir(folder)?.flatten() {
        let name = machine.file_name();
        let is_machine = machine.file_type().is_ok_and(|kind| kind.is_dir());
        if is_machine && name != own && !name.to_string_lossy().starts_with('.') {
            machines.push(machine.path());
        }
    }
    Ok(machines)
}

/// Returns the complete files in the folders of `machines`, except files that `seen` contains with
/// their current stamp. Also returns the files and folders that cannot be read, except those that
/// `seen` contains as unreadable.
pub(super) fn new_files(
    machines: &[PathBuf],
    seen: &HashMap<PathBuf, SyncStamp>,
) -> Vec<SyncedFile> {
    let mut new = Vec::new();
    for machine in machines {
        match fs::read_dir(machine) {
            Ok(entries) => new.extend(entries.flatten().filter_map(|entry| new_file(&entry, seen))),
            Err(error) => new.extend(unreadable(machine, &error)),
        }
    }
    new.retain(|file| seen.get(&file.path) != Some(&file.stamp));
    new.sort_by(|one, other| one.path.cmp(&other.path));
    new
}

/// Returns a complete file with an episode, unless `seen` contains it with its current stamp.
fn new_file(entry: &fs::DirEntry, seen: &HashMap<PathBuf, SyncStamp>) -> Option<SyncedFile> {
    let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
    let is_episode = entry.file_type().is_ok_and(|kind| kind.is_file())
        && name.ends_with(".json")
        && !name.starts_with('.')
        && !name.contains(".sync-conflict-");
    let metadata = entry.metadata().ok().filter(|_| is_episode)?;
    let stamp = SyncStamp::of(&metadata);
    if seen.get(&path) == Some(&stamp) {
        return None;
    }
    if metadata.len() > MAX_FILE_BYTES {
        let what = format!("is longer than {MAX_FILE_BYTES} bytes, the maximum for an episode");
        return Some(SyncedFile { path, stamp, episode: Err(what) });
    }
    let bytes = match files::read(&path, MAX_FILE_BYTES) {
        Ok(bytes) => bytes,
        Err(error) => return unreadable(&path, &error),
    };
    match serde_json::from_slice(&bytes) {
        // The file is not complete yet, and is read in a later round.
        Err(error) if error.is_eof() => None,
        episode => {
            let episode = episode.map_err(|error| format!("is not an episode: {error}"));
            Some(SyncedFile { path, stamp, episode })
        }
    }
}

/// Returns a file or folder that cannot be read, with the reason; `None` if it does not exist any
/// more.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Option<SyncedFile> {
    let episode = Err(format!("cannot be read: {error}"));
    (error.kind() != io::ErrorKind::NotFound).then(|| SyncedFile {
        path: path.to_owned(),
        stamp: SyncStamp::UNREADABLE,
        episode,
    })
}
