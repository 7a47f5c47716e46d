//! `count-text`: counts the words, characters and lines of a text. Never asks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Tool, ToolCtx, ToolError};

/// Count the words, characters and lines of a text. Use it instead of counting yourself.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The text to count.
    text: String,
    /// Count only the lines that contain this word. Default: every line.
    containing: Option<String>,
}

#[derive(Serialize)]
pub struct Output {
    words: usize,
    characters: usize,
    lines: usize,
}

pub struct CountText;

impl Tool for CountText {
    const NAME: &'static str = "count-text";
    type Input = Input;
    type Output = Output;

    async fn run(&self, _: ToolCtx, input: Input) -> Result<Output, ToolError> {
        let word = input.containing.unwrap_or_default();
        let lines: Vec<&str> = input.text.lines().filter(|line| line.contains(&word)).collect();
        if lines.is_empty() && !word.is_empty() {
            return Err(ToolError::Report(format!("no line contains \"{word}\"; leave `containing` out")));
        }
        Ok(Output {
            words: lines.iter().map(|line| line.split_whitespace().count()).sum(),
            characters: lines.iter().map(|line| line.chars().count()).sum(),
            lines: lines.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::{Family, erase, testing};

    async fn call(input: Value) -> Result<Value, String> {
        testing::call_in(testing::ctx(&Arc::default()), erase(CountText, Family::Host), input).await
    }

    #[tokio::test]
    async fn words_characters_and_lines_are_counted() {
        let input = json!({ "actionName": "count", "text": "one two\nthree" });
        assert_eq!(call(input).await, Ok(json!({ "words": 3, "characters": 12, "lines": 2 })));
    }

    #[tokio::test]
    async fn the_model_reads_why_nothing_was_counted() {
        let input = json!({ "actionName": "count", "text": "one two", "containing": "four" });
        let error = call(input).await.unwrap_err();
        assert_eq!(error, "no line contains \"four\"; leave `containing` out");
    }
}
