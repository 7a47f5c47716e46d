//! A model that makes the same failing call again and again is stopped. Pure: what counts is the message itself, so a
//! run that comes back after a pause or a crash still knows.

use protocol::{Part, ToolPart, ToolState, UiMessage, json};

use super::frame::CUT_OFF;

/// The same call may fail so often.
const MOST: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stuck {
    pub(crate) tool: String,
    pub(crate) times: usize,
    pub(crate) error: String,
}

impl Stuck {
    /// For the person.
    pub(crate) fn text(&self) -> String {
        let Self { tool, times, error } = self;
        let error = error.trim().trim_end_matches('.');
        format!(
            "I stopped here: the tool \"{tool}\" failed {times} times with the same input, and trying once more would \
             not help. Its last error was: {error}. Tell me what to do differently, or try again later."
        )
    }
}

/// The call of the newest step that has now failed too often with the same input, not counting what came before a
/// success.
pub(crate) fn find(message: &UiMessage) -> Option<Stuck> {
    let step = message.parts.iter().rposition(|part| matches!(part, Part::StepStart))?;
    message.parts[step..].iter().find_map(|part| {
        let Part::Tool(newest) = part else { return None };
        let error = failure(newest)?;
        let input = newest.state.input();
        let mut times = 0;
        for call in message.tool_parts().rev() {
            let same = call.tool == newest.tool
                && match (call.state.input(), input) {
                    (Some(a), Some(b)) => json::same(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                };
            match same {
                true if failure(call).is_some() => times += 1,
                true if call.state.is_settled() && !is_cut_off(call) => break,
                _ => {}
            }
        }
        let stuck = || Stuck { tool: newest.tool.clone(), times, error: error.to_owned() };
        (times >= MOST).then(stuck)
    })
}

/// A call that a restart cut off did not fail: it was never made.
fn failure(call: &ToolPart) -> Option<&str> {
    match &call.state {
        ToolState::OutputError { error_text, .. } if error_text != CUT_OFF => Some(error_text),
        _ => None,
    }
}

fn is_cut_off(call: &ToolPart) -> bool {
    matches!(&call.state, ToolState::OutputError { error_text, .. } if error_text == CUT_OFF)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// One step for each call: its input, and whether it failed.
    fn message(calls: &[(Value, bool)]) -> UiMessage {
        let mut parts = Vec::new();
        for (number, (input, failed)) in calls.iter().enumerate() {
            parts.push(json!({ "type": "step-start" }));
            parts.push(if *failed {
                json!({ "type": "tool-t", "toolCallId": number.to_string(), "state": "output-error",
                        "input": input, "errorText": "no." })
            } else {
                json!({ "type": "tool-t", "toolCallId": number.to_string(), "state": "output-available",
                        "input": input, "output": 1 })
            });
        }
        serde_json::from_value(json!({ "id": "m", "role": "assistant", "parts": parts })).unwrap()
    }

    fn times(calls: &[(Value, bool)]) -> Option<usize> {
        find(&message(calls)).map(|stuck| stuck.times)
    }

    #[test]
    fn the_third_failure_with_the_same_input_is_one_too_many() {
        let fails = |n: i32| (json!({ "n": n, "m": 0 }), true);
        assert_eq!(times(&[fails(1), fails(1)]), None);
        assert_eq!(times(&[fails(1), fails(1), (json!({ "m": 0, "n": 1.0 }), true)]), Some(3));
        assert_eq!(times(&[fails(1), fails(2), fails(1), fails(3), fails(1)]), Some(3));
        assert_eq!(times(&[fails(1), fails(2), fails(3), fails(4)]), None);
    }

    #[test]
    fn a_success_begins_the_count_anew_and_only_the_newest_step_is_looked_at() {
        let (fails, works) = ((json!({}), true), (json!({}), false));
        let (f, w) = (|| fails.clone(), || works.clone());
        assert_eq!(times(&[f(), f(), w(), f(), f()]), None);
        assert_eq!(times(&[f(), f(), f(), w()]), None);
        assert_eq!(times(&[f(), f(), w(), f(), f(), f()]), Some(3));
    }

    #[test]
    fn the_text_says_which_tool_and_why() {
        let text =
            find(&message(&[(json!("x"), true), (json!("x"), true), (json!("x"), true)])).unwrap().text();
        assert!(text.contains("\"t\" failed 3 times") && text.contains("was: no. Tell me"), "{text}");
    }

    #[test]
    fn calls_that_restarts_cut_off_are_no_failures() {
        let mut cut = message(&[(json!({}), true), (json!({}), true), (json!({}), true)]);
        for part in &mut cut.parts {
            if let Part::Tool(ToolPart { state: ToolState::OutputError { error_text, .. }, .. }) = part {
                CUT_OFF.clone_into(error_text);
            }
        }
        assert_eq!(find(&cut), None);
        cut.parts.extend(message(&[(json!({}), true), (json!({}), true)]).parts);
        assert_eq!(find(&cut), None, "two failures only");
        cut.parts.extend(message(&[(json!({}), true)]).parts);
        assert_eq!(find(&cut).map(|stuck| stuck.times), Some(3));
    }
}
