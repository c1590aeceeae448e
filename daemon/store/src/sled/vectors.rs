//! Reads vectors. They are stored in pieces, under the key of their owner.

use super::{
    SledStore, envelope,
    keys::{self, table},
    pieces::Joiner,
    records::VectorsRecord,
};
use crate::{StoreError, VectorStore, model::vector::Vectors};

impl VectorStore for SledStore {
    fn visit_vectors(&self, visit: &mut dyn FnMut(Vectors) -> bool) -> Result<(), StoreError> {
        let mut joiner = Joiner::default();
        for entry in self.tree.scan_prefix([table::VECTORS]) {
            let (key, piece) = entry?;
            let Some(sealed) = joiner.take(&key, &piece) else { continue };
            let Some(owner) = keys::owner_in(&key) else { continue };
            let Ok(record) = envelope::open::<VectorsRecord>(&sealed) else { continue };
            if !visit(record.of(owner)) {
                break;
            }
        }
        Ok(())
    }
}
