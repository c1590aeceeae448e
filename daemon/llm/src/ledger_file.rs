//! Stores the ledger as a small JSON file.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{files, ledger::Ledger};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerFile {
    path: PathBuf,
}

/// Maximum size, in bytes, of a ledger file. A ledger usually has a few hundred bytes.
const LONGEST: u64 = 1 << 20;

impl LedgerFile {
    /// Returns the ledger file in `home`, without reading it.
    pub fn new(home: &Path) -> LedgerFile {
        LedgerFile { path: home.join("llm_ledger.json") }
    }

    /// Reads the ledger; `None` when the file does not exist.
    pub fn load(&self) -> Result<Option<Ledger>, String> {
        let with_path = |error: &dyn std::fmt::Display| format!("{}: {error}", self.path.display());
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Ok(metadata) if metadata.len() > LONGEST => return Err(with_path(&"it is too long")),
            _ => {}
        }
        let bytes = fs::read(&self.path).map_err(|error| with_path(&error))?;
        serde_json::from_slice(&bytes).map(Some).map_err(|error| with_path(&error))
    }

    /// Replaces the file atomically.
    pub fn save(&self, ledger: &Ledger) -> Result<(), String> {
        let text = serde_json::to_vec(ledger).expect("a ledger can be written as JSON");
        files::replace(&self.path, &text)
            .map_err(|error| format!("{}: {error}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{model::Timestamp, request::Purpose};

    #[test]
    fn a_saved_ledger_is_loaded_unchanged() {
        let home = tempfile::tempdir().unwrap();
        let file = LedgerFile::new(home.path());
        assert_eq!(file.load(), Ok(None));
        let mut ledger = Ledger::default();
        ledger.record_avoided(Purpose::Trial, Timestamp::from_seconds(1_000_000));
        file.save(&ledger).unwrap();
        assert_eq!(file.load(), Ok(Some(ledger)));
    }

    #[test]
    fn a_broken_file_is_reported() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("llm_ledger.json"), "{").unwrap();
        let error = LedgerFile::new(home.path()).load().unwrap_err();
        assert!(error.contains("llm_ledger.json"), "{error}");
        assert!(LedgerFile::new(&home.path().join("missing")).save(&Ledger::default()).is_err());
    }
}
