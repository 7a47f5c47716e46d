//! One short question to a model: does it answer, how fast, and if not, what to do.

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::StreamExt;
use models::{Model, ModelError, ModelEvent, ModelMessage, ModelRequest, UserContent};
use protocol::Usage;

/// A question must be answered in this time; a large local model may have to be loaded first.
const PATIENCE: Duration = Duration::from_secs(120);
const LONGEST_SHOWN: usize = 80;

pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) first_word: Duration,
    pub(crate) whole: Duration,
    pub(crate) usage: Usage,
}

/// Says on standard output what came of it.
pub(crate) async fn report(model: &dyn Model) -> ExitCode {
    println!("asking {} one question …", model.name());
    match try_out(model).await {
        Ok(answer) => {
            let shown: String = answer.text.trim().chars().take(LONGEST_SHOWN).collect();
            println!("  it answered: {}", shown.replace('\n', " "));
            println!(
                "  first word after {} ms, all after {} ms",
                answer.first_word.as_millis(),
                answer.whole.as_millis()
            );
            if !answer.usage.is_empty() {
                println!("  {} tokens in, {} out", answer.usage.input_tokens, answer.usage.output_tokens);
            }
            ExitCode::SUCCESS
        }
        Err(problem) => {
            println!("  it did not answer: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// An error is a sentence that says what to do.
pub(crate) async fn try_out(model: &dyn Model) -> Result<Answer, String> {
    match tokio::time::timeout(PATIENCE, ask(model)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("there was no whole answer after {} seconds", PATIENCE.as_secs())),
    }
}

async fn ask(model: &dyn Model) -> Result<Answer, ModelError> {
    let question = UserContent::Text("Answer with the single word: ready".to_owned());
    let request = ModelRequest {
        system: "This is a test of the connection.".into(),
        messages: vec![Arc::new(ModelMessage::User { content: vec![question] })],
        ..ModelRequest::default()
    };
    let started = Instant::now();
    let mut stream = model.stream(request);
    let mut first_word = None;
    let mut answer = Answer {
        text: String::new(),
        first_word: Duration::ZERO,
        whole: Duration::ZERO,
        usage: Usage::default(),
    };
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Text(text) => {
                first_word.get_or_insert_with(|| started.elapsed());
                answer.text.push_str(&text);
            }
            ModelEvent::Usage(usage) => answer.usage += usage,
            ModelEvent::Reasoning(_) => {
                first_word.get_or_insert_with(|| started.elapsed());
            }
            _ => {}
        }
    }
    answer.whole = started.elapsed();
    answer.first_word = first_word.unwrap_or(answer.whole);
    Ok(answer)
}
