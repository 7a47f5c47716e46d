//! The opt-in group `bench`: the tools of the load generator.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    AnyTool, Tool, ToolCtx, ToolError,
    typed::{Family, delegating, erase},
};

pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![erase(Echo, Family::Contract), delegating::<DelegateInput>("delegate", Family::Contract)]
}

/// Give the text back as it is.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The text to give back.
    text: String,
}

/// Hand a task to a sub-agent and wait for its report.
#[derive(Deserialize, JsonSchema)]
pub struct DelegateInput {
    /// What the sub-agent is asked.
    #[serde(rename = "task")]
    _task: String,
}

#[derive(Serialize)]
pub struct Output {
    text: String,
}

pub struct Echo;

impl Tool for Echo {
    const NAME: &'static str = "echo";
    type Input = Input;
    type Output = Output;

    async fn run(&self, _: ToolCtx, input: Input) -> Result<Output, ToolError> {
        Ok(Output { text: input.text })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing;

    #[tokio::test]
    async fn echo_gives_the_text_back() {
        let ctx = testing::ctx(&Arc::default());
        let output = testing::call_in(ctx, erase(Echo, Family::Contract), json!({ "text": "nonce 7" })).await;
        assert_eq!(output, Ok(json!({ "text": "nonce 7" })));
    }
}
