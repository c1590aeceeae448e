//! Finds the session of a new file.

use std::{
    io::{self, Read, Seek},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
};

use crate::{
    capture::{
        format::{Format, FormatHandle, Formats, Identity},
        storage::{self, OpenTranscript},
    },
    engine::{redaction, registration::OtherPath},
    model::session::Session,
    store::{FileStamp, Store, StoreError},
};

/// A new file and the session it belongs to.
pub(super) struct IdentifiedFile {
    pub(super) path: PathBuf,
    pub(super) format: FormatHandle,
    pub(super) identity: Identity,
    pub(super) stamp: FileStamp,
    /// The other paths at which the same transcript may be stored.
    pub(super) other_paths: Vec<OtherPath>,
}

/// The existence and the stamp of a file, as the file system reports them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileObservation {
    pub(super) path: PathBuf,
    pub(super) exists: bool,
    /// `None` when the file system returned an error.
    pub(super) stamp: Option<FileStamp>,
}

impl FileObservation {
    pub(super) fn of(path: PathBuf) -> FileObservation {
        let stamp = storage::stamp(&path);
        let exists = !stamp.as_ref().is_err_and(storage::is_missing);
        FileObservation { path, exists, stamp: stamp.ok() }
    }
}

/// Returns the path of a session's own transcript. If only transcripts of sub-agents are known,
/// returns the path of one of them, if possible of one that exists. Empty without a transcript.
pub fn transcript_path(store: &dyn Store, session: &Session) -> Result<String, StoreError> {
    if !session.file.is_empty() {
        return Ok(session.file.clone());
    }
    let sources = store.sources_of(session.key)?;
    let existing = sources.iter().find(|source| storage::exists(Path::new(&source.path)));
    Ok(existing.or(sources.first()).map(|source| source.path.clone()).unwrap_or_default())
}

/// Numbers of bytes that are read from the start of a file. The next larger number is tried when no
/// format recognises the file.
const HEAD_SIZES: [u64; 3] = [16 << 10, 256 << 10, 4 << 20];

/// The result of identifying new files.
pub(super) struct IdentifyResult<I = IdentifiedFile> {
    pub(super) found: Vec<I>,
    /// Files that exist but could not be read.
    pub(super) unreadable: Vec<PathBuf>,
    /// Files whose identification panicked.
    pub(super) defects: Vec<PathBuf>,
}

impl<I> Default for IdentifyResult<I> {
    fn default() -> IdentifyResult<I> {
        IdentifyResult { found: Vec::new(), unreadable: Vec::new(), defects: Vec::new() }
    }
}

/// Finds the session of each file, and skips files that are not transcripts. An empty file is
/// skipped, too: it is announced again when its first line is written.
pub(super) fn identify(paths: Vec<PathBuf>, formats: &Formats) -> IdentifyResult {
    identify_each(paths, |path| identify_one(path, formats))
}

/// Calls `identify_one` for each file. Catches its panics, so that the other files are still
/// identified.
fn identify_each<I>(
    paths: Vec<PathBuf>,
    identify_one: impl Fn(&Path) -> io::Result<Option<I>>,
) -> IdentifyResult<I> {
    let mut identified_files = IdentifyResult::default();
    for path in paths {
        match panic::catch_unwind(AssertUnwindSafe(|| identify_one(&path))) {
            Ok(Ok(identified)) => identified_files.found.extend(identified),
            Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(Err(error)) => {
                tracing::debug!(%error, file = %path.display(), "cannot read a transcript");
                identified_files.unreadable.push(path);
            }
            Err(_) => identified_files.defects.push(path),
        }
    }
    identified_files
}

fn identify_one(path: &Path, formats: &Formats) -> io::Result<Option<IdentifiedFile>> {
    let mut head = FileHead::open(path)?;
    let stamp = head.transcript.stamp()?;
    let claiming: Vec<FormatHandle> = formats.iter().filter(|format| format.claims(path)).collect();
    let identified = head.identify(|text| {
        claiming.iter().find_map(|format| {
            let identity = format.identify(path, text)?;
            Some((format.clone(), identity))
        })
    })?;
    Ok(identified.map(|(format, identity)| {
        let path = path.to_owned();
        let identity = without_secrets(identity);
        let other_paths =
            format.other_paths(&path).iter().map(|path| observe_other(path)).collect();
        IdentifiedFile { path, format, identity, stamp, other_paths }
    }))
}

