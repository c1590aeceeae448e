//! Stores the corrections of facts that users and agents make.

use crate::{
    engine::{Engine, EngineError},
    model::graph::{CorrectedFact, Correction},
    store::{Write, corrections},
};

impl Engine {
    /// Stores corrections in one list of writes: all or none are stored.
    pub async fn correct(&self, corrected: &[CorrectedFact]) -> Result<(), EngineError> {
        let write = |one: &CorrectedFact| corrections::write_of(one.fact, Some(&one.correction));
        self.check_writable()?;
        let writes: Vec<Write> = corrected.iter().map(write).collect();
        self.store.write(writes).done().await?;
        Ok(())
    }

    /// Whether a correction may be stored: the fact has no correction yet, or the new correction
    /// may replace the stored one.
    pub fn may_correct(&self, one: &CorrectedFact) -> Result<bool, EngineError> {
        let known: Option<Correction> = self.store.correction(one.fact)?;
        Ok(known.is_none_or(|known| one.correction.replaces(&known)))
    }
}
