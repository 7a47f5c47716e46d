//! Recognises the refusal of a request that is longer than the model's context window.
//!
//! There is no status code for it: each server has its own message, so the message is searched.

use crate::model::ModelError;

/// The request is longer than the context window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// The size of the window in tokens, if the message contains it.
    pub limit: Option<u64>,
}

/// Parts of the messages of servers, in lower case.
const MESSAGES: [&str; 16] = [
    "context length",
    "context_length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "too many tokens",
    "too many input tokens",
    "input token count",
    "maximum number of tokens",
    "reduce the length of the messages",
    "exceeds the model's maximum",
    "maximum prompt length",
    "request_too_large",
];

/// The texts that precede the limit.
const LIMIT_PREFIXES: [&str; 8] = [
    "maximum context length is ",
    "maximum context length of ",
    "context window of ",
    "context size (",
    "tokens > ",
    "maximum number of tokens allowed (",
    "maximum prompt length is ",
    "limit of ",
];

impl ModelError {
    /// Returns `Some` if the request is too long for the model.
    pub fn too_long(&self) -> Option<TooLong> {
        let message = match self.cause() {
            Self::Refused { status: 400 | 413 | 422, message } => message,
            // Some local servers report it as an internal error.
            Self::Failed { status: 500, message } => message,
            _ => return None,
        };
        let message = message.to_lowercase();
        MESSAGES.iter().any(|part| message.contains(part)).then(|| TooLong { limit: limit(&message) })
    }
}

fn limit(message: &str) -> Option<u64> {
    LIMIT_PREFIXES.iter().find_map(|prefix| {
        let (_, rest) = message.split_once(prefix)?;
        let digits: String = rest
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == ',')
            .filter(char::is_ascii_digit)
            .collect();
        digits.parse().ok().filter(|limit| *limit > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(message: &str) -> ModelError {
        ModelError::Refused { status: 400, message: message.to_owned() }
    }

    #[test]
    fn every_servers_words_are_understood() {
        for (message, limit) in [
            (
                "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. \
                 Please reduce the length of the messages.",
                Some(8_192),
            ),
            ("prompt is too long: 215000 tokens > 200000 maximum", Some(200_000)),
            (
                "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
                Some(1_048_576),
            ),
            ("the request exceeds the available context size (4,096 tokens), try increasing it", Some(4_096)),
            ("Your input exceeds the context window of this model.", None),
            (
                "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
                Some(131_072),
            ),
            ("Input is too long for requested model.", None),
        ] {
            assert_eq!(refused(message).too_long(), Some(TooLong { limit }), "{message}");
        }
    }

    #[test]
    fn other_refusals_are_not_taken_for_it() {
        assert_eq!(refused("max_tokens is too large: 900000").too_long(), None);
        assert_eq!(refused("The model `x` does not exist").too_long(), None);
        let limited = ModelError::RateLimited { retry_after: None };
        assert_eq!(limited.too_long(), None);
        let explained = ModelError::Explained {
            text: "too long".to_owned(),
            error: Box::new(refused("prompt is too long: 2 tokens > 1 maximum")),
        };
        assert_eq!(explained.too_long(), Some(TooLong { limit: Some(1) }));
    }
}
