//! Asks a person about calls: with the changes to files that each of them would make.

use std::time::Duration;

use protocol::{FileDiff, ToolCall, ToolOutcome};
use tools::ToolError;

use super::call_files::call_files;
use crate::run::{
    agent_log::AgentLog,
    agent_loop::{
        driver::{AgentWork, RunStop},
        turn::AskedCall,
    },
    context::AgentContext,
};

/// How long the preview of one call may take.
const PREVIEW_TIME: Duration = Duration::from_secs(30);

/// Writes the questions. A call that cannot work fails at once: nobody is asked about it.
pub(crate) async fn ask(work: &mut AgentWork, questions: Vec<AskedCall>) -> Result<(), RunStop> {
    for AskedCall { call, mut question } in questions {
        match preview(&work.context, &work.log, &call).await {
            Ok(files) => {
                question.files = files;
                let approval = work.context.services.ids.approval();
                work.context.tree.agents.asked(approval.clone(), work.inbox.sender());
                work.frame.ask(approval, call, question)?;
            }
            Err(ToolError::Cancelled) => return Err(RunStop::Cancelled),
            Err(error) => {
                if let ToolError::Fatal(source) = &error {
                    tracing::error!(tool = call.name, error = %source, "a preview failed inside");
                }
                work.frame.settle(&call.id, ToolOutcome::Failed { message: error.to_string() })?;
            }
        }
    }
    Ok(())
}

/// The changes to files that the call would make.
async fn preview(run: &AgentContext, log: &AgentLog, call: &ToolCall) -> Result<Vec<FileDiff>, ToolError> {
    let Some(tool) = run.agent.tools.get(&call.name) else { return Ok(Vec::new()) };
    let prepared = tool.prepare(&call.input).map_err(|error| ToolError::Report(error.to_string()))?;
    let files = call_files(run, log, call);
    tokio::select! {
        biased;
        () = run.cancel.cancelled() => Err(ToolError::Cancelled),
        files = prepared.preview(&files) => files,
        () = tokio::time::sleep(PREVIEW_TIME) => {
            Err(ToolError::Report(format!("the changes could not be computed within {PREVIEW_TIME:?}")))
        }
    }
}