/// Returns the identity of a file if it is a transcript of the format's agent. Does not check
/// whether the agent stores transcripts at this path.
pub(super) fn identity(path: &Path, format: &dyn Format) -> io::Result<Option<Identity>> {
    let identity = FileHead::open(path)?.identify(|text| format.identify(path, text))?;
    Ok(identity.map(without_secrets))
}

/// The start of a file.
struct FileHead {
    transcript: OpenTranscript,
    bytes: Vec<u8>,
}

impl FileHead {
    fn open(path: &Path) -> io::Result<FileHead> {
        Ok(FileHead { transcript: storage::open_head(path, HEAD_SIZES[0])?, bytes: Vec::new() })
    }

    /// Calls `identify` with longer and longer starts of the file, until it returns a value or the
    /// longest start was tried.
    fn identify<T>(&mut self, identify: impl Fn(&str) -> Option<T>) -> io::Result<Option<T>> {
        let FileHead { transcript, bytes } = self;
        let length = transcript.length()?;
        transcript.rewind()?;
        for head in HEAD_SIZES {
            transcript.by_ref().take(head - bytes.len() as u64).read_to_end(bytes)?;
            let identified = identify(&String::from_utf8_lossy(bytes));
            if identified.is_some() || length <= head {
                return Ok(identified);
            }
        }
        Ok(None)
    }
}

fn observe_other(path: &Path) -> OtherPath {
    let exists = storage::stamp(path).is_ok();
    OtherPath { path: path.to_string_lossy().into_owned(), exists }
}

/// Redacts the ids, which come from file names. The directory is not redacted, because it is
/// compared with other directories; it is redacted before it is shown.
fn without_secrets(identity: Identity) -> Identity {
    let Identity { session, sub_agent, directory } = identity;
    let clean = |id: String| redaction::id(&id).into_owned();
    Identity { session: clean(session), sub_agent: sub_agent.map(clean), directory }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Write, contract, sled::SledStore};

    #[test]
    fn a_session_without_its_own_file_has_the_transcript_of_a_sub_agent() {
        let folder = tempfile::tempdir().unwrap();
        let store = SledStore::open(&folder.path().join("db")).unwrap();
        let existing = folder.path().join("review.jsonl");
        std::fs::write(&existing, "{}").unwrap();
        let mut session = contract::session(store.next_session_key().unwrap(), "s");
        session.file.clear();
        let path = |session: &Session| transcript_path(&store, session).unwrap();
        assert_eq!(path(&session), "");
        let write = |number: u32, path: &str| {
            let mut source = contract::source_of(&session, number);
            path.clone_into(&mut source.path);
            store.write(vec![Write::Source { source, checkpoint: None }]).wait().unwrap();
        };
        write(1, "/app/gone.jsonl");
        assert_eq!(path(&session), "/app/gone.jsonl");
        write(2, existing.to_str().unwrap());
        assert_eq!(path(&session), existing.to_str().unwrap());
        session.file = "/app/own.jsonl".to_owned();
        assert_eq!(path(&session), "/app/own.jsonl");
    }

    #[test]
    fn files_that_cannot_be_identified_do_not_affect_the_others() {
        let names = ["gone", "first", "locked", "other", "defect", "last"].map(PathBuf::from);
        let identified_files = identify_each(names.to_vec(), |path| match path.to_str() {
            Some("gone") => Err(io::ErrorKind::NotFound.into()),
            Some("locked") => Err(io::ErrorKind::PermissionDenied.into()),
            Some("other") => Ok(None),
            Some("defect") => panic!("a defect"),
            _ => Ok(Some(path.to_owned())),
        });
        assert_eq!(identified_files.found, ["first", "last"].map(PathBuf::from));
        assert_eq!(identified_files.unreadable, [PathBuf::from("locked")]);
        assert_eq!(identified_files.defects, [PathBuf::from("defect")]);
    }
}
