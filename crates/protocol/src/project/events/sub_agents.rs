//! Sub-agents as the events surface tells them: what they were given, their calls and results, and how each ended. Their
//! text is not passed on as it grows; the result has it whole.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::values;
use crate::{
    event::{FrameEnd, SegmentKind, SessionEvent, ToolOutcome},
    id::{MessageId, ToolCallId},
    source::Timestamp,
};

/// Time between two reports of one sub-agent's use of its context window, in milliseconds.
const USAGE_INTERVAL: i64 = 1_200;

#[derive(Default)]
pub(super) struct SubAgents {
    working: HashMap<MessageId, SubAgent>,
}

struct SubAgent {
    /// Who it is, the same in every event.
    about: Value,
    instance: Value,
    /// What it has written since its last call.
    text: String,
    calls: HashMap<ToolCallId, String>,
    reported_usage: Option<Timestamp>,
}

impl SubAgents {
    /// Folds an event of a sub-agent's message; returns the `data` of what clients are told.
    pub(super) fn take(&mut self, event: &SessionEvent, at: Timestamp) -> Vec<Value> {
        let Some(message) = event.message() else { return Vec::new() };
        if let SessionEvent::FrameOpened { metadata, parent: Some(parent), .. } = event {
            let agent = metadata.agent.as_ref();
            let id = agent.map_or("", |agent| agent.name.as_str());
            let name = agent.map_or(id, |agent| agent.display_name.as_str());
            let about = json!({
                "agentId": id, "agentName": name, "instanceId": parent.chat, "parentToolCallId": parent.call,
                "depth": agent.map_or(1, |agent| agent.depth),
            });
            let spawned = json!({
                "type": "agent_spawned", "spawnedAgentId": id, "spawnedAgentName": name,
                "spawnedInstanceId": parent.chat, "spawnedPrompt": parent.task,
            });
            let agent = SubAgent {
                instance: json!(parent.chat),
                about,
                text: String::new(),
                calls: HashMap::new(),
                reported_usage: None,
            };
            let told = vec![agent.tell(spawned)];
            self.working.insert(message.clone(), agent);
            return told;
        }
        let Some(agent) = self.working.get_mut(message) else { return Vec::new() };
        let told = agent.take(event, at);
        if matches!(event, SessionEvent::FrameClosed { .. }) {
            self.working.remove(message);
        }
        told
    }
}

impl SubAgent {
    fn tell(&self, message: Value) -> Value {
        let mut data = self.about.clone();
        data["message"] = message;
        data
    }

    fn take(&mut self, event: &SessionEvent, at: Timestamp) -> Vec<Value> {
        match event {
            SessionEvent::SegmentDelta { kind: SegmentKind::Text, delta, .. } => {
                self.text.push_str(delta);
                Vec::new()
            }
            SessionEvent::ToolRequested { call, .. } => {
                self.text.clear();
                self.calls.insert(call.id.clone(), call.name.clone());
                vec![self.tell(json!({ "type": "tool_calls", "tool_calls": [values::tool_call(call)] }))]
            }
            SessionEvent::ToolRejected { call, tool, error, .. } => {
                self.calls.insert(call.clone(), tool.clone());
                self.result(call, error.clone())
            }
            SessionEvent::ToolSettled { call, outcome, .. } => {
                let content = match outcome {
                    ToolOutcome::Done { output } => values::text_of(output),
                    ToolOutcome::Failed { message } => message.clone(),
                    ToolOutcome::Denied { reason } => values::denied(reason.as_deref()),
                };
                self.result(call, content)
            }
            SessionEvent::ModelCalled { usage, window, .. } => {
                let Some((percentage, most)) = values::share(usage, *window) else { return Vec::new() };
                let is_due = self.reported_usage.is_none_or(|last| at.0 - last.0 >= USAGE_INTERVAL);
                if !is_due && percentage < 100 {
                    return Vec::new();
                }
                self.reported_usage = Some(at);
                vec![self.tell(json!({
                    "type": "context_usage", "percentage": percentage, "inputTokens": usage.input_tokens, "maxTokens": most,
                }))]
            }
            SessionEvent::FrameClosed { end, .. } => {
                let (status, content) = match end {
                    FrameEnd::Finished { .. } => ("success", std::mem::take(&mut self.text)),
                    FrameEnd::Cancelled => ("cancelled", std::mem::take(&mut self.text)),
                    FrameEnd::Failed { message } => ("error", message.clone()),
                };
                let instance = self.instance.clone();
                let completed = json!({ "type": "spawned_agent_completed", "spawnedInstanceId": instance, "status": status });
                vec![
                    self.tell(json!({ "type": "subagent_result", "content": content, "status": status })),
                    self.tell(completed),
                    self.tell(json!({ "type": "done" })),
                ]
            }
            _ => Vec::new(),
        }
    }

    fn result(&mut self, call: &ToolCallId, content: String) -> Vec<Value> {
        let Some(name) = self.calls.remove(call) else { return Vec::new() };
        let message =
            json!({ "type": "tool_result", "tool_call_id": call, "tool_name": name, "content": content });
        vec![self.tell(message)]
    }
}
