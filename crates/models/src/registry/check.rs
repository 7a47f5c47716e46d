//! Checks single values while they are parsed, so that the error has the position of the value.

use std::fmt;

use serde::{
    Deserializer,
    de::{Error, Visitor},
};

/// Reads a text and checks it; an error of `check` becomes the message.
pub fn text<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    check: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(Text(check))
}

struct Text<F>(F);

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }
}

/// Reads a price: a number of US dollars that is not negative.
pub fn amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    deserializer.deserialize_f64(Amount)
}

pub fn optional_amount<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    amount(deserializer).map(Some)
}

struct Amount;

impl Visitor<'_> for Amount {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a price: a number of US dollars per million tokens, not below zero")
    }

    fn visit_f64<E: Error>(self, amount: f64) -> Result<f64, E> {
        if amount.is_finite() && amount >= 0.0 {
            Ok(amount)
        } else {
            Err(E::custom("a price is a number of US dollars per million tokens, not below zero"))
        }
    }

    fn visit_u64<E: Error>(self, amount: u64) -> Result<f64, E> {
        match u32::try_from(amount) {
            Ok(amount) => Ok(f64::from(amount)),
            Err(_) => {
                Err(E::custom("a price is a number of US dollars per million tokens; this is too large"))
            }
        }
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<f64, E> {
        self.visit_f64(-1.0)
    }
}
