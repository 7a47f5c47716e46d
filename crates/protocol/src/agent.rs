//! Who wrote a message: what every assistant message carries in `metadata.agent`.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentKind {
    Main,
    Sub,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentRef {
    pub kind: AgentKind,
    pub name: String,
    pub display_name: String,
    pub depth: u32,
    /// The agents from the root to this one.
    pub path: Vec<String>,
}

impl AgentRef {
    pub fn main(name: &str, display_name: &str) -> Self {
        Self {
            kind: AgentKind::Main,
            name: name.to_owned(),
            display_name: display_name.to_owned(),
            depth: 0,
            path: vec![name.to_owned()],
        }
    }

    /// An agent that one with this path delegates to.
    pub fn sub(name: &str, display_name: &str, callers: &[String]) -> Self {
        let mut path = callers.to_vec();
        path.push(name.to_owned());
        Self {
            kind: AgentKind::Sub,
            name: name.to_owned(),
            display_name: display_name.to_owned(),
            depth: u32::try_from(callers.len()).unwrap_or(u32::MAX),
            path,
        }
    }
}
