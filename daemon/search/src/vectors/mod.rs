//! Search by meaning: compares the vector of a query with all stored vectors.
//!
//! The comparison is exact except for rounding: each component is stored in one byte. It takes
//! about ten milliseconds for 100,000 vectors with 256 components; about ten thousand sessions have
//! this number of vectors. An approximate index would need more memory, miss some results and have
//! to be maintained (`cargo bench -p graphiti-tests --bench retrieval -- vectors` measures the
//! comparison).
//!
//! [`texts`] selects the texts of a session that get vectors; other modules compute the vectors.

pub mod texts;

use std::collections::HashMap;

use crate::{
    model::{SessionKey, vector::Packed},
    rank::SecondRanker,
};

/// The vectors of one model, by the number of their owner: a session, an entity, a fact.
#[derive(Debug, Default)]
pub struct Vectors {
    dimension: usize,
    /// The components, row by row.
    numbers: Vec<i8>,
    /// The scale factor of each row.
    scales: Vec<f32>,
    /// The owner of each row; the rows of one owner are adjacent. `None` for a deleted row.
    owners: Vec<Option<u64>>,
    /// The first row and the number of rows of each owner.
    rows: HashMap<u64, (usize, usize)>,
    dead: usize,
}

/// The vector of a query and the vectors that it is compared with.
pub struct Ranker<'r> {
    pub vectors: &'r Vectors,
    pub query: &'r Packed,
}

/// Maximum number of owners that are compared with each other to measure the average similarity.
const SAMPLE: usize = 48;
/// Minimum number of owners for a meaningful average.
const MIN_SAMPLE: usize = 8;
/// Deleted rows are removed when there are more than 64, and more than `1 / DEAD` of all rows.
const DEAD: usize = 4;

impl Vectors {
    /// Replaces the vectors of `owner`. The first vectors determine the dimension, also after all
    /// vectors were removed; vectors of another dimension are ignored.
    pub fn put(&mut self, owner: u64, vectors: &[Packed]) {
        self.remove(owner);
        if self.is_empty() {
            let dimension = vectors.first().map_or(0, |vector| vector.numbers.len());
            *self = Vectors { dimension, ..Vectors::default() };
        }
        let first = self.owners.len();
        for vector in vectors.iter().filter(|vector| vector.numbers.len() == self.dimension) {
            self.numbers.extend_from_slice(&vector.numbers);
            self.scales.push(vector.scale);
            self.owners.push(Some(owner));
        }
        if self.owners.len() > first {
            self.rows.insert(owner, (first, self.owners.len() - first));
        }
    }

    pub fn remove(&mut self, owner: u64) {
        let Some((first, count)) = self.rows.remove(&owner) else { return };
        self.owners[first..first + count].fill(None);
        self.dead += count;
        if self.dead > 64 && self.dead * DEAD > self.owners.len() {
            self.compact();
        }
    }

    pub fn of(&self, owner: u64) -> Vec<Packed> {
        let (first, count) = self.rows.get(&owner).copied().unwrap_or_default();
        let row = |row: usize| Packed {
            scale: self.scales[row],
            numbers: self.numbers[row * self.dimension..(row + 1) * self.dimension].to_vec(),
        };
        (first..first + count).map(row).collect()
    }

