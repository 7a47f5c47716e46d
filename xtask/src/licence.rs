//! Evaluates licence expressions: whether the accepted licences satisfy one.

use anyhow::{Result, bail};

/// `accepted` holds single licences, with their exception where they have one.
pub fn is_met(expression: &str, accepted: &[String]) -> Result<bool> {
    // The old spelling of "or".
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words: Vec<&str> = spaced.split_whitespace().collect();
    words.reverse();
    let mut reader = Reader { words, accepted };
    let met = reader.alternatives()?;
    match reader.words.pop() {
        None => Ok(met),
        Some(word) => bail!("`{word}` is not expected in `{expression}`"),
    }
}

struct Reader<'a> {
    /// Last word first.
    words: Vec<&'a str>,
    accepted: &'a [String],
}

impl Reader<'_> {
    fn alternatives(&mut self) -> Result<bool> {
        let mut met = self.conjunction()?;
        while self.takes("OR") {
            met |= self.conjunction()?;
        }
        Ok(met)
    }

    fn conjunction(&mut self) -> Result<bool> {
        let mut met = self.single()?;
        while self.takes("AND") {
            met &= self.single()?;
        }
        Ok(met)
    }

    fn single(&mut self) -> Result<bool> {
        if self.takes("(") {
            let met = self.alternatives()?;
            if !self.takes(")") {
                bail!("a bracket is not closed");
            }
            return Ok(met);
        }
        let Some(mut licence) = self.words.pop().map(str::to_owned) else { bail!("a licence is missing") };
        if self.takes("WITH") {
            let Some(exception) = self.words.pop() else { bail!("an exception is missing") };
            licence = format!("{licence} WITH {exception}");
        }
        Ok(self.accepted.contains(&licence))
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.words.last() == Some(&word);
        if found {
            self.words.pop();
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read_with_their_brackets() {
        let accepted = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        let met = |expression| is_met(expression, &accepted).unwrap();
        assert!(met("MIT"));
        assert!(met("GPL-3.0 OR MIT"));
        assert!(met("MIT/Apache-2.0"));
        assert!(met("(GPL-3.0 OR MIT) AND ISC"));
        assert!(met("Apache-2.0 WITH LLVM-exception OR Apache-2.0"));
        assert!(!met("Apache-2.0"));
        assert!(!met("MIT AND GPL-3.0"));
        assert!(!met("GPL-3.0 OR MIT AND MPL-2.0"));
        assert!(is_met("MIT OR", &accepted).is_err());
        assert!(is_met("(MIT", &accepted).is_err());
        assert!(is_met("MIT ISC", &accepted).is_err());
    }
}
