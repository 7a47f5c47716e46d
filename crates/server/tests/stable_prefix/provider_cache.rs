//! A provider's prompt cache, as the large providers describe theirs: the longest beginning that was seen before, from 1,024
//! tokens on, in steps of 128. A token is counted as four bytes.

use std::fmt;

const LEAST: usize = 1_024;
const STEP: usize = 128;
const BYTES_PER_TOKEN: usize = 4;

pub struct Share {
    cached: usize,
    all: usize,
}

impl Share {
    pub fn percent(&self) -> f64 {
        self.cached as f64 * 100.0 / self.all as f64
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} % of {} input tokens from the cache", self.percent(), self.all)
    }
}

/// How much of these prompts, sent one after the other, comes from the cache.
pub fn share(prompts: &[String]) -> Share {
    let mut share = Share { cached: 0, all: 0 };
    for (number, prompt) in prompts.iter().enumerate() {
        let known = prompts[..number].iter().map(|earlier| common(earlier, prompt)).max().unwrap_or(0);
        let known = known / BYTES_PER_TOKEN;
        share.all += prompt.len() / BYTES_PER_TOKEN;
        share.cached += if known >= LEAST { known / STEP * STEP } else { 0 };
    }
    share
}

fn common(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}
