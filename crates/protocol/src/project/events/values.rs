//! The values inside events of the events surface.

use serde_json::{Value, json};

use crate::{
    error_code::ErrorCode, id::SessionId, policy::Question, tool::ToolCall, usage::Usage,
    user_input::InputForm,
};

/// A call as clients of the OpenAI format know it.
pub(super) fn tool_call(call: &ToolCall) -> Value {
    let function = json!({ "name": call.name, "arguments": call.input.to_string() });
    json!({ "id": call.id, "type": "function", "function": function })
}

/// `tool_confirmation_request`: a sensitive call is asked about every time, so it offers no `approve_always`.
pub(super) fn confirmation(call: &ToolCall, question: Option<&Question>) -> Value {
    let sensitive = question.is_some_and(|question| question.sensitive);
    let always = question.is_some_and(|question| question.always.is_some());
    let mut options = vec![json!({ "value": "approve", "label": "Approve" })];
    if always && !sensitive {
        options.push(
            json!({ "value": "approve_always", "label": "Approve and do not ask again in this session" }),
        );
    }
    options.push(json!({ "value": "reject_with_reply", "label": "Reject with a reason" }));
    options.push(json!({ "value": "reject", "label": "Reject and end the run" }));
    let mut data =
        json!({ "toolCall": tool_call(call), "isSensitive": sensitive, "availableOptions": options });
    if let Some(question) = question {
        data["reason"] = Value::from(question.why.as_str());
        if sensitive {
            data["sensitiveInfo"] = json!({ "pattern": call.name, "description": question.why });
        }
    }
    data
}

/// `user_question_request`: any form as one question, and the form itself for clients that can show it.
pub(super) fn question(call: &ToolCall, form: &InputForm) -> Value {
    let short = form.short_question();
    let mut data = json!({
        "question": short.question, "options": short.options, "multiSelect": short.multi_select,
        "toolCall": tool_call(call),
    });
    if !form.short {
        data["form"] = json!(form);
    }
    data
}

/// What a tool returned, as one text.
pub(super) fn text_of(output: &Value) -> String {
    match output {
        Value::String(text) => text.clone(),
        Value::Object(fields) if fields.len() == 1 => match fields.get("text") {
            Some(Value::String(text)) => text.clone(),
            _ => output.to_string(),
        },
        _ => output.to_string(),
    }
}

pub(super) fn denied(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("The call was rejected: {reason}"),
        None => "The call was rejected.".to_owned(),
    }
}

/// `usage`: the tokens of one model call.
pub(super) fn usage(usage: &Usage, window: Option<u64>) -> Value {
    let mut data = total(usage);
    if usage.cached_input_tokens > 0 {
        data["cached_tokens"] = usage.cached_input_tokens.into();
        data["cache_read_input_tokens"] = usage.cached_input_tokens.into();
    }
    if usage.cache_write_tokens > 0 {
        data["cache_creation_input_tokens"] = usage.cache_write_tokens.into();
    }
    if let Some((percentage, most)) = share(usage, window) {
        data["percentage"] = percentage.into();
        data["maxTokens"] = most.into();
    }
    data
}

/// How much of the context window the call used, in percent, and what the window holds.
pub(super) fn share(usage: &Usage, window: Option<u64>) -> Option<(u64, u64)> {
    let most = window.filter(|most| *most > 0)?;
    let used = usage.input_tokens.saturating_add(usage.output_tokens);
    Some(((used.saturating_mul(100) / most).min(100), most))
}

/// Token counts under both sets of names that clients read.
pub(super) fn total(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "total_tokens": usage.total_tokens,
        "prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens,
    })
}

/// The plan of `update-plan`, one to-do for each step.
pub(super) fn todos(session: &SessionId, plan: &Value) -> Value {
    let steps = plan.get("plan").or_else(|| plan.get("steps")).unwrap_or(plan).as_array();
    let todo = |(index, step): (usize, &Value)| json!({ "id": (index + 1).to_string(), "content": step["step"], "status": step["status"] });
    let todos: Vec<Value> = steps.into_iter().flatten().enumerate().map(todo).collect();
    json!({ "sessionId": session, "todos": todos })
}

/// The code of `error` for a run that failed.
pub(super) fn run_error_code(code: Option<ErrorCode>) -> &'static str {
    match code {
        Some(ErrorCode::UpstreamTimeout) => "upstream_timeout",
        Some(ErrorCode::UpstreamRateLimited) => "upstream_rate_limited",
        _ => "run_failed",
    }
}
