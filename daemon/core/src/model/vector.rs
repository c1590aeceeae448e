//! Vectors (embeddings) of texts. The vectors of texts with a similar meaning have similar
//! directions.

use crate::model::{EpisodeId, SessionKey, graph::EntityOrFact};

/// An item that has vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Owner {
    /// A session, represented by its episode.
    Session(SessionKey),
    EntityOrFact(EntityOrFact),
}

/// The vectors of one owner.
#[derive(Clone, Debug, PartialEq)]
pub struct Vectors {
    /// The owner of the vectors.
    pub owner: Owner,
    /// For a session: the episode from which the vectors were computed.
    pub episode: Option<EpisodeId>,
    /// The model that computed the vectors. Vectors of different models cannot be compared.
    pub model: String,
    /// A fingerprint of the texts from which the vectors were computed.
    pub texts: u64,
    /// The vectors, all of one dimension.
    pub vectors: Vec<Packed>,
}

/// A vector rounded to whole numbers between -127 and 127, times a scale.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Packed {
    /// The factor by which the numbers are multiplied.
    pub scale: f32,
    pub numbers: Vec<i8>,
}

impl Packed {
    /// Rounds a vector.
    pub fn new(vector: &[f32]) -> Packed {
        let most = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        let scale = if most > 0.0 { most / 127.0 } else { 1.0 };
        let numbers = vector.iter().map(|number| (number / scale).round() as i8).collect();
        Packed { scale, numbers }
    }
}
