//! Exchanges the corrections of facts through the shared folder: one file in each machine's folder,
//! with one correction in each line.
//!
//! The file of a machine also contains the corrections that the machine imported. These corrections
//! thus reach machines that do not see the folder of the first machine. The daemon keeps the later
//! correction of a fact.

use std::{collections::HashMap, fs, io, path::PathBuf};

use graphiti_proto::{
    files as durable,
    methods::corrections::{
        CORRECTIONS, CorrectionRow, CorrectionsAnswer, CorrectionsRequest, MAX_CORRECTIONS,
    },
    rpc::code,
};

use super::SyncStamp;
use crate::{
    commands::import,
    connection::{AskError, Connection},
    files,
};

/// The file in a machine's folder. Older versions ignore it, because its name does not end with
/// `.json`.
const FILE: &str = "fact_corrections.jsonl";
/// Maximum length, in bytes, of the file.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Returns all corrections that are stored on this machine, including imported corrections.
pub(super) fn stored(connection: &mut Connection) -> Result<Vec<CorrectionRow>, AskError> {
    let answer: CorrectionsAnswer = connection.ask(CORRECTIONS, &CorrectionsRequest::default())?;
    Ok(answer.corrections)
}

/// Writes the corrections to the folder `own`. Returns whether the file changed.
pub(super) fn write(
    own: &std::path::Path,
    mut corrections: Vec<CorrectionRow>,
) -> io::Result<bool> {
    let file = own.join(FILE);
    corrections.sort_by(|one, other| one.fact.cmp(&other.fact));
    let mut text = Vec::new();
    for correction in &corrections {
        serde_json::to_writer(&mut text, correction)?;
        text.push(b'\n');
    }
    let current = fs::read(&file);
    let is_same = match &current {
        Ok(current) => *current == text,
        Err(_) => text.is_empty(),
    };
    if !is_same {
        durable::replace(&file, &text)?;
    }
    Ok(!is_same)
}

/// The corrections of another machine.
pub(super) struct SyncedCorrections {
    pub(super) path: PathBuf,
    pub(super) stamp: SyncStamp,
    corrections: Vec<CorrectionRow>,
    /// Why the file cannot be read.
    pub(super) unreadable: Option<String>,
    /// The lines that contain no correction.
    problems: Vec<String>,
}

/// The result of an import.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ImportedCorrections {
    /// The number of corrections that were new.
    pub(super) taken: usize,
    /// The corrections and lines that were not imported, and why.
    pub(super) problems: Vec<String>,
}

/// Returns the corrections in the files of other machines, except files that `seen` contains with
/// their current stamp, and the files that cannot be read. Skips an incomplete last line. This line
/// is read later, because the stamp changes when the line is complete.
pub(super) fn new(
    machines: &[PathBuf],
    seen: &HashMap<PathBuf, SyncStamp>,
) -> Vec<SyncedCorrections> {
    let mut new = Vec::new();
    for machine in machines {
        let path = machine.join(FILE);
        let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
        let stamp = SyncStamp::of(&metadata);
        if !metadata.is_file() || seen.get(&path) == Some(&stamp) {
            continue;
        }
        let text = match files::read(&path, MAX_FILE_BYTES) {
            Ok(text) => text,
            Err(error) => {
                new.push(SyncedCorrections::unreadable(path, &error));
                continue;
            }
        };
        let (mut corrections, mut problems) = (Vec::new(), Vec::new());
        for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            match serde_json::from_slice(line) {
                Ok(correction) => corrections.push(correction),
                Err(error) if line.ends_with(b"\n") => {
                    problems.push(format!("line {} is not a correction: {error}", index + 1));
                }
                Err(_) => {}
            }
        }
        new.push(SyncedCorrections { path, stamp, corrections, unreadable: None, problems });
    }
    new
}

impl SyncedCorrections {
    fn unreadable(path: PathBuf, error: &io::Error) -> SyncedCorrections {
        SyncedCorrections {
            path,
            stamp: SyncStamp::UNREADABLE,
            corrections: Vec::new(),
            unreadable: Some(format!("cannot be read: {error}")),
            problems: Vec::new(),
        }
    }

    /// Imports the corrections of facts that these episodes, or other episodes of the same
    /// projects, state. An invalid correction does not block the other corrections.
    pub(super) fn import(&self, episodes: &[String]) -> Result<ImportedCorrections, AskError> {
        let mut connection = Connection::open_for_work()?;
        let mut imported = ImportedCorrections { taken: 0, problems: self.problems.clone() };
        for page in self.corrections.chunks(MAX_CORRECTIONS) {
            imported.add(page, &mut |corrections| {
                import::import_corrections(&mut connection, corrections, episodes, false)
                    .map(|counts| counts.taken)
            })?;
        }
        Ok(imported)
    }
}

