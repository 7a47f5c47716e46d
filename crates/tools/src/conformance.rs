//! The opt-in group `conformance`: the tools that the conformance suite expects. The suite defines their names and fields.
//! Delegation is described here and executed by the engine.

use std::sync::Arc;

use files::FileDomain;
use policy::Need;
use protocol::ToolRisk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AnyTool, Effect, Tool, ToolCtx, ToolError,
    typed::{Family, client_side, delegating, erase},
};

pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![
        erase(ConfEcho, Family::Contract),
        erase(ConfFail, Family::Contract),
        erase(ConfApprove, Family::Contract),
        client_side::<Question>("conf_client", Family::Contract),
        delegating::<DelegateInput>("conf_delegate", Family::Contract),
    ]
}

/// Give the text back at once.
#[derive(Deserialize, JsonSchema)]
pub struct EchoInput {
    /// The text to give back.
    text: String,
}

/// Fail, whatever the text is.
#[derive(Deserialize, JsonSchema)]
pub struct FailInput {
    /// Appears in the error.
    text: String,
}

/// Give the text back after the person approved the call.
#[derive(Deserialize, JsonSchema)]
pub struct ApproveInput {
    /// The text to give back.
    text: String,
}

/// Ask the person a question; the front end sends the answer.
#[derive(Deserialize, JsonSchema)]
pub struct Question {
    /// The question to show.
    #[serde(rename = "question")]
    _question: String,
}

/// Hand a task to a sub-agent of the given name and wait for its report.
#[derive(Deserialize, JsonSchema)]
pub struct DelegateInput {
    /// What the sub-agent is called.
    #[serde(rename = "agent")]
    _agent: String,
    /// What it is asked, word for word.
    #[serde(rename = "task")]
    _task: String,
}

#[derive(Serialize)]
pub struct Output {
    echoed: String,
}

pub struct ConfEcho;

impl Tool for ConfEcho {
    const NAME: &'static str = "conf_echo";
    type Input = EchoInput;
    type Output = Output;

    async fn run(&self, _: ToolCtx, input: EchoInput) -> Result<Output, ToolError> {
        Ok(Output { echoed: input.text })
    }
}

pub struct ConfFail;

impl Tool for ConfFail {
    const NAME: &'static str = "conf_fail";
    type Input = FailInput;
    type Output = Output;

    async fn run(&self, _: ToolCtx, input: FailInput) -> Result<Output, ToolError> {
        Err(ToolError::Report(format!("conf_fail refuses: {}", input.text)))
    }
}

const WHY: &str = "The call repeats a text after you allowed it.";

pub struct ConfApprove;

impl Tool for ConfApprove {
    const NAME: &'static str = "conf_approve";
    type Input = ApproveInput;
    type Output = Output;

    fn effect(&self) -> Effect {
        Effect::SideEffect
    }

    fn risk(&self) -> ToolRisk {
        ToolRisk::Asks
    }

    fn need(&self, _: &ApproveInput, _: &FileDomain) -> Need {
        Need::Approval { why: WHY.to_owned(), always: true }
    }

    async fn run(&self, _: ToolCtx, input: ApproveInput) -> Result<Output, ToolError> {
        Ok(Output { echoed: input.text })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Executor, Registry, registry::Group, testing};

    async fn call(name: &str) -> Result<serde_json::Value, String> {
        let tool = Registry::builtin(&[Group::Conformance]).unwrap().get(name).unwrap();
        testing::call_in(testing::ctx(&Arc::default()), tool, json!({ "text": "violin" })).await
    }

    #[tokio::test]
    async fn the_roles_behave_as_the_suite_expects() {
        assert_eq!(call("conf_echo").await, Ok(json!({ "echoed": "violin" })));
        assert_eq!(call("conf_approve").await, Ok(json!({ "echoed": "violin" })));
        assert_eq!(call("conf_fail").await, Err("conf_fail refuses: violin".to_owned()));
        let asking = |input| ConfApprove.need(&input, &testing::files().domain);
        let asks = Need::Approval { why: WHY.to_owned(), always: true };
        assert_eq!(asking(ApproveInput { text: String::new() }), asks);
    }

    #[test]
    fn their_schemas_are_exact() {
        let text = |description| {
            json!({
                "type": "object",
                "properties": { "text": { "description": description, "type": "string" } },
                "required": ["text"],
                "additionalProperties": false,
            })
        };
        let question = json!({
            "type": "object",
            "properties": { "question": { "description": "The question to show.", "type": "string" } },
            "required": ["question"],
            "additionalProperties": false,
        });
        let delegate = json!({
            "type": "object",
            "properties": {
                "agent": { "description": "What the sub-agent is called.", "type": "string" },
                "task": { "description": "What it is asked, word for word.", "type": "string" },
            },
            "required": ["agent", "task"],
            "additionalProperties": false,
        });
        let expected = [
            text("The text to give back."),
            text("Appears in the error."),
            text("The text to give back."),
            question,
            delegate,
        ];
        let tools = tools();
        assert_eq!(tools.iter().map(|tool| tool.spec().input_schema.clone()).collect::<Vec<_>>(), expected);
        assert_eq!((tools[3].executor(), tools[4].executor()), (Executor::Client, Executor::Delegation));
    }
}
