//! Stops a model that makes the same failing call again and again. Pure: the count comes from the message itself, so it
//! survives a pause or a crash.

use std::collections::HashSet;

use protocol::{Part, ToolCallId, ToolPart, ToolState, UiMessage, json};

use crate::run::frame::Frame;

/// The same call may fail so often.
const MOST: usize = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepeatedFailure {
    pub(crate) tool: String,
    pub(crate) times: usize,
    pub(crate) error: String,
}

impl RepeatedFailure {
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
pub(crate) fn find(frame: &Frame) -> Option<RepeatedFailure> {
    find_in(frame.message(), frame.cut_off())
}

/// A call of `cut_off` did not fail: it was never made.
fn find_in(message: &UiMessage, cut_off: &HashSet<ToolCallId>) -> Option<RepeatedFailure> {
    let step = message.parts.iter().rposition(|part| matches!(part, Part::StepStart))?;
    message.parts[step..].iter().find_map(|part| {
        let Part::Tool(newest) = part else { return None };
        let error = failure(newest).filter(|_| !cut_off.contains(&newest.call))?;
        let input = newest.state.input();
        let mut times = 0;
        for call in message.tool_parts().rev() {
            let same = call.tool == newest.tool
                && match (call.state.input(), input) {
                    (Some(a), Some(b)) => json::same(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                };
            match same {
                true if cut_off.contains(&call.call) => {}
                true if failure(call).is_some() => times += 1,
                true if call.state.is_settled() => break,
                _ => {}
            }
        }
        let failure = || RepeatedFailure { tool: newest.tool.clone(), times, error: error.to_owned() };
        (times >= MOST).then(failure)
    })
}

fn failure(call: &ToolPart) -> Option<&str> {
    match &call.state {
        ToolState::OutputError { error_text, .. } => Some(error_text),
        _ => None,
    }
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
        find_in(&message(calls), &HashSet::new()).map(|failure| failure.times)
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
        let failing = message(&[(json!("x"), true), (json!("x"), true), (json!("x"), true)]);
        let text = find_in(&failing, &HashSet::new()).unwrap().text();
        assert!(text.contains("\"t\" failed 3 times") && text.contains("was: no. Tell me"), "{text}");
    }

    #[test]
    fn calls_that_restarts_cut_off_are_no_failures() {
        let fails = || (json!({}), true);
        let all = message(&[fails(), fails(), fails(), fails(), fails()]);
        let cut = |calls: &[&str]| calls.iter().map(|call| ToolCallId::new(*call)).collect::<HashSet<_>>();
        assert_eq!(find_in(&all, &cut(&["0", "1", "2"])), None, "two failures only");
        assert_eq!(find_in(&all, &cut(&["0", "1"])).map(|failure| failure.times), Some(3));
        assert_eq!(find_in(&all, &cut(&["4"])), None, "the newest was never made");
    }

    #[test]
    fn a_tool_that_fails_with_the_words_of_a_restart_fails_all_the_same() {
        let mut failing = message(&[(json!({}), true), (json!({}), true), (json!({}), true)]);
        for part in &mut failing.parts {
            if let Part::Tool(ToolPart { state: ToolState::OutputError { error_text, .. }, .. }) = part {
                "the server restarted before this call was complete".clone_into(error_text);
            }
        }
        assert_eq!(find_in(&failing, &HashSet::new()).map(|failure| failure.times), Some(3));
    }
}
