//! `test-approval`: asks for an approval, then does nothing. Shows how approvals look.

use files::FileDomain;
use policy::Need;
use protocol::ToolRisk;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Effect, Tool, ToolCtx, ToolError, instant::iso_utc};

/// Try out an approval: the call waits until the person approves it, then reports when it was approved.
/// It changes nothing. Needs the person's approval.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// A note to show with the question.
    note: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    approved_at: String,
}

const WHY: &str = "This call only shows how approvals look; it changes nothing.";

pub struct TestApproval;

impl Tool for TestApproval {
    const NAME: &'static str = "test-approval";
    type Input = Input;
    type Output = Output;

    /// Behaves like a call with an effect: one approval allows one execution.
    fn effect(&self) -> Effect {
        Effect::SideEffect
    }

    fn risk(&self) -> ToolRisk {
        ToolRisk::Asks
    }

    fn need(&self, _: &Input, _: &FileDomain) -> Need {
        Need::Approval { why: WHY.to_owned(), always: true }
    }

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<Output, ToolError> {
        Ok(Output { ok: true, note: input.note, approved_at: iso_utc(ctx.clock.now())? })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::{Family, erase, testing};

    #[tokio::test]
    async fn it_always_asks_and_tells_when_it_ran() {
        let tool = erase(TestApproval, Family::Host);
        assert_eq!(tool.effect(), Effect::SideEffect);
        for input in [json!({}), json!({ "note": "just try" })] {
            let prepared = Arc::clone(&tool).prepare(&input).unwrap();
            let files = testing::files();
            assert_eq!(prepared.need(&files.domain), Need::Approval { why: WHY.to_owned(), always: true });
        }
        let ctx = testing::ctx(&Arc::default());
        let approved_at = "2026-03-01T12:15:07.089Z";
        assert_eq!(
            testing::call_in(ctx.clone(), Arc::clone(&tool), json!({ "note": "just try" })).await,
            Ok(json!({ "ok": true, "note": "just try", "approvedAt": approved_at }))
        );
        assert_eq!(
            testing::call_in(ctx, tool, json!({ "actionName": "try" })).await,
            Ok(json!({ "ok": true, "approvedAt": approved_at }))
        );
    }

    #[test]
    fn its_schema_is_stable() {
        let tool = erase(TestApproval, Family::Host);
        assert!(tool.spec().description.contains("Needs the person's approval"));
        insta::assert_snapshot!(serde_json::to_string_pretty(&tool.spec().input_schema).unwrap(), @r#"
        {
          "type": "object",
          "properties": {
            "actionName": {
              "type": "string",
              "description": "A short purpose of this call, shown to the person."
            },
            "note": {
              "type": "string",
              "description": "A note to show with the question."
            }
          },
          "required": [
            "actionName"
          ]
        }
        "#);
    }
}