impl ImportedCorrections {
    /// Imports corrections by one request. The daemon stores nothing if one correction is invalid.
    /// In this case, each half of the corrections is imported by a separate request.
    fn add(
        &mut self,
        corrections: &[CorrectionRow],
        store: &mut dyn FnMut(&[CorrectionRow]) -> Result<usize, AskError>,
    ) -> Result<(), AskError> {
        match (store(corrections), corrections) {
            (Ok(taken), _) => self.taken += taken,
            (Err(AskError::Refused(error)), [_]) if error.code == code::INVALID_PARAMS => {
                self.problems.push(error.message);
            }
            (Err(AskError::Refused(error)), _) if error.code == code::INVALID_PARAMS => {
                let (first, second) = corrections.split_at(corrections.len() / 2);
                self.add(first, store)?;
                self.add(second, store)?;
            }
            (Err(error), _) => return Err(error),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use graphiti_proto::rpc;

    use super::*;

    #[test]
    fn corrections_are_written_when_they_change_and_read_by_other_machines() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("laptop");
        fs::create_dir(&own).unwrap();
        assert!(!write(&own, Vec::new()).unwrap());
        let rows = vec![row("b", "done"), row("a", "wrong")];
        assert!(write(&own, rows.clone()).unwrap());
        assert!(!write(&own, rows).unwrap());
        let machines = [own.clone()];
        let read = new(&machines, &HashMap::new());
        assert_eq!(read[0].corrections, [row("a", "wrong"), row("b", "done")]);
        let seen = HashMap::from([(read[0].path.clone(), read[0].stamp)]);
        assert!(new(&machines, &seen).is_empty());
        assert!(write(&own, vec![row("a", "valid")]).unwrap());
        assert_eq!(new(&machines, &seen).len(), 1);
    }

    #[test]
    fn an_invalid_correction_does_not_block_the_others() {
        let rows = ["a", "b", "c", "d", "e"]
            .map(|fact| row(fact, if fact == "d" { "maybe" } else { "done" }));
        let mut imported = ImportedCorrections::default();
        let mut stored = Vec::new();
        let mut store = |corrections: &[CorrectionRow]| {
            if let Some(wrong) = corrections.iter().find(|one| one.verdict == "maybe") {
                let what = format!("the correction of the fact `{}`: wrong", wrong.fact);
                return Err(AskError::Refused(rpc::Error::new(code::INVALID_PARAMS, what)));
            }
            stored.extend(corrections.iter().map(|one| one.fact.clone()));
            Ok(corrections.len())
        };
        imported.add(&rows, &mut store).unwrap();
        let problems = vec!["the correction of the fact `d`: wrong".to_owned()];
        assert_eq!(imported, ImportedCorrections { taken: 4, problems });
        assert_eq!(stored, ["a", "b", "c", "e"]);
        let mut busy = |_: &[CorrectionRow]| Err(AskError::NoAnswer(None));
        assert!(imported.add(&rows, &mut busy).is_err());
    }

    #[test]
    fn a_line_without_a_correction_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), vec![row("a", "done"), row("b", "done")]).unwrap();
        let file = folder.path().join(FILE);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("<<<<<<< ours\n{text}")).unwrap();
        let read = new(&[folder.path().to_owned()], &HashMap::new());
        assert_eq!(read[0].corrections.len(), 2);
        let problem = &read[0].problems[0];
        assert!(problem.starts_with("line 1 is not a correction: "), "{problem}");
    }

    #[test]
    fn an_unreadable_file_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = fs::File::create(folder.path().join(FILE)).unwrap();
        file.set_len(MAX_FILE_BYTES + 1).unwrap();
        let read = new(&[folder.path().to_owned()], &HashMap::new());
        assert_eq!(read[0].stamp, SyncStamp::UNREADABLE);
        let problem = read[0].unreadable.as_ref().unwrap();
        assert!(problem.starts_with("cannot be read: is longer than 64 MB"), "{problem}");
    }

    #[test]
    fn an_incomplete_line_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), vec![row("a", "done")]).unwrap();
        let file = folder.path().join(FILE);
        let mut text = fs::read(&file).unwrap();
        text.extend(b"{\"fact\":\"b");
        fs::write(&file, text).unwrap();
        let read = new(&[folder.path().to_owned()], &HashMap::new());
        assert_eq!(read[0].corrections, [row("a", "done")]);
        assert!(read[0].problems.is_empty());
    }

    fn row(fact: &str, verdict: &str) -> CorrectionRow {
        CorrectionRow {
            fact: fact.to_owned(),
            verdict: verdict.to_owned(),
            ..CorrectionRow::default()
        }
    }
}
