//! The script of the model, written into the user's message.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The script follows this mark, to the end of the user's text.
const MARK: &str = "script: ";

/// One list of acts per model call; after a list with tool calls comes the next list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// The pause between two deltas.
    pub pace_ms: u64,
    /// Characters in a delta.
    pub piece: usize,
    pub steps: Vec<Vec<Act>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum Act {
    Reason {
        text: String,
    },
    Text {
        text: String,
    },
    /// This many bytes of text, without having them in the script.
    Fill {
        bytes: usize,
    },
    /// Calls of one step are made together. No two calls of a script may have the same tool and input.
    Call {
        tool: String,
        input: Value,
    },
    /// Sends nothing for this long.
    Stall {
        ms: u64,
    },
    /// Closes the connection here, the first this many times.
    Cut {
        first: u32,
    },
    /// Answers with this status instead, the first this many times.
    Fail {
        status: u16,
        first: u32,
    },
}

impl Script {
    pub fn new(steps: Vec<Vec<Act>>) -> Self {
        Self { pace_ms: 0, piece: 8, steps }
    }

    /// The text to send as a user.
    pub fn text(&self) -> String {
        format!("{MARK}{}", serde_json::to_string(self).unwrap())
    }

    /// The script in a user's text.
    pub(super) fn find(text: &str) -> Result<Self, String> {
        let (_, script) =
            text.split_once(MARK).ok_or("there is no script in the last message of the user")?;
        serde_json::from_str(script).map_err(|error| format!("the script cannot be read: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_script_survives_the_way_through_a_message() {
        let script = Script::new(vec![
            vec![Act::Call { tool: "conf_echo".to_owned(), input: json!({ "text": "äß" }) }],
            vec![Act::Text { text: "done".to_owned() }, Act::Cut { first: 1 }],
        ]);
        assert_eq!(Script::find(&format!("Please. {}", script.text())), Ok(script));
        assert!(Script::find("hello").unwrap_err().contains("no script"));
        assert!(Script::find("script: {").unwrap_err().contains("cannot be read"));
    }
}
