//! `metadata` of an agent's message: facts about the message that are not content.
//!
//! Events carry facts as a struct; a message holds them as the JSON object that clients read, because clients merge
//! them key by key. The fields are declared in the order in which they have always been written.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::UiMessage;
use crate::{
    agent::AgentRef,
    error_code::ErrorCode,
    event::FinishReason,
    id::{MessageId, SessionId, ToolCallId},
    json,
    source::Timestamp,
    usage::Usage,
};

/// Facts about an agent's message. An event holds those that are new; a message holds all of them, merged.
///
/// Unknown keys and values of another shape are ignored when facts are read, so that no log becomes unreadable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct MessageFacts {
    /// The agent that writes the message.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub agent: Option<AgentRef>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub agent_name: Option<String>,
    /// Of a sub-agent: the same as `chatId`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub agent_id: Option<SessionId>,
    /// Of a sub-agent: the call that delegated to it.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub parent_tool_call_id: Option<ToolCallId>,
    /// Of a sub-agent: the message that delegated to it.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub parent_message_id: Option<MessageId>,
    /// Of a sub-agent: the chat in which it can be followed, stopped and steered.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub chat_id: Option<SessionId>,
    /// The model that answers, as `provider/model`.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub created_at: Option<Timestamp>,
    /// The command that the message carries out; then no model wrote it.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub command: Option<MessageCommand>,
    /// Changes of model in this message, oldest first.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub fallbacks: Option<Vec<Fallback>>,
    /// The limit that ended the work early.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub limit: Option<Limit>,
    /// Why the server stopped the agent.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub stopped: Option<Stopped>,
    /// Calls of this message that are copies of sub-agents' questions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "lenient_map")]
    pub raised_calls: BTreeMap<ToolCallId, RaisedCall>,
    /// Calls whose input a person changed before they ran.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "lenient_map")]
    pub edited_calls: BTreeMap<ToolCallId, EditedCall>,
    /// The answer in the form that the caller asked for.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "json::any_value")]
    pub structured_output: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub error_code: Option<ErrorCode>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub status: Option<MessageStatus>,
    /// Why the model stopped, when the message is finished.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub finish_reason: Option<FinishReason>,
    /// What went wrong, for people.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub error: Option<String>,
    /// Tokens of all model calls of the message.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub usage: Option<Usage>,
    /// US dollars, of the model calls whose price is known.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub cost: Option<f64>,
    /// Tokens of the context window that the last model call used.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "lenient")]
    pub context_tokens: Option<u64>,
}

/// The state of an agent's message. Absent while a main agent works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MessageStatus {
    /// A sub-agent waits for a free slot.
    Queued,
    /// A sub-agent that was queued works.
    Running,
    Finished,
    Cancelled,
    Failed,
}

/// Which limit an agent reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Limit {
    Steps,
    Tokens,
    Money,
    Time,
}

impl Limit {
    /// The spelling in facts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::Time => "time",
        }
    }
}

/// A command that a person sent instead of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MessageCommand {
    pub name: CommandName,
    /// What the person wrote after the command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub wish: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CommandName {
    /// Summarise the older part of the conversation now.
    Compact,
    /// Name the conversation.
    Title,
}

/// A change to another model, because the one before could not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Fallback {
    pub from: String,
    pub to: String,
    pub reason: String,
}

/// Why the server stopped an agent, and which tool it was about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Stopped {
    pub reason: StopReason,
    pub tool: String,
    pub times: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The same call failed several times with the same input.
    RepeatedFailure,
}

/// Where a copied question was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RaisedCall {
    pub agent_name: String,
    pub message_id: MessageId,
    pub tool_call_id: ToolCallId,
}

/// What a person made of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EditedCall {
    pub input: Value,
}

impl MessageFacts {
    /// The fact that a message is in this state.
    pub fn of_status(status: MessageStatus) -> Self {
        Self { status: Some(status), ..Self::default() }
    }

    /// The fact that a person changed the input of a call.
    pub fn of_edit(call: &ToolCallId, input: &Value) -> Self {
        let edited_calls = BTreeMap::from([(call.clone(), EditedCall { input: input.clone() })]);
        Self { edited_calls, ..Self::default() }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads facts out of metadata. What cannot be read is left out.
    pub fn of(metadata: &Value) -> Self {
        Self::deserialize(metadata).unwrap_or_default()
    }

    /// The JSON object that clients read.
    pub fn to_map(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(map)) => map,
            // A struct is an object, and none of its fields can fail.
            _ => Map::new(),
        }
    }

    /// Merges the facts into a message's metadata, as the client does it: objects key by key, everything else replaced.
    pub fn merge_into(&self, metadata: &mut Option<Value>) {
        match metadata {
            Some(Value::Object(into)) => json::merge(into, &self.to_map()),
            other => *other = Some(Value::Object(self.to_map())),
        }
    }

    /// Splits metadata into facts that, merged one after the other, become the same metadata with its keys in the same
    /// order. Struct fields and map entries have one order, the keys of a message the order in which they were added.
    pub fn pieces(metadata: &Map<String, Value>) -> Vec<Self> {
        let mut pieces: Vec<Map<String, Value>> = Vec::new();
        for piece in entries(metadata) {
            if Self::of(&piece.clone().into()).is_empty() {
                continue;
            }
            if let Some(last) = pieces.last_mut() {
                let mut joined = last.clone();
                json::merge(&mut joined, &piece);
                if is_in_order(&joined) {
                    *last = joined;
                    continue;
                }
            }
            pieces.push(piece);
        }
        pieces.into_iter().map(|piece| Self::of(&piece.into())).collect()
    }
}

