//! Random numbers from a seed: the same seed makes the same test on every machine, so a failure can be repeated.

/// A generator of numbers (SplitMix64). Not for secrets.
///
/// ```
/// use test_support::Rng;
///
/// let mut rng = Rng::new(7);
/// let first: u64 = rng.between(1, 6);
/// assert_eq!(Rng::new(7).between(1, 6), first);
/// ```
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns any number.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number of `0..bound`, and 0 when `bound` is 0.
    pub fn below<N: Number>(&mut self, bound: N) -> N {
        N::from_u64(self.next_u64() % bound.to_u64().max(1))
    }

    /// Returns a number of `first..=last`.
    pub fn between<N: Number>(&mut self, first: N, last: N) -> N {
        let (first, last) = (first.to_u64(), last.to_u64());
        N::from_u64(first + self.next_u64() % (last - first + 1))
    }

    /// Returns `true` with this probability, from 0 to 100.
    pub fn percent(&mut self, probability: u64) -> bool {
        self.below(100) < probability
    }

    /// Returns one of the values. There must be at least one.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Returns another generator. Its numbers do not depend on how this one is used afterwards.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self::new(self.next_u64())
    }
}

/// Whole numbers that are not negative.
pub trait Number: Copy {
    fn to_u64(self) -> u64;
    fn from_u64(number: u64) -> Self;
}

macro_rules! numbers {
    ($($kind:ty),*) => {
        $(impl Number for $kind {
            fn to_u64(self) -> u64 {
                self as u64
            }

            fn from_u64(number: u64) -> Self {
                number as Self
            }
        })*
    };
}

numbers!(i32, i64, u32, u64, usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_makes_the_same_numbers() {
        // The reference values of SplitMix64 for the seed 1234567.
        let mut rng = Rng::new(1_234_567);
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([rng.next_u64(), rng.next_u64(), rng.next_u64()], expected);
    }

    #[test]
    fn numbers_stay_within_their_bounds_and_reach_them() {
        let mut rng = Rng::new(1);
        let mut seen = [false; 6];
        for _ in 0..1_000 {
            seen[rng.below(6_usize)] = true;
            assert!((3..=5).contains(&rng.between(3, 5)));
            assert_eq!(rng.between(4_u64, 4), 4);
        }
        assert_eq!(seen, [true; 6]);
        assert_eq!(rng.below(0_u64), 0);
        assert!(!rng.percent(0) && rng.percent(100));
    }

    #[test]
    fn a_fork_does_not_depend_on_later_use() {
        let (mut one, mut two) = (Rng::new(3), Rng::new(3));
        let (mut fork, mut same) = (one.fork(), two.fork());
        two.next_u64();
        assert_eq!(fork.next_u64(), same.next_u64());
    }
}
