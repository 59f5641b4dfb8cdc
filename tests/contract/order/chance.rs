//! Chance that comes out the same for the same seed, so that a failure can be run again.

pub struct Chance(u64);

impl Chance {
    pub fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let limit = u64::try_from(limit).expect("a small number");
        usize::try_from((self.0 >> 16) % limit).expect("below a small number")
    }

    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// An amount of 1 to `most`.
    pub fn amount(&mut self, most: i64) -> i64 {
        1 + i64::try_from(self.below(usize::try_from(most).expect("positive"))).expect("small")
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