    pub fn len(&self) -> usize {
        self.owners.len() - self.dead
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the approximate memory use, in bytes.
    pub fn bytes(&self) -> usize {
        self.numbers.len() + self.owners.len() * (16 + 4) + self.rows.len() * 32
    }

    /// Returns each owner, and the cosine similarity of `question` to the owner's nearest vector.
    fn nearness(&self, question: &Packed) -> Vec<(u64, f32)> {
        if question.numbers.len() != self.dimension || self.dimension == 0 {
            return Vec::new();
        }
        let mut found: Vec<(u64, f32)> = Vec::with_capacity(self.rows.len());
        let rows = self.numbers.chunks_exact(self.dimension).zip(&self.scales).zip(&self.owners);
        for ((numbers, scale), owner) in rows {
            let Some(owner) = owner else { continue };
            let cosine = product(numbers, &question.numbers) * scale * question.scale;
            match found.last_mut() {
                Some((last, best)) if last == owner => *best = best.max(cosine),
                _ => found.push((*owner, cosine)),
            }
        }
        found
    }

    /// Returns the average cosine similarity between the owners of a sample, by the first vector of
    /// each owner; `None` when there are too few owners.
    fn background(&self) -> Option<f32> {
        let firsts = (0..self.owners.len()).filter(|row| {
            self.owners[*row].is_some() && (*row == 0 || self.owners[*row] != self.owners[*row - 1])
        });
        let step = self.rows.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<usize> = firsts.step_by(step).collect();
        if sample.len() < MIN_SAMPLE {
            return None;
        }
        let row = |row: usize| &self.numbers[row * self.dimension..(row + 1) * self.dimension];
        let mut sum = 0.0;
        for (count, one) in sample.iter().enumerate() {
            for other in &sample[..count] {
                let cosine = product(row(*one), row(*other));
                sum += cosine * self.scales[*one] * self.scales[*other];
            }
        }
        Some(sum / (sample.len() * (sample.len() - 1) / 2) as f32)
    }

    fn compact(&mut self) {
        let mut kept = Vectors { dimension: self.dimension, ..Vectors::default() };
        let rows = self.numbers.chunks_exact(self.dimension).zip(&self.scales).zip(&self.owners);
        for ((numbers, scale), owner) in rows {
            let Some(owner) = owner else { continue };
            let row = kept.owners.len();
            kept.numbers.extend_from_slice(numbers);
            kept.scales.push(*scale);
            kept.owners.push(Some(*owner));
            kept.rows.entry(*owner).or_insert((row, 0)).1 += 1;
        }
        *self = kept;
    }
}

impl SecondRanker for Ranker<'_> {
    fn rank(&self, limit: usize, admits: &dyn Fn(SessionKey) -> bool) -> Vec<(SessionKey, f32)> {
        let mut found = self.vectors.nearness(self.query);
        found.retain(|(owner, _)| admits(SessionKey(*owner)));
        let nearer = |one: &(u64, f32), other: &(u64, f32)| {
            other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
        };
        if found.len() > limit {
            found.select_nth_unstable_by(limit, nearer);
            found.truncate(limit);
        }
        found.sort_unstable_by(nearer);
        found.into_iter().map(|(owner, cosine)| (SessionKey(owner), cosine)).collect()
    }

    /// Returns the average similarity of two sessions, or negative infinity if there are too few
    /// sessions. A session without a word of the query is related to the query only if it is more
    /// similar than this. The average is measured, because it depends on the model and on the
    /// sessions.
    fn floor(&self) -> f32 {
        self.vectors.background().unwrap_or(f32::NEG_INFINITY)
    }
}

