//! Exchanges the corrections of facts through the shared folder: one file in each machine's folder,
//! with one correction in each line.
//!
//! The corrections of other machines are written again, so that they also reach a machine that does
//! not see the folder of their origin. The daemon keeps the later correction of a fact.

use std::{collections::HashMap, fs, io, path::PathBuf};

use graphiti_proto::{
    files as durable,
    methods::corrections::{CORRECTIONS, CorrectionRow, CorrectionsAnswer, CorrectionsRequest},
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

/// Returns all corrections of this machine.
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
}

/// Returns the corrections in the folders of other machines that `seen` does not contain with their
/// current stamp. An incomplete line is skipped; the file changes when it is complete.
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
        let Ok(text) = files::read(&path, MAX_FILE_BYTES) else { continue };
        let lines = text.split(|byte| *byte == b'\n');
        let corrections = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        new.push(SyncedCorrections { path, stamp, corrections });
    }
    new
}

impl SyncedCorrections {
    /// Imports the corrections of facts of these episodes and of their projects. Returns how many
    /// were new.
    pub(super) fn import(&self, episodes: &[String]) -> Result<usize, AskError> {
        let mut connection = Connection::open_for_work()?;
        let counts =
            import::import_corrections(&mut connection, &self.corrections, episodes, false)?;
        Ok(counts.taken)
    }
}

#[cfg(test)]
mod tests {
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
    fn an_incomplete_line_is_skipped() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), vec![row("a", "done")]).unwrap();
        let file = folder.path().join(FILE);
        let mut text = fs::read(&file).unwrap();
        text.extend(b"{\"fact\":\"b");
        fs::write(&file, text).unwrap();
        let read = new(&[folder.path().to_owned()], &HashMap::new());
        assert_eq!(read[0].corrections, [row("a", "done")]);
    }

    fn row(fact: &str, verdict: &str) -> CorrectionRow {
        CorrectionRow {
            fact: fact.to_owned(),
            verdict: verdict.to_owned(),
            ..CorrectionRow::default()
        }
    }
}
