//! Tokens of one or more model calls, as the provider counted them, and what they cost.

use serde::{Deserialize, Serialize};

/// Token counts. `input_tokens` includes the tokens read from and written to the provider's cache, `output_tokens`
/// includes reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub total_tokens: u64,
    pub cached_input_tokens: u64,
    /// Input that the provider wrote to its cache, where it charges for that.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    pub reasoning_tokens: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Limits the counts to what one call can have used. A provider may claim anything, and sums over many calls must not
    /// overflow.
    #[must_use]
    pub fn plausible(self) -> Self {
        const MOST: u64 = u32::MAX as u64;
        Self {
            input_tokens: self.input_tokens.min(MOST),
            output_tokens: self.output_tokens.min(MOST),
            total_tokens: self.total_tokens.min(2 * MOST),
            cached_input_tokens: self.cached_input_tokens.min(MOST),
            cache_write_tokens: self.cache_write_tokens.min(MOST),
            reasoning_tokens: self.reasoning_tokens.min(MOST),
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.cached_input_tokens = self.cached_input_tokens.saturating_add(other.cached_input_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
    }
}

/// The price of a million tokens, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Input that comes from the provider's cache; the price of input when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_read: Option<f64>,
    /// Input that is written to the provider's cache; the price of input when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_write: Option<f64>,
}

impl Price {
    pub fn of(&self, usage: &Usage) -> Cost {
        let read = usage.cached_input_tokens.min(usage.input_tokens);
        let written = usage.cache_write_tokens.min(usage.input_tokens - read);
        let plain = usage.input_tokens - read - written;
        // Dollars for a million tokens are thousands of nanodollars for one.
        let thousands = plain as f64 * self.input
            + read as f64 * self.cached_read.unwrap_or(self.input)
            + written as f64 * self.cached_write.unwrap_or(self.input)
            + usage.output_tokens as f64 * self.output;
        Cost((thousands * 1e3).round() as u64)
    }
}

/// Money, in billionths of a US dollar: sums of many small amounts stay exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(pub u64);

impl Cost {
    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.0 = self.0.saturating_add(other.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_token_has_its_price_and_is_counted_once() {
        let price = Price { input: 3.0, output: 15.0, cached_read: Some(0.3), cached_write: Some(3.75) };
        let usage = Usage {
            input_tokens: 1_000,
            cached_input_tokens: 600,
            cache_write_tokens: 300,
            output_tokens: 200,
            total_tokens: 1_200,
            reasoning_tokens: 150,
        };
        // 100 at 3, 600 at 0.3, 300 at 3.75, 200 at 15, all per million.
        assert_eq!(price.of(&usage), Cost(300_000 + 180_000 + 1_125_000 + 3_000_000));
        assert_eq!(price.of(&usage).usd(), 0.004_605);
    }

    #[test]
    fn what_a_provider_claims_stays_within_what_can_be_added_up() {
        let all = u64::MAX;
        let claimed = Usage {
            input_tokens: all,
            output_tokens: all,
            total_tokens: all,
            cached_input_tokens: all,
            cache_write_tokens: all,
            reasoning_tokens: all,
        };
        let mut sum = claimed;
        sum += claimed;
        assert_eq!(sum, claimed);
        assert!(i64::try_from(claimed.plausible().total_tokens * 1_000_000).is_ok());
    }

    #[test]
    fn without_a_price_for_the_cache_its_tokens_cost_what_input_costs() {
        let price = Price { input: 2.0, output: 8.0, cached_read: None, cached_write: None };
        let usage = Usage { input_tokens: 10, cached_input_tokens: 8, output_tokens: 1, ..Usage::default() };
        assert_eq!(price.of(&usage), Cost(28_000));
    }

    #[test]
    fn figures_that_contradict_each_other_never_cost_less_than_nothing() {
        let price = Price { input: 1.0, output: 1.0, cached_read: Some(0.0), cached_write: Some(0.0) };
        let usage =
            Usage { input_tokens: 5, cached_input_tokens: 9, cache_write_tokens: 9, ..Usage::default() };
        assert_eq!(price.of(&usage), Cost(0));
    }
}
