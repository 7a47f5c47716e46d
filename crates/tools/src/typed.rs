//! Turns the typed [`Tool`] that authors implement into the [`AnyTool`] of the registry.
//!
//! Schema and check come from the same `Input` type, so the description and the accepted input cannot differ.

use std::{marker::PhantomData, sync::Arc};

use protocol::ToolSpec;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    AnyTool, Approval, Effect, Executor, InputError, PreparedCall, Tool, ToolError, input::InputSchema,
};

/// The two families of tools; they differ in how strictly arguments are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Our own kebab-case tools: the schema requires `actionName`, arguments are read leniently.
    Host,
    /// Tools with a fixed set of fields: nothing is added to the schema, other arguments are refused.
    Contract,
}

/// A tool that runs on the server.
pub fn erase<T: Tool>(tool: T, family: Family) -> Arc<dyn AnyTool> {
    Arc::new(ServerTool { schema: InputSchema::of::<T::Input>(T::NAME, family), tool })
}

/// A tool that the front end executes: the server only checks the input.
pub fn client_side<I>(name: &str, family: Family) -> Arc<dyn AnyTool>
where
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
{
    external::<I>(name, family, Executor::Client)
}

/// A tool that the agent loop executes: this crate only describes it and checks the input.
pub fn engine_side<I>(name: &str, family: Family) -> Arc<dyn AnyTool>
where
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
{
    external::<I>(name, family, Executor::Engine)
}

fn external<I>(name: &str, family: Family, executor: Executor) -> Arc<dyn AnyTool>
where
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
{
    Arc::new(ExternalTool::<I> { schema: InputSchema::of::<I>(name, family), executor, input: PhantomData })
}

struct ServerTool<T> {
    tool: T,
    schema: InputSchema,
}

impl<T: Tool> AnyTool for ServerTool<T> {
    fn spec(&self) -> &ToolSpec {
        &self.schema.spec
    }

    fn executor(&self) -> Executor {
        Executor::Server
    }

    fn family(&self) -> Family {
        self.schema.family
    }

    fn effect(&self) -> Effect {
        self.tool.effect()
    }

    fn one_at_a_time(&self) -> bool {
        self.tool.one_at_a_time()
    }

    fn prepare(self: Arc<Self>, input: &Value) -> Result<PreparedCall, InputError> {
        let input: T::Input = self.schema.accept(input)?;
        let approval = self.tool.approval(&input);
        let run = move |ctx| {
            let work = async move {
                let output = self.tool.run(ctx, input).await?;
                serde_json::to_value(output).map_err(|error| ToolError::Fatal(Box::new(error)))
            };
            Box::pin(work) as _
        };
        Ok(PreparedCall { approval, run: Box::new(run) })
    }
}

/// A tool that is described and checked here, and executed by the front end or the agent loop.
struct ExternalTool<I> {
    schema: InputSchema,
    executor: Executor,
    input: PhantomData<fn() -> I>,
}

impl<I: DeserializeOwned + 'static> AnyTool for ExternalTool<I> {
    fn spec(&self) -> &ToolSpec {
        &self.schema.spec
    }

    fn executor(&self) -> Executor {
        self.executor
    }

    fn family(&self) -> Family {
        self.schema.family
    }

    fn effect(&self) -> Effect {
        match self.executor {
            // What it started is in the log and is resumed.
            Executor::Engine => Effect::ReadOnly,
            // The front end may have acted before the connection was lost.
            Executor::Client | Executor::Server => Effect::SideEffect,
        }
    }

    fn prepare(self: Arc<Self>, input: &Value) -> Result<PreparedCall, InputError> {
        let _checked: I = self.schema.accept(input)?;
        let refuse = move |_| {
            let executor = if self.executor == Executor::Engine { "the agent loop" } else { "the front end" };
            let error = NotExecutedHere { tool: self.schema.spec.name.clone(), executor };
            Box::pin(async move { Err(ToolError::Fatal(Box::new(error))) }) as _
        };
        Ok(PreparedCall { approval: Approval::NotNeeded, run: Box::new(refuse) })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("`{tool}` is executed by {executor}, not by the server")]
struct NotExecutedHere {
    tool: String,
    executor: &'static str,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Limits, Outcome, ToolCtx, execute, testing};

    /// Double a number.
    #[derive(serde::Deserialize, JsonSchema)]
    struct Input {
        /// The number.
        n: i64,
    }

    struct Double;

    impl Tool for Double {
        const NAME: &'static str = "double";
        type Input = Input;
        type Output = i64;

        fn approval(&self, input: &Input) -> Approval {
            if input.n > 100 { Approval::ask("It is a big number.") } else { Approval::NotNeeded }
        }

        async fn run(&self, _: ToolCtx, input: Input) -> Result<i64, ToolError> {
            Ok(input.n * 2)
        }
    }

    #[tokio::test]
    async fn an_erased_tool_has_the_spec_the_check_and_the_work_of_the_typed_one() {
        let tool = erase(Double, Family::Host);
        assert_eq!(
            *tool.spec(),
            ToolSpec {
                name: "double".to_owned(),
                description: "Double a number.".to_owned(),
                input_schema: json!({
                    "type": "object",
                    "properties": {
                        "actionName": {
                            "type": "string",
                            "description": "A short purpose of this call, shown to the person."
                        },
                        "n": { "description": "The number.", "type": "integer" },
                    },
                    "required": ["actionName", "n"],
                }),
            }
        );
        assert_eq!(tool.executor(), Executor::Server);
        let asks = Approval::ask("It is a big number.");
        assert_eq!(Arc::clone(&tool).prepare(&json!({ "n": 101 })).unwrap().approval, asks);
        let shown = Arc::default();
        assert_eq!(testing::call_in(testing::ctx(&shown), tool, json!({ "n": 21 })).await, Ok(json!(42)));
    }

    #[tokio::test]
    async fn a_client_side_tool_checks_its_input_and_never_runs_here() {
        let tool = client_side::<Input>("pick", Family::Contract);
        assert_eq!((tool.executor(), tool.effect()), (Executor::Client, Effect::SideEffect));
        assert!(Arc::clone(&tool).prepare(&json!({ "n": "x" })).is_err());
        let prepared = tool.prepare(&json!({ "n": 1 })).unwrap();
        let outcome = execute(prepared, testing::ctx(&Arc::default()), Limits::default()).await;
        let Outcome::Defect(source) = outcome else { panic!("{outcome:?}") };
        assert_eq!(source.to_string(), "`pick` is executed by the front end, not by the server");
    }
}
