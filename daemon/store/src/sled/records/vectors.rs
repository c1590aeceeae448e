//! Vectors on disk. Their owner is in the key.

use serde::{Deserialize, Serialize};

use crate::model::{
    EpisodeId,
    vector::{Owner, Packed, Vectors},
};

#[derive(Serialize, Deserialize)]
pub(crate) struct VectorsRecord {
    model: String,
    dimension: u32,
    texts: u64,
    episode: Option<[u8; 16]>,
    /// The scale and the numbers of each vector.
    vectors: Vec<(f32, Vec<i8>)>,
}

impl From<&Vectors> for VectorsRecord {
    fn from(vectors: &Vectors) -> VectorsRecord {
        let dimension = vectors.vectors.first().map_or(0, |vector| vector.numbers.len());
        let rows = vectors.vectors.iter();
        VectorsRecord {
            model: vectors.model.clone(),
            dimension: u32::try_from(dimension).unwrap_or(u32::MAX),
            texts: vectors.texts,
            episode: vectors.episode.map(|id| id.0.into_bytes()),
            vectors: rows.map(|vector| (vector.scale, vector.numbers.clone())).collect(),
        }
    }
}

impl VectorsRecord {
    /// Converts the record to the vectors of `owner`.
    pub(crate) fn of(self, owner: Owner) -> Vectors {
        let vectors = self.vectors.into_iter();
        Vectors {
            owner,
            episode: self.episode.map(|id| EpisodeId(uuid::Uuid::from_bytes(id))),
            model: self.model,
            texts: self.texts,
            vectors: vectors.map(|(scale, numbers)| Packed { scale, numbers }).collect(),
        }
    }
}
