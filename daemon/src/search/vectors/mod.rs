//! Search by meaning: the vectors of everything that has any, compared one by one with a question's.
//!
//! The comparison is exact but for rounding: a number is kept in one byte. It takes about ten
//! milliseconds for 100,000 vectors of 256 numbers, which is what ten thousand sessions have, so
//! that even a large memory needs no index over them; one would take more room, miss some and have
//! to be kept up (`cargo bench -p graphiti-tests --bench retrieval -- vectors` measures it).
//!
//! [`texts`] says what of a session they are made of; making them is left to others.

pub mod texts;

use std::collections::HashMap;

use crate::{
    model::{SessionKey, vector::Packed},
    search::rank::SecondRanker,
};

/// The vectors of one model, by the number of what they belong to: a session, a thing, a fact.
#[derive(Debug, Default)]
pub struct Vectors {
    dimension: usize,
    /// The vectors, row after row.
    numbers: Vec<i8>,
    /// What a row's numbers are multiplied by.
    scales: Vec<f32>,
    /// What a row belongs to; the rows of one owner follow each other. `None` for a dead row.
    owners: Vec<Option<u64>>,
    /// The first row of each owner and how many there are.
    rows: HashMap<u64, (usize, usize)>,
    dead: usize,
}

/// A question's vector and the vectors that it is compared with.
pub struct Ranker<'r> {
    pub vectors: &'r Vectors,
    pub question: &'r Packed,
}

/// Owners that are compared with each other to learn how near any two are.
const SAMPLE: usize = 48;
/// With fewer, that is chance.
const FEW: usize = 8;
/// Dead rows are taken out when there are more than this share of the living.
const DEAD: usize = 4;

impl Vectors {
    /// Puts the vectors of `owner` in the place of those it had. The first ones ever put say of
    /// which dimension all are; others are left out.
    pub fn put(&mut self, owner: u64, vectors: &[Packed]) {
        self.remove(owner);
        if self.owners.is_empty() {
            self.dimension = vectors.first().map_or(0, |vector| vector.numbers.len());
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

    /// Takes out what belongs to `owner`.
    pub fn remove(&mut self, owner: u64) {
        let Some((first, count)) = self.rows.remove(&owner) else { return };
        self.owners[first..first + count].fill(None);
        self.dead += count;
        if self.dead > 64 && self.dead * DEAD > self.owners.len() {
            self.compact();
        }
    }

    /// The vectors of `owner`.
    pub fn of(&self, owner: u64) -> Vec<Packed> {
        let (first, count) = self.rows.get(&owner).copied().unwrap_or_default();
        let row = |row: usize| Packed {
            scale: self.scales[row],
            numbers: self.numbers[row * self.dimension..(row + 1) * self.dimension].to_vec(),
        };
        (first..first + count).map(row).collect()
    }

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.owners.len() - self.dead
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory that they take, roughly.
    pub fn bytes(&self) -> usize {
        self.numbers.len() + self.owners.len() * (16 + 4) + self.rows.len() * 32
    }

    /// Every owner with how near the nearest of its vectors comes to `question`, as a cosine.
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

    /// How near the owners are to each other on average, as a cosine, from some of them; `None`
    /// where there are too few to tell.
    fn background(&self) -> Option<f32> {
        let firsts = (0..self.owners.len()).filter(|row| {
            self.owners[*row].is_some() && (*row == 0 || self.owners[*row] != self.owners[*row - 1])
        });
        let step = self.rows.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<usize> = firsts.step_by(step).collect();
        if sample.len() < FEW {
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
        let mut found = self.vectors.nearness(self.question);
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

    /// What is no nearer to a question than any two sessions are to each other has nothing to do
    /// with it. How near that is depends on the model and on what the sessions have in common, so it
    /// is measured, not set.
    fn floor(&self) -> f32 {
        self.vectors.background().unwrap_or(f32::NEG_INFINITY)
    }
}

/// The product of two vectors of the same length, scales aside.
fn product(one: &[i8], other: &[i8]) -> f32 {
    let products = one.iter().zip(other).map(|(a, b)| i32::from(*a) * i32::from(*b));
    products.sum::<i32>() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_is_lost_by_rounding() {
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
        let ranker = Ranker { vectors, question: &question };
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
            Ranker { vectors: &vectors, question: &question }.rank(2, &|session| session.0 != 1);
        assert_eq!(not_first[0].0, SessionKey(2));
        assert!((not_first[0].1 - 0.8).abs() < 0.01, "{not_first:?}");
    }

    #[test]
    fn what_was_replaced_or_removed_is_not_found() {
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
    fn what_is_as_far_from_a_question_as_from_anything_lies_below_the_floor() {
        let mut vectors = Vectors::default();
        let on_a_circle = |part: f32| packed(&[part.cos(), part.sin(), 0.5]);
        let floor =
            |vectors: &Vectors| Ranker { vectors, question: &packed(&[1.0, 0.0, 0.0]) }.floor();
        for owner in 0..7_u8 {
            vectors.put(owner.into(), &[on_a_circle(f32::from(owner)), on_a_circle(9.0)]);
        }
        assert_eq!(floor(&vectors), f32::NEG_INFINITY, "too few to tell");
        for owner in 7..200_u8 {
            vectors.put(owner.into(), &[on_a_circle(f32::from(owner))]);
        }
        // Directions on a circle cancel out; what all have in common is left: 0.25 of 1.25, and
        // `Packed` takes no length out.
        assert!((floor(&vectors) - 0.25).abs() < 0.05, "{}", floor(&vectors));
    }

    #[test]
    fn vectors_of_another_dimension_meet_nothing() {
        let mut vectors = Vectors::default();
        vectors.put(1, &[packed(&[1.0, 0.0])]);
        vectors.put(2, &[packed(&[1.0, 0.0, 0.0])]);
        assert_eq!(vectors.len(), 1);
        assert!(ranked(&vectors, &[1.0, 0.0, 0.0], 3).is_empty());
        assert!(ranked(&Vectors::default(), &[1.0], 3).is_empty());
    }
}
