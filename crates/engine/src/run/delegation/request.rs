//! One delegation request: what a call asks for, and whether it is admitted.
//!
//! The checks come in a fixed order: known name, the caller's allow-list, a cycle in the path, depth, budget, and the
//! queue. A refusal is a result that the model can act on.

use std::{fmt, sync::Arc};

use protocol::{AgentKind, AgentSource, ToolCall};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tools::delegation::{self, SpawnAgentInput, SubAgentInput, SubAgentOptions};

use super::budget::Limit;
use crate::{
    agents::{AgentDefinition, NoAgent, definition::DYNAMIC},
    run::context::AgentContext,
};

/// The longest task, in bytes.
const MAX_TASK: usize = 64 << 10;
const MAX_CONTEXT: usize = 64 << 10;

/// What a call asks for.
#[derive(Clone, Debug)]
pub(crate) struct DelegationRequest {
    pub(crate) agent: Arc<AgentDefinition>,
    pub(crate) task: String,
    pub(crate) context: Option<Map<String, Value>>,
    pub(crate) output_schema: Option<Map<String, Value>>,
    pub(crate) background: bool,
    /// Why the agent cannot continue, if its definition was removed after it began.
    pub(crate) gone: Option<String>,
}

/// Why a delegation did not begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// Whether the request itself was right and may succeed later.
    pub(crate) unavailable: bool,
}

impl Refusal {
    fn new(code: &'static str, message: String) -> Self {
        Self { code, message, unavailable: false }
    }

    pub(crate) fn invalid(message: String) -> Self {
        Self { code: "validation_failed", message, unavailable: true }
    }

    pub(crate) fn queue_full(limit: usize) -> Self {
        let message = format!(
            "{limit} sub-agents are waiting already. Wait for results before you delegate more, or do it yourself."
        );
        Self { code: "queue_full", message, unavailable: true }
    }

    /// The refusal as the result of the call.
    pub(crate) fn to_value(&self) -> Value {
        let mut value = json!({ "ok": false, "error": { "code": self.code, "message": self.message } });
        if self.unavailable {
            value["unavailable"] = json!(true);
        }
        value
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unavailable = if self.unavailable { ", unavailable" } else { "" };
        write!(f, "{} ({}{unavailable})", self.message, self.code)
    }
}

/// Reads the call and checks everything but the queue.
pub(crate) fn admit(run: &AgentContext, call: &ToolCall) -> Result<DelegationRequest, Refusal> {
    let request = read(run, call)?;
    if run.position.path.contains(&request.agent.name) {
        return Err(Refusal::new(
            "recursion",
            format!(
                "\"{}\" is already at work above you ({}). Do it yourself, or call another agent.",
                request.agent.name,
                run.position.path.join(" > ")
            ),
        ));
    }
    let deepest = run.position.max_depth;
    if run.position.depth >= deepest {
        return Err(Refusal::new(
            "max_depth",
            format!(
                "Delegation may go {deepest} levels deep, and you are on level {}. Do it yourself.",
                run.position.depth
            ),
        ));
    }
    if let Err(limit) = run.position.budget.room() {
        return Err(over_budget(limit));
    }
    Ok(request)
}

/// Reads the request of a sub-agent that is at work already. If it would be refused now, the sub-agent ends with the reason.
pub(crate) fn read_again(run: &AgentContext, call: &ToolCall) -> DelegationRequest {
    read(run, call).unwrap_or_else(|refusal| {
        let text = |name: &str| call.input.get(name).and_then(Value::as_str).unwrap_or_default();
        DelegationRequest {
            agent: Arc::new(AgentDefinition::bare(AgentKind::Sub, text("name"), "You are gone.")),
            task: text("task").to_owned(),
            context: None,
            output_schema: None,
            background: call.name == delegation::SPAWN_AGENT,
            gone: Some(refusal.message),
        }
    })
}

