//! Turns the typed [`Tool`] that authors implement into the [`AnyTool`] of the registry.
//!
//! Schema and check come from the same `Input` type, so the description and the accepted input cannot differ.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use async_trait::async_trait;
use files::FileDomain;
use policy::Need;
use protocol::{FileDiff, ToolRisk, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    AnyTool, Effect, Executor, InputError, PreparedCall, Tool, ToolCtx, ToolError, WorkspaceFiles,
    input::InputSchema,
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

/// A tool by which an agent delegates: this crate only describes it and checks the input.
pub fn delegating<I>(name: &str, family: Family) -> Arc<dyn AnyTool>
where
    I: DeserializeOwned + JsonSchema + Send + Sync + 'static,
{
    external::<I>(name, family, Executor::Delegation)
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

    fn risk(&self) -> ToolRisk {
        self.tool.risk()
    }

    fn one_at_a_time(&self) -> bool {
        self.tool.one_at_a_time()
    }

    fn prepare(self: Arc<Self>, input: &Value) -> Result<Box<dyn PreparedCall>, InputError> {
        let input: T::Input = self.schema.accept(input)?;
        Ok(Box::new(ServerCall { tool: self, input }))
    }
}

/// A call of a tool that runs on the server.
struct ServerCall<T: Tool> {
    tool: Arc<ServerTool<T>>,
    input: T::Input,
}

#[async_trait]
impl<T: Tool> PreparedCall for ServerCall<T> {
    fn need(&self, files: &FileDomain) -> Need {
        self.tool.tool.need(&self.input, files)
    }

    fn time_limit(&self) -> Option<Duration> {
        self.tool.tool.time_limit(&self.input)
    }

    async fn preview(&self, files: &WorkspaceFiles) -> Result<Vec<FileDiff>, ToolError> {
        self.tool.tool.preview(files, &self.input).await
    }

    async fn run(self: Box<Self>, ctx: ToolCtx) -> Result<Value, ToolError> {
        let output = self.tool.tool.run(ctx, self.input).await?;
        serde_json::to_value(output).map_err(|error| ToolError::Fatal(Box::new(error)))
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
            Executor::Delegation | Executor::Loop => Effect::ReadOnly,
            // The front end may have acted before the connection was lost.
            Executor::Client | Executor::Server => Effect::SideEffect,
        }
    }

    fn prepare(self: Arc<Self>, input: &Value) -> Result<Box<dyn PreparedCall>, InputError> {
        let _checked: I = self.schema.accept(input)?;
        let executor = if self.executor == Executor::Client { "the front end" } else { "the engine" };
        Ok(Box::new(ExternalCall { tool: self.schema.spec.name.clone(), executor }))
    }
}

/// A call that somebody else executes: it needs nothing here, and running it here is a defect.
pub struct ExternalCall {
    pub tool: String,
    pub executor: &'static str,
}

#[async_trait]
impl PreparedCall for ExternalCall {
    fn need(&self, _: &FileDomain) -> Need {
        Need::Nothing
    }

    async fn preview(&self, _: &WorkspaceFiles) -> Result<Vec<FileDiff>, ToolError> {
        Ok(Vec::new())
    }

    async fn run(self: Box<Self>, _: ToolCtx) -> Result<Value, ToolError> {
        let Self { tool, executor } = *self;
        Err(ToolError::Fatal(Box::new(NotExecutedHere { tool, executor })))
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

        fn need(&self, input: &Input, _: &FileDomain) -> Need {
            if input.n > 100 {
                Need::Approval { why: "It is a big number.".to_owned(), always: true }
            } else {
                Need::Nothing
            }
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
        let asks = Need::Approval { why: "It is a big number.".to_owned(), always: true };
        let files = testing::files();
        assert_eq!(Arc::clone(&tool).prepare(&json!({ "n": 101 })).unwrap().need(&files.domain), asks);
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
