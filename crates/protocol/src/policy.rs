//! Which calls run, which a person is asked about, and which are refused: the rules and the verdict on one call.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    file_change::FileDiff,
    id::{RuleId, SessionId},
    source::Timestamp,
    user_input::InputForm,
};

/// How much is asked about when no rule says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMode {
    /// Every call that reads or changes something outside of the chat.
    Ask,
    /// Calls that change something; reading the workspace is allowed.
    #[default]
    AutoReadOnly,
    /// Sensitive calls only.
    Yolo,
}

impl ApprovalMode {
    pub const ALL: [Self; 3] = [Self::Ask, Self::AutoReadOnly, Self::Yolo];

    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AutoReadOnly => "auto-read-only",
            Self::Yolo => "yolo",
        }
    }
}

/// The calls that a rule covers. A field that is absent, or an empty list, covers everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CallPattern {
    /// Names of tools; `*` stands for any characters.
    #[serde(
        default,
        alias = "tool",
        deserialize_with = "one_or_many",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub tools: Vec<String>,
    /// A glob over paths of files, relative to the work directory: `src/**`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The beginning of a command, word by word. Older logs call it `scope`.
    #[serde(default, alias = "scope", skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl CallPattern {
    /// Every call of one tool.
    pub fn tool(name: &str) -> Self {
        Self { tools: vec![name.to_owned()], path: None, command: None }
    }
}

/// Older logs name one tool.
fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(tool) => vec![tool],
        OneOrMany::Many(tools) => tools,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RuleEffect {
    Allow,
    Ask,
    /// Wins over every other rule.
    Refuse,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    pub id: RuleId,
    pub effect: RuleEffect,
    #[serde(flatten)]
    pub calls: CallPattern,
    /// Why it exists, in the words of the person who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Where a rule applies. A rule of a later layer is stronger, but "refuse" wins in every layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RuleLayer {
    /// In the program.
    BuiltIn,
    /// In the settings of the server.
    Server,
    Workspace,
    Session,
}

/// For how long "always" applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GrantScope {
    #[default]
    Session,
    Workspace,
}

impl GrantScope {
    pub fn is_session(&self) -> bool {
        *self == Self::Session
    }
}

/// What happens to one call: decided once, before it runs, from the tool, its input and the rules in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Run,
    Ask {
        /// A sentence for the person.
        why: String,
        /// The calls that "always" would allow; absent when the call is sensitive.
        grant: Option<CallPattern>,
        /// It is asked about every time, in every mode.
        sensitive: bool,
    },
    /// Nobody can allow it.
    Refuse {
        /// A sentence for the model and the person.
        why: String,
    },
}

/// What a person is told before they answer; stored with the question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// Why the call needs an approval.
    pub why: String,
    /// The calls that "always" would allow. Absent when every call needs an approval of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<CallPattern>,
    /// It is asked about every time, in every mode.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
    /// The files that the call would change, as they were when it was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileDiff>,
    /// What the person is asked to fill in, when this is a request for input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Box<InputForm>>,
}

impl Question {
    /// Asks whether a call may run.
    pub fn approval(why: String) -> Self {
        Self { why, always: None, sensitive: false, files: Vec::new(), form: None }
    }
}

/// A rule as `/api/rules` lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListedRule {
    #[serde(flatten)]
    pub rule: Rule,
    pub layer: RuleLayer,
    /// The chat that the rule belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<SessionId>,
    /// Absent for rules of the program and of the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// Whether `DELETE /api/rules/{id}` revokes it.
    pub revocable: bool,
}

/// `GET /api/rules`: the mode and the rules in force, strongest layer first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuleList {
    pub mode: ApprovalMode,
    pub rules: Vec<ListedRule>,
}

/// `POST /api/rules`: a new rule, for the workspace or for one chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NewRule {
    pub effect: RuleEffect,
    #[serde(flatten)]
    pub calls: CallPattern,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<SessionId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_of_an_older_log_is_read_as_a_pattern() {
        let read = |text: &str| serde_json::from_str::<CallPattern>(text).unwrap();
        assert_eq!(read(r#"{"tool":"shell"}"#), CallPattern::tool("shell"));
        let kind = CallPattern { command: Some("ls".to_owned()), ..CallPattern::tool("shell") };
        assert_eq!(read(r#"{"tool":"shell","scope":"ls"}"#), kind);
        assert_eq!(read(&serde_json::to_string(&kind).unwrap()), kind);
    }
}