/// Reads the call, for an agent that exists and may be called.
fn read(run: &AgentContext, call: &ToolCall) -> Result<DelegationRequest, Refusal> {
    let text = |name: &str| call.input.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let request = match call.name.as_str() {
        delegation::SUB_AGENT => {
            let SubAgentInput { name, task, context, options } = parse(&call.input)?;
            named(run, &name, task, context, options.unwrap_or_default(), false)?
        }
        delegation::SPAWN_AGENT => {
            let SpawnAgentInput { name, task, context, options } = parse(&call.input)?;
            named(run, &name, task, context, options.unwrap_or_default(), true)?
        }
        // The opt-in groups for measuring and for conformance: any name, the caller's tools.
        _ => {
            let name =
                Some(text("agent")).filter(|name| !name.is_empty()).unwrap_or_else(|| "worker".to_owned());
            let mut agent = AgentDefinition::bare(AgentKind::Sub, &name, WORKER);
            agent.tools = vec!["*".to_owned()];
            DelegationRequest {
                agent: Arc::new(agent),
                task: text("task"),
                context: None,
                output_schema: None,
                background: false,
                gone: None,
            }
        }
    };
    if request.task.trim().is_empty() {
        return Err(Refusal::invalid("task: must say what is to be done.".to_owned()));
    }
    if request.task.len() > MAX_TASK {
        return Err(Refusal::invalid(format!("task: has {} bytes; at most {MAX_TASK}.", request.task.len())));
    }
    let context = request.context.as_ref().map_or(0, |context| json!(context).to_string().len());
    if context > MAX_CONTEXT {
        return Err(Refusal::invalid(format!("context: has {context} bytes; at most {MAX_CONTEXT}.")));
    }
    Ok(request)
}

const WORKER: &str =
    "You work on one task for another agent. Do it with the tools you have, and answer with the result.";

fn parse<T: DeserializeOwned>(input: &Value) -> Result<T, Refusal> {
    serde_json::from_value(input.clone()).map_err(|error| Refusal::invalid(error.to_string()))
}

fn named(
    run: &AgentContext,
    name: &str,
    task: String,
    context: Option<Map<String, Value>>,
    options: SubAgentOptions,
    background: bool,
) -> Result<DelegationRequest, Refusal> {
    let mode = options.mode.as_deref().or(run.run.options.mode.as_deref());
    let agent = if name.trim() == DYNAMIC {
        dynamic(run, &options)?
    } else {
        let agent = run.services.agents.registry.sub(&run.run.workspace, name).map_err(|error| Refusal {
            code: match error {
                NoAgent::Unknown { .. } => "not_found",
                NoAgent::Disabled(_) => "disabled",
                NoAgent::Unavailable { .. } => "unavailable",
            },
            unavailable: !matches!(error, NoAgent::Unknown { .. }),
            message: error.to_string(),
        })?;
        if !agent.fits(mode, run.run.options.page_id.as_deref()) {
            let message = format!("\"{}\" cannot be used in this mode or on this page.", agent.name);
            return Err(Refusal { code: "unavailable", message, unavailable: true });
        }
        agent
    };
    if !run.agent.definition.may_call(&agent) {
        let whom = if run.agent.tools.callable.is_empty() {
            "nobody".to_owned()
        } else {
            run.agent.tools.callable.join(", ")
        };
        return Err(Refusal::new(
            "not_allowed",
            format!("You may not call \"{}\". You may call: {whom}.", agent.name),
        ));
    }
    let more = run.services.agents.registry.beyond(&run.agent.definition, &agent);
    if agent.source == AgentSource::Database && !more.is_empty() {
        return Err(Refusal::new(
            "not_allowed",
            format!(
                "\"{}\" has tools that you do not have ({}). An agent cannot call one that may do more than itself. \
                 Call another agent, or do it yourself.",
                agent.name,
                more.join(", ")
            ),
        ));
    }
    Ok(DelegationRequest {
        agent,
        task,
        context,
        output_schema: options.output_schema,
        background,
        gone: None,
    })
}

/// An agent that is defined in the call itself; it never has more tools than its caller.
fn dynamic(run: &AgentContext, options: &SubAgentOptions) -> Result<Arc<AgentDefinition>, Refusal> {
    let prompt =
        options.prompt.as_deref().map(str::trim).filter(|prompt| !prompt.is_empty()).unwrap_or(WORKER);
    let mut agent = AgentDefinition::bare(AgentKind::Sub, DYNAMIC, prompt);
    agent.display_name = "Assistant".to_owned();
    for key in options.tools.iter().flatten() {
        if !run.agent.tools.has(key) {
            return Err(Refusal::invalid(format!(
                "options.tools: you do not have \"{key}\" yourself. You have: {}.",
                run.agent.tools.names().join(", ")
            )));
        }
        agent.tools.push(key.clone());
    }
    Ok(Arc::new(agent))
}

pub(crate) fn over_budget(limit: Limit) -> Refusal {
    let what = match limit {
        Limit::Steps => "model calls",
        Limit::Tokens => "tokens",
        Limit::Money => "money",
        Limit::Time => "time",
    };
    let message =
        format!("There is no budget left for this: the limit of {what} is reached. Say what you have.");
    Refusal { code: "over_budget", message, unavailable: true }
}