impl UiMessage {
    /// The facts in the metadata of an agent's message.
    pub fn facts(&self) -> MessageFacts {
        self.metadata.as_ref().map(MessageFacts::of).unwrap_or_default()
    }
}

/// The metadata as objects with one key each; of calls by id, one call each.
fn entries(metadata: &Map<String, Value>) -> impl Iterator<Item = Map<String, Value>> {
    let single = |key: &str, value: Value| Map::from_iter([(key.to_owned(), value)]);
    metadata.iter().flat_map(move |(key, value)| match (key.as_str(), value) {
        ("raisedCalls" | "editedCalls", Value::Object(calls)) => {
            calls.iter().map(|(call, about)| single(key, single(call, about.clone()).into())).collect()
        }
        _ => vec![single(key, value.clone())],
    })
}

/// Whether the keys stand in the order in which the facts are written.
fn is_in_order(metadata: &Map<String, Value>) -> bool {
    let metadata = Value::Object(metadata.clone());
    // Compared as text: two maps are equal whatever the order of their keys.
    let (ours, theirs) =
        (Value::Object(MessageFacts::of(&metadata).to_map()).to_string(), metadata.to_string());
    ours == theirs
}

/// A fact of another shape than ours is none.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

fn lenient_map<'de, D, T>(deserializer: D) -> Result<BTreeMap<ToolCallId, T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let Value::Object(entries) = Value::deserialize(deserializer)? else { return Ok(BTreeMap::new()) };
    let read =
        |(call, value): (String, Value)| Some((ToolCallId::new(call), serde_json::from_value(value).ok()?));
    Ok(entries.into_iter().filter_map(read).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(facts: &MessageFacts) -> String {
        serde_json::to_string(facts).unwrap()
    }

    #[test]
    fn facts_are_written_in_the_order_clients_know() {
        let opened = r#"{"agent":{"kind":"sub","name":"a","displayName":"A","depth":1,"path":["m","a"]},"agentName":"a","agentId":"sub_1","parentToolCallId":"c","parentMessageId":"m","chatId":"sub_1","model":"demo/demo","createdAt":7,"status":"queued"}"#;
        let closed = r#"{"errorCode":"internal","status":"failed","error":"no","usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3,"cachedInputTokens":0,"reasoningTokens":0},"cost":0.0,"contextTokens":9}"#;
        let command = r#"{"command":{"name":"compact","wish":"short"},"fallbacks":[{"from":"a","to":"b","reason":"gone"}],"limit":"steps","stopped":{"reason":"repeated_failure","tool":"t","times":3}}"#;
        let calls = r#"{"raisedCalls":{"c":{"agentName":"a","messageId":"m","toolCallId":"d"}},"editedCalls":{"c":{"input":{"b":1,"a":2}}},"structuredOutput":null}"#;
        for written in [opened, closed, command, calls, "{}"] {
            assert_eq!(text(&serde_json::from_str(written).unwrap()), written);
        }
    }

    #[test]
    fn what_is_unknown_or_of_another_shape_is_left_out() {
        let facts = MessageFacts::of(&json!({ "model": "demo/demo", "status": "dancing", "limit": 3,
            "raisedCalls": { "c": 1 }, "editedCalls": [], "usage": null, "origin": "client" }));
        assert_eq!(text(&facts), r#"{"model":"demo/demo"}"#);
        assert!(MessageFacts::of(&json!("text")).is_empty());
    }

    #[test]
    fn merged_facts_replace_values_and_keep_the_calls_of_before() {
        let mut metadata = None;
        let call = |name: &str| ToolCallId::new(name);
        MessageFacts::of_edit(&call("b"), &json!(1)).merge_into(&mut metadata);
        MessageFacts::of_status(MessageStatus::Queued).merge_into(&mut metadata);
        MessageFacts::of_edit(&call("a"), &json!(2)).merge_into(&mut metadata);
        MessageFacts::of_status(MessageStatus::Running).merge_into(&mut metadata);
        let merged = r#"{"editedCalls":{"b":{"input":1},"a":{"input":2}},"status":"running"}"#;
        assert_eq!(metadata.unwrap().to_string(), merged);
    }

    #[test]
    fn pieces_merge_to_the_same_text() {
        for written in [
            r#"{"agentName":"a","model":"m","limit":"steps","status":"finished","cost":0.25}"#,
            r#"{"agentName":"a","status":"failed","limit":"time","errorCode":"internal","error":"no"}"#,
            r#"{"editedCalls":{"b":{"input":{}},"a":{"input":[]}},"raisedCalls":{"a":{"agentName":"x","messageId":"m","toolCallId":"a"}},"model":"m"}"#,
        ] {
            let metadata: Map<String, Value> = serde_json::from_str(written).unwrap();
            let mut merged = None;
            MessageFacts::pieces(&metadata).iter().for_each(|piece| piece.merge_into(&mut merged));
            assert_eq!(merged.unwrap().to_string(), written);
        }
        let usual: Map<String, Value> =
            serde_json::from_str(r#"{"model":"m","status":"failed","other":1}"#).unwrap();
        assert_eq!(MessageFacts::pieces(&usual).len(), 1);
    }
}
