//! What an acknowledged write survives.

/// What a write survives once it has returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A power loss: what was written is synced to the disk (fsync) before the write returns.
    #[default]
    Power,
    /// The end of this process, even by `kill -9`. A power loss may take the newest writes.
    Process,
}

impl std::str::FromStr for Durability {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "power" => Ok(Self::Power),
            "process" => Ok(Self::Process),
            other => Err(format!("durability must be \"power\" or \"process\", not \"{other}\"")),
        }
    }
}

impl std::fmt::Display for Durability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Power => "power",
            Self::Process => "process",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_durability_is_read_as_it_is_written() {
        for durability in [Durability::Power, Durability::Process] {
            assert_eq!(durability.to_string().parse(), Ok(durability));
        }
        let error = "fast".parse::<Durability>().unwrap_err();
        assert!(error.contains("\"power\" or \"process\""), "{error}");
    }
}
