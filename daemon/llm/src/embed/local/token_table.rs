//! Static embeddings: the vector of a text is the weighted sum of its tokens' vectors. The caller
//! normalises the vector.

use super::tensors::{Tensor, Tensors};

pub(super) struct TokenTable {
    dimension: usize,
    rows: Vec<f32>,
    /// The weight of each token; `None` when all weights are equal.
    weights: Option<Vec<f32>>,
    /// The row of each token; `None` when the row is the token's id.
    rows_of: Option<Vec<usize>>,
}

/// Maximum number of tokens of a text.
pub(super) const PIECES: usize = 2_048;
/// The names of the table's tensor in known models.
const NAMES: [&str; 2] = ["embeddings", "embedding.weight"];

impl TokenTable {
    /// Reads the table from a file; `None` when the file contains another kind of model.
    pub(super) fn read(tensors: &Tensors) -> Result<Option<TokenTable>, String> {
        let mut found = None;
        for name in NAMES {
            found = found.or(tensors.get(name)?);
        }
        let Some(Tensor { shape, numbers }) = found else { return Ok(None) };
        let [_, dimension] = shape[..] else {
            return Err("its table does not have two dimensions".to_owned());
        };
        if dimension == 0 || numbers.is_empty() {
            return Err("its table is empty".to_owned());
        }
        let weights = tensors.get("weights")?.map(|tensor| tensor.numbers);
        let rows_of = tensors.get("mapping")?.map(|tensor| tensor.numbers);
        let rows_of = rows_of.map(|rows| rows.into_iter().map(|row| row as usize).collect());
        Ok(Some(TokenTable { dimension, rows: numbers, weights, rows_of }))
    }

    /// Returns the weighted sum of the tokens' vectors. Without tokens, returns the zero vector.
    pub(super) fn vector(&self, pieces: &[u32]) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimension];
        for piece in pieces {
            let piece = *piece as usize;
            let row = self.rows_of.as_ref().map_or(Some(piece), |rows| rows.get(piece).copied());
            let start = row.and_then(|row| row.checked_mul(self.dimension));
            let row = start.and_then(|start| self.rows.get(start..start + self.dimension));
            let weight = self.weights.as_ref().map_or(Some(1.0), |all| all.get(piece).copied());
            let (Some(row), Some(weight)) = (row, weight) else { continue };
            for (sum, number) in sum.iter_mut().zip(row) {
                *sum += weight * number;
            }
        }
        sum
    }
}
