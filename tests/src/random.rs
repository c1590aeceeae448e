//! Generates numbers that are the same in every run.

/// A linear congruential generator.
pub struct Random(u64);

impl Random {
    /// Creates a generator; the same seed leads to the same numbers.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns a number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}