/// Returns the dot product of two vectors of the same length, without scales.
fn product(one: &[i8], other: &[i8]) -> f32 {
    let products = one.iter().zip(other).map(|(a, b)| i32::from(*a) * i32::from(*b));
    products.sum::<i32>() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_changes_the_similarity_only_a_little() {
        let wave = |step: f32| -> Vec<f32> {
            let raw: Vec<f32> = (0..384_u16).map(|at| (f32::from(at) * step).sin()).collect();
            let length = raw.iter().map(|number| number * number).sum::<f32>().sqrt();
            raw.into_iter().map(|number| number / length).collect()
        };
        for (a, b) in [(0.1, 0.1), (0.1, 0.11), (0.3, 0.7)] {
            let (one, other) = (wave(a), wave(b));
            let exact: f32 = one.iter().zip(&other).map(|(x, y)| x * y).sum();
            let (one, other) = (Packed::new(&one), Packed::new(&other));
            let rounded = product(&one.numbers, &other.numbers) * one.scale * other.scale;
            assert!((exact - rounded).abs() < 0.005, "{exact} {rounded}");
        }
        assert_eq!(Packed::new(&[0.0, 0.0]).numbers, [0, 0]);
    }

    fn packed(numbers: &[f32]) -> Packed {
        Packed::new(numbers)
    }

    fn ranked(vectors: &Vectors, question: &[f32], limit: usize) -> Vec<u64> {
        let question = packed(question);
        let ranker = Ranker { vectors, query: &question };
        ranker.rank(limit, &|_| true).into_iter().map(|(key, _)| key.0).collect()
    }

    #[test]
    fn the_nearest_vector_of_each_owner_counts() {
        let mut vectors = Vectors::default();
        vectors.put(1, &[packed(&[1.0, 0.0]), packed(&[0.0, 1.0])]);
        vectors.put(2, &[packed(&[0.8, 0.6])]);
        vectors.put(3, &[packed(&[-1.0, 0.0])]);
        assert_eq!(ranked(&vectors, &[1.0, 0.0], 3), [1, 2, 3]);
        assert_eq!(ranked(&vectors, &[0.7, 0.7], 3), [2, 1, 3]);
        assert_eq!(ranked(&vectors, &[0.7, 0.7], 1), [2]);
        let question = packed(&[1.0, 0.0]);
        let not_first =
            Ranker { vectors: &vectors, query: &question }.rank(2, &|session| session.0 != 1);
        assert_eq!(not_first[0].0, SessionKey(2));
        assert!((not_first[0].1 - 0.8).abs() < 0.01, "{not_first:?}");
    }

    #[test]
    fn replaced_and_removed_vectors_are_not_found() {
        let mut vectors = Vectors::default();
        for owner in 0..500 {
            vectors.put(owner, &[packed(&[1.0, 0.0]), packed(&[0.0, 1.0])]);
        }
        for owner in 0..500 {
            vectors.put(owner, &[packed(&[0.0, -1.0])]);
            if owner % 2 == 0 {
                vectors.remove(owner);
            }
        }
        assert_eq!(vectors.len(), 250);
        assert!(vectors.owners.len() < 500, "{}", vectors.owners.len());
        let found = ranked(&vectors, &[0.0, -1.0], 1_000);
        assert_eq!(found, (0..500).filter(|owner| owner % 2 == 1).collect::<Vec<u64>>());
        assert!(vectors.of(2).is_empty());
        assert_eq!(vectors.of(3), [packed(&[0.0, -1.0])]);
    }

    #[test]
    fn unrelated_vectors_are_below_the_floor() {
        let mut vectors = Vectors::default();
        let on_a_circle = |part: f32| packed(&[part.cos(), part.sin(), 0.5]);
        let floor =
            |vectors: &Vectors| Ranker { vectors, query: &packed(&[1.0, 0.0, 0.0]) }.floor();
        for owner in 0..7_u8 {
            vectors.put(owner.into(), &[on_a_circle(f32::from(owner)), on_a_circle(9.0)]);
        }
        assert_eq!(floor(&vectors), f32::NEG_INFINITY, "there are too few owners for an average");
        for owner in 7..200_u8 {
            vectors.put(owner.into(), &[on_a_circle(f32::from(owner))]);
        }
        // On average, the components on the circle cancel out, and the product of the common
        // components is left: 0.5 * 0.5. `Packed` does not normalise.
        assert!((floor(&vectors) - 0.25).abs() < 0.05, "{}", floor(&vectors));
    }

    #[test]
    fn vectors_of_another_dimension_are_ignored() {
        let mut vectors = Vectors::default();
        vectors.put(1, &[packed(&[1.0, 0.0])]);
        vectors.put(2, &[packed(&[1.0, 0.0, 0.0])]);
        assert_eq!(vectors.len(), 1);
        assert!(ranked(&vectors, &[1.0, 0.0, 0.0], 3).is_empty());
        vectors.remove(1);
        vectors.put(2, &[packed(&[1.0, 0.0, 0.0])]);
        assert_eq!(ranked(&vectors, &[1.0, 0.0, 0.0], 3), [2]);
        vectors.put(2, &[packed(&[0.0, 1.0])]);
        assert_eq!((vectors.len(), ranked(&vectors, &[0.0, 1.0], 3)), (1, vec![2]));
        assert!(ranked(&Vectors::default(), &[1.0], 3).is_empty());
    }
}
