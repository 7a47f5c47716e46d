//! The response of `GET /api/usage`: tokens and cost by agent, model and time.

use serde::{Deserialize, Serialize};

use crate::usage::Usage;

/// How calls are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupBy {
    #[default]
    Day,
    Model,
    /// The path of agents, as in `general/search`.
    Agent,
    Session,
    Run,
    Message,
}

impl GroupBy {
    pub const ALL: [Self; 6] = [Self::Day, Self::Model, Self::Agent, Self::Session, Self::Run, Self::Message];

    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Model => "model",
            Self::Agent => "agent",
            Self::Session => "session",
            Self::Run => "run",
            Self::Message => "message",
        }
    }
}

impl std::str::FromStr for GroupBy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|by| by.name() == name).ok_or_else(|| {
            format!("\"{name}\" is nothing to group by; there are {}", Self::ALL.map(Self::name).join(", "))
        })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsageReport {
    pub by: GroupBy,
    /// The time zone of the days.
    pub timezone: String,
    pub total: Spent,
    /// Newest first.
    pub groups: Vec<SpentGroup>,
    /// There are more groups than these; the total counts them all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpentGroup {
    pub key: String,
    #[serde(flatten)]
    pub spent: Spent,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    pub calls: u64,
    /// The calls that broke off.
    pub failed_calls: u64,
    pub usage: Usage,
    /// US dollars, of the calls whose price is known.
    pub cost: f64,
    /// Calls whose price is not known.
    pub unpriced_calls: u64,
    pub duration_ms: u64,
}
