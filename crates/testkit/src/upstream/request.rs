//! Reads a request: the script, the next step, and the tool results it contains.

use serde_json::Value;

use super::{Act, Script};

#[derive(Debug, PartialEq)]
pub(super) struct Asked {
    pub(super) script: Script,
    /// The user's text, which names the script.
    pub(super) text: String,
    /// The next step.
    pub(super) step: usize,
    /// How many calls the turn has made: new ids are counted from here.
    pub(super) calls: usize,
    /// The id of every call of the turn with the text of its result.
    pub(super) results: Vec<(String, String)>,
}

impl Asked {
    pub(super) fn read(body: &Value) -> Result<Self, String> {
        let messages = body["messages"].as_array().ok_or("the request has no messages")?;
        let role = |message: &Value, role: &str| message["role"] == role;
        let user =
            messages.iter().rposition(|message| role(message, "user")).ok_or("nobody asks anything")?;
        let text = text_of(&messages[user]["content"]).ok_or("the user's message has no text")?;
        let script = Script::find(&text)?;
        let turn = &messages[user + 1..];
        let calls: Vec<&Value> =
            turn.iter().filter_map(|message| message["tool_calls"].as_array()).flatten().collect();
        let results: Vec<(String, String)> = turn
            .iter()
            .filter(|message| role(message, "tool"))
            .map(|message| (own(&message["tool_call_id"]), own(&message["content"])))
            .collect();
        for call in &calls {
            let same = results.iter().filter(|(id, _)| call["id"] == *id.as_str()).count();
            if same != 1 {
                return Err(format!("the call {} has {same} results, not one", call["id"]));
            }
        }
        let is_made = |tool: &str, input: &Value| {
            calls.iter().any(|call| {
                let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
                call["function"]["name"] == tool
                    && serde_json::from_str(arguments).is_ok_and(|made: Value| made == *input)
            })
        };
        let is_over = |acts: &&Vec<Act>| {
            let mut made = acts.iter().filter_map(|act| match act {
                Act::Call { tool, input } => Some(is_made(tool, input)),
                _ => None,
            });
            made.next().is_some_and(|first| first && made.all(|made| made))
        };
        let step = script.steps.iter().take_while(is_over).count();
        Ok(Self { step, calls: calls.len(), results, text, script })
    }
}

fn text_of(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        // The question is between the facts of the turn and what the caller attached.
        Value::Array(parts) => {
            let texts = || parts.iter().rev().filter_map(|part| part["text"].as_str());
            texts().find(|text| Script::find(text).is_ok()).or_else(|| texts().next()).map(str::to_owned)
        }
        _ => None,
    }
}

/// How many images the messages of a request show.
pub(super) fn images(body: &Value) -> usize {
    let messages = body["messages"].as_array().into_iter().flatten();
    let parts = messages.filter_map(|message| message["content"].as_array()).flatten();
    parts.filter(|part| part["type"] == "image_url").count()
}

fn own(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn script() -> Script {
        let call = |text: &str| Act::Call { tool: "echo".to_owned(), input: json!({ "text": text }) };
        Script::new(vec![vec![call("a"), call("b")], vec![Act::Text { text: "done".to_owned() }]])
    }

    fn call(id: &str, arguments: &str) -> Value {
        json!({ "id": id, "type": "function", "function": { "name": "echo", "arguments": arguments } })
    }

    fn result(id: &str) -> Value {
        json!({ "role": "tool", "tool_call_id": id, "content": "x" })
    }

    fn asked(turn: &[Value]) -> Result<Asked, String> {
        let mut messages = vec![json!({ "role": "user", "content": script().text() })];
        messages.extend_from_slice(turn);
        Asked::read(&json!({ "messages": messages }))
    }

    #[test]
    fn a_step_is_over_when_all_its_calls_were_made() {
        assert_eq!(asked(&[]).unwrap().step, 0);
        let both = json!({ "role": "assistant", "tool_calls": [call("1", r#"{"text":"a"}"#), call("2", r#"{"text":"b"}"#)] });
        let two = asked(&[both, result("1"), result("2")]).unwrap();
        assert_eq!((two.step, two.calls, two.results.len()), (1, 2, 2));
    }

    #[test]
    fn a_call_that_was_cut_off_is_made_again_under_another_id() {
        let cut =
            json!({ "role": "assistant", "tool_calls": [call("1", r#"{"text":"a"}"#), call("2", "{}")] });
        let again = asked(&[cut, result("1"), result("2")]).unwrap();
        assert_eq!((again.step, again.calls), (0, 2));
    }

    #[test]
    fn a_call_without_exactly_one_result_is_refused() {
        let open = json!({ "role": "assistant", "tool_calls": [call("1", "{}")] });
        assert!(asked(std::slice::from_ref(&open)).unwrap_err().contains("0 results"));
        assert!(asked(&[open, result("1"), result("1")]).unwrap_err().contains("2 results"));
    }
}
