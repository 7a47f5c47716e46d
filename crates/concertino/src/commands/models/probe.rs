//! Tests a model with one short question: whether it answers and how fast, and if not, why.

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Result;
use futures::StreamExt;
use models::{Model, ModelError, ModelEvent, ModelMessage, ModelRequest, UserContent};
use protocol::Usage;

use crate::output;

/// The longest wait for the whole answer; a large local model may have to be loaded first.
const TIMEOUT: Duration = Duration::from_secs(120);
const MAX_SHOWN_CHARS: usize = 80;

struct ProbeAnswer {
    text: String,
    /// Time until the first token.
    first_token: Duration,
    total: Duration,
    usage: Usage,
}

/// Asks the model and prints the result. The exit code says whether it answered.
pub(crate) async fn report(model: &dyn Model) -> Result<ExitCode> {
    output::line(format_args!("asking {} one question …", model.name()))?;
    match probe(model).await {
        Ok(answer) => {
            let shown: String = answer.text.trim().chars().take(MAX_SHOWN_CHARS).collect();
            output::line(format_args!("  answer: {}", shown.replace('\n', " ")))?;
            output::line(format_args!(
                "  first token after {} ms, complete after {} ms",
                answer.first_token.as_millis(),
                answer.total.as_millis()
            ))?;
            if !answer.usage.is_empty() {
                let usage = &answer.usage;
                output::line(format_args!(
                    "  {} input tokens, {} output tokens",
                    usage.input_tokens, usage.output_tokens
                ))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(problem) => {
            output::line(format_args!("  no answer: {problem}"))?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The error is a sentence for the person at the terminal.
async fn probe(model: &dyn Model) -> Result<ProbeAnswer, String> {
    match tokio::time::timeout(TIMEOUT, ask(model)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("the answer was not complete after {} seconds", TIMEOUT.as_secs())),
    }
}

async fn ask(model: &dyn Model) -> Result<ProbeAnswer, ModelError> {
    let question = UserContent::Text("Answer with the single word: ready".to_owned());
    let request = ModelRequest {
        system: "This is a test of the connection.".into(),
        messages: vec![Arc::new(ModelMessage::User { content: vec![question] })],
        ..ModelRequest::default()
    };
    let started = Instant::now();
    let mut stream = model.stream(request);
    let mut first_token = None;
    let mut answer = ProbeAnswer {
        text: String::new(),
        first_token: Duration::ZERO,
        total: Duration::ZERO,
        usage: Usage::default(),
    };
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Text(text) => {
                first_token.get_or_insert_with(|| started.elapsed());
                answer.text.push_str(&text);
            }
            ModelEvent::Usage(usage) => answer.usage += usage,
            ModelEvent::Reasoning(_) => {
                first_token.get_or_insert_with(|| started.elapsed());
            }
            _ => {}
        }
    }
    answer.total = started.elapsed();
    answer.first_token = first_token.unwrap_or(answer.total);
    Ok(answer)
}
