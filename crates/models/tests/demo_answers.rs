//! The demo model through `Model::stream`: its answers and its calls, with the tools of the product under
//! their own names and under others.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a helper that fails is a test that fails")]

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, StreamExt};
use models::{
    AssistantContent, Model, ModelEvent, ModelMessage, ModelRequest, UserContent,
    demo::{Demo, Pace},
};
use protocol::{FinishReason, ToolCall, ToolCallId, ToolSpec};
use serde_json::{Value, json};
use test_support::Rng;

fn tool(name: &str, description: &str, input_schema: Value) -> ToolSpec {
    ToolSpec { name: name.into(), description: description.into(), input_schema }
}

fn purpose() -> Value {
    json!({ "type": "string", "description": "A short purpose of this call, shown to the person." })
}

fn clock(name: &str) -> ToolSpec {
    let description = "Tell the current date and time. Call it whenever the answer depends on now.";
    let zone =
        json!({ "type": ["string", "null"], "description": "IANA time zone. Default: the person's zone." });
    let properties = json!({ "actionName": purpose(), "timezone": zone });
    tool(name, description, json!({ "type": "object", "properties": properties, "required": ["actionName"] }))
}

/// As schemars writes it: the entries and their status are references.
fn planner(name: &str) -> ToolSpec {
    let description = "Keep a plan for work of several steps, and keep it current.";
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Input",
        "type": "object",
        "properties": {
            "actionName": purpose(),
            "mode": { "anyOf": [{ "$ref": "#/$defs/Mode" }, { "type": "null" }] },
            "explanation": { "type": ["string", "null"], "maxLength": 2000 },
            "plan": { "description": "The steps.", "type": "array", "items": { "$ref": "#/$defs/Entry" } },
        },
        "required": ["actionName", "plan"],
        "$defs": {
            "Mode": { "type": "string", "enum": ["full", "patch"] },
            "Status": { "oneOf": [
                { "description": "Not begun.", "type": "string", "const": "pending" },
                { "description": "Being done.", "type": "string", "const": "in_progress" },
                { "description": "Done.", "type": "string", "const": "completed" },
            ] },
            "Entry": {
                "type": "object",
                "properties": {
                    "step": { "description": "What is to be done.", "type": ["string", "null"] },
                    "index": { "type": ["integer", "null"], "minimum": 1 },
                    "status": { "description": "How far it is.", "$ref": "#/$defs/Status" },
                },
                "required": ["status"],
            },
        },
    });
    tool(name, description, schema)
}

fn approver(name: &str) -> ToolSpec {
    let description =
        "Try out an approval: the call waits until the person approves it. Needs the person's approval.";
    let properties = json!({ "actionName": purpose(), "note": { "type": ["string", "null"] } });
    tool(name, description, json!({ "type": "object", "properties": properties, "required": ["actionName"] }))
}

fn product() -> Vec<ToolSpec> {
    let text =
        json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
    vec![
        tool("conf_approve", "Give the text back after the person approved the call.", text.clone()),
        tool("conf_echo", "Give the text back at once.", text),
        clock("time-now"),
        planner("update-plan"),
        approver("test-approval"),
    ]
}

fn renamed() -> Vec<ToolSpec> {
    vec![approver("ask_human"), planner("p1"), clock("zeit")]
}

/// A conversation with the demo model.
struct Talk {
    tools: Vec<ToolSpec>,
    messages: Vec<ModelMessage>,
}

impl Talk {
    fn with(tools: Vec<ToolSpec>, text: &str) -> Self {
        let mut talk = Self { tools, messages: Vec::new() };
        talk.say(text);
        talk
    }

    fn say(&mut self, text: &str) {
        self.messages.push(ModelMessage::User { content: vec![UserContent::Text(text.into())] });
    }

    fn request(&self) -> ModelRequest {
        ModelRequest {
            system: "Be kind.".into(),
            messages: self.messages.iter().cloned().map(Arc::new).collect(),
            tools: self.tools.clone().into(),
            ..ModelRequest::default()
        }
    }

    /// Without pauses the whole stream is available at once.
    fn events(&self) -> Vec<ModelEvent> {
        let stream = Demo::new(Pace::AT_ONCE).stream(self.request());
        stream.map(Result::unwrap).collect().now_or_never().expect("it waited for something")
    }

    /// The text of an answer that calls nothing.
    fn text(&self) -> String {
        let events = self.events();
        assert_eq!(events.last(), Some(&ModelEvent::Finished(FinishReason::Stop)), "{events:?}");
        joined(&events, |event| match event {
            ModelEvent::Text(text) => Some(text),
            _ => None,
        })
    }

    /// The one call of an answer, checked to be streamed as providers do.
    fn call(&mut self) -> ToolCall {
        let events = self.events();
        assert_eq!(events.last(), Some(&ModelEvent::Finished(FinishReason::ToolCalls)), "{events:?}");
        assert!(matches!(events.first(), Some(ModelEvent::Reasoning(_))), "it thinks aloud first");
        let started: Vec<_> = events
            .iter()
            .filter_map(|event| match event {
                ModelEvent::ToolStarted { id: Some(id), name, .. } => Some((id, name)),
                _ => None,
            })
            .collect();
        let [(id, name)] = started[..] else { panic!("not one call: {events:?}") };
        let arguments = joined(&events, |event| match event {
            ModelEvent::ToolDelta { delta, .. } => Some(delta),
            _ => None,
        });
        let input = serde_json::from_str(&arguments).unwrap();
        let call = ToolCall { id: ToolCallId::new(id.as_str()), name: name.clone(), input };
        let content = vec![AssistantContent::ToolCall { call: call.clone(), provider: None }];
        self.messages.push(ModelMessage::Assistant { content });
        call
    }

    fn result(&mut self, call: &ToolCall, text: &str) {
        self.settle(call, text, false);
    }

    fn error(&mut self, call: &ToolCall, text: &str) {
        self.settle(call, text, true);
    }

    fn settle(&mut self, call: &ToolCall, text: &str, is_error: bool) {
        let (call, tool, text) = (call.id.clone(), call.name.clone(), text.to_owned());
        self.messages.push(ModelMessage::Tool { call, tool, text, is_error });
    }
}

fn joined(events: &[ModelEvent], pick: impl Fn(&ModelEvent) -> Option<&String>) -> String {
    events.iter().filter_map(pick).map(String::as_str).collect()
}

fn statuses(call: &ToolCall) -> Vec<&str> {
    call.input["plan"].as_array().unwrap().iter().map(|step| step["status"].as_str().unwrap()).collect()
}

#[test]
fn it_lists_the_tools_it_was_given_with_their_own_descriptions() {
    let text = Talk::with(product(), "what can you do?").text();
    assert!(text.contains("demo model"), "{text}");
    assert!(text.contains("- `time-now`: Tell the current date and time.\n"), "{text}");
    assert!(text.contains("- `conf_echo`: Give the text back at once."), "{text}");
    let text = Talk::with(renamed(), "你能做什么？").text();
    assert!(text.contains("演示模型") && text.contains("`zeit`：Tell the current date and time."), "{text}");
    assert!(Talk::with(vec![], "what can you do?").text().contains("no tools"));
}

#[test]
fn the_time_is_asked_from_the_tool_that_tells_it_whatever_its_name() {
    for (tools, name) in [(product(), "time-now"), (renamed(), "zeit")] {
        let mut talk = Talk::with(tools, "What time is it?");
        let call = talk.call();
        assert_eq!(call.name, name);
        assert_eq!(call.input, json!({ "actionName": "Look up the current time" }));
        talk.result(
            &call,
            r#"{"iso":"2026-03-03T14:05:00.000+00:00","unixMs":1772546700000,"timeZone":"UTC","year":2026}"#,
        );
        assert_eq!(talk.text(), "It is 14:05 on Tuesday, 3 March 2026 (UTC).");
    }
}

#[test]
fn a_city_becomes_the_time_zone_argument() {
    let mut talk = Talk::with(product(), "what time is it in Tokyo");
    let call = talk.call();
    assert_eq!(call.input["timezone"], "Asia/Tokyo");
    talk.result(&call, r#"{"iso":"2026-03-03T23:05:00.000+09:00","timeZone":"Asia/Tokyo"}"#);
    assert_eq!(talk.text(), "In Tokyo it is 23:05 on Tuesday, 3 March 2026 (Asia/Tokyo).");

    let mut talk = Talk::with(renamed(), "现在东京几点？");
    let call = talk.call();
    assert_eq!(call.input, json!({ "actionName": "查看Asia/Tokyo的时间", "timezone": "Asia/Tokyo" }));
    talk.result(&call, r#"{"iso":"2026-03-03T23:05:00.000+09:00","timeZone":"Asia/Tokyo"}"#);
    assert_eq!(talk.text(), "东京现在是 2026年3月3日 星期二 23:05（Asia/Tokyo）。");
}

#[test]
fn an_unknown_city_is_admitted() {
    let mut talk = Talk::with(product(), "What time is it in Ulaanbaatar?");
    let call = talk.call();
    assert_eq!(call.input.get("timezone"), None);
    talk.result(&call, r#"{"iso":"2026-03-03T14:05:00Z","zone":"UTC"}"#);
    let text = talk.text();
    assert!(text.starts_with("I could not get the time for Ulaanbaatar. Here it is 14:05"), "{text}");
}

#[test]
fn without_a_clock_it_does_not_guess() {
    assert!(Talk::with(vec![planner("p")], "what time is it").text().contains("no clock"));
    assert!(Talk::with(vec![], "几点了").text().contains("没有时钟"));
    let properties = json!({ "seconds": { "type": "integer" } });
    let timer = json!({ "type": "object", "properties": properties, "required": ["seconds"] });
    assert!(
        Talk::with(vec![tool("time", "Set a timer.", timer)], "what time is it").text().contains("no clock")
    );
}

#[test]
fn errors_and_strange_results_are_told_plainly() {
    let mut talk = Talk::with(product(), "what time is it");
    let call = talk.call();
    talk.error(&call, "there is no time zone named \"x\"");
    assert_eq!(talk.text(), "The tool reported an error: there is no time zone named \"x\"");

    let mut talk = Talk::with(product(), "现在几点");
    let call = talk.call();
    talk.result(&call, r#"{"mood":"sunny"}"#);
    assert_eq!(talk.text(), r#"我查了时间，但看不懂返回的结果，原文是：{"mood":"sunny"}"#);

    let mut talk = Talk::with(product(), "plan my week");
    talk.call();
    assert!(talk.text().contains("no result"), "a call without a result is not made again");
}

#[test]
fn a_plan_is_written_then_ticked_off_once_then_told() {
    for (tools, name) in [(product(), "update-plan"), (renamed(), "p1")] {
        let mut talk = Talk::with(tools, "Plan my trip to Kyoto");
        let first = talk.call();
        assert_eq!((first.name.as_str(), first.id.as_str()), (name, "demo_1"));
        assert_eq!(first.input["actionName"], "Plan: trip to Kyoto");
        assert_eq!(first.input["plan"][0]["step"], "Note the goal: trip to Kyoto");
        assert_eq!(statuses(&first), ["in_progress", "pending", "pending", "pending", "pending"]);
        talk.result(&first, r#"{"ok":true}"#);
        let second = talk.call();
        assert_eq!(second.id.as_str(), "demo_2");
        assert_eq!(statuses(&second), ["completed", "in_progress", "pending", "pending", "pending"]);
        talk.result(&second, r#"{"ok":true}"#);
        let text = talk.text();
        assert!(text.contains("1. Note the goal: trip to Kyoto (done)\n2. "), "{text}");
    }
}

#[test]
fn a_plan_is_built_from_the_schema_it_is_given() {
    let item = json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "position": { "type": "integer" },
            "content": { "type": "string" },
            "priority": { "type": "string", "enum": ["high", "low"] },
            "state": { "enum": ["TODO", "DOING", "DONE"] },
        },
        "required": ["id", "position", "content", "state", "priority"],
    });
    let schema = json!({
        "type": "object",
        "properties": { "todos": { "type": "array", "items": item } },
        "required": ["todos"],
    });
    let shows_tasks = tool("x", "Shows the tasks of the work and their progress.", schema);
    let call = Talk::with(vec![shows_tasks], "帮我计划一次京都旅行").call();
    assert_eq!(
        call.input["todos"][1],
        json!({ "id": "2", "position": 2, "content": "选定日期和预算", "priority": "high", "state": "TODO" })
    );
    assert_eq!(call.input["todos"][0]["state"], "DOING");
}

#[test]
fn a_plan_without_a_tool_is_told_and_a_plan_of_nothing_is_asked_about() {
    assert!(Talk::with(vec![], "plan my week").text().contains("as text"));
    assert!(Talk::with(product(), "make me a plan").text().contains("What shall I plan?"));
}

#[test]
fn approval_is_asked_and_what_was_approved_is_said() {
    for (tools, name) in [(product(), "test-approval"), (renamed(), "ask_human")] {
        let mut talk = Talk::with(tools, "Ask me before you delete the old logs.");
        let call = talk.call();
        assert_eq!(call.name, name);
        let wanted =
            json!({ "actionName": "Ask before: delete the old logs", "note": "delete the old logs" });
        assert_eq!(call.input, wanted);
        talk.result(&call, r#"{"ok":true,"note":"delete the old logs","approvedAt":"2026-03-01T12:15:07Z"}"#);
        let text = talk.text();
        assert!(text.starts_with("You approved: \"delete the old logs\"."), "{text}");
    }
}

#[test]
fn a_denial_is_accepted_with_its_reason() {
    let mut talk = Talk::with(product(), "ask me before you delete the old logs");
    let call = talk.call();
    talk.error(&call, "The person did not allow this call. Their reason: keep them");
    assert_eq!(
        talk.text(),
        "All right, you said no to \"delete the old logs\", because: keep them. Nothing was done."
    );

    let mut talk = Talk::with(renamed(), "删除旧日志之前先问我");
    let call = talk.call();
    assert_eq!(call.input["note"], "删除旧日志");
    talk.error(&call, "The person did not allow this call.");
    assert_eq!(talk.text(), "好的，你没有同意“删除旧日志”。我什么都没有做。");
}

#[test]
fn without_an_approval_tool_it_says_that_nothing_was_done() {
    let text = Talk::with(vec![clock("c")], "ask me before you delete the logs").text();
    assert!(text.contains("none of the tools") && text.contains("done nothing"), "{text}");
}

#[test]
fn what_it_does_not_understand_it_says_and_tells_what_works() {
    let text = Talk::with(product(), "Write a poem about the sea").text();
    assert!(text.starts_with("I did not understand that."), "{text}");
    let settings = ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"];
    for needed in ["what time is it", "plan my", "ask me before"].into_iter().chain(settings) {
        assert!(text.contains(needed), "{needed} is missing: {text}");
    }
    let text = Talk::with(vec![], "写一首关于大海的诗").text();
    assert!(text.starts_with("我没有听懂。") && text.contains("OPENAI_API_KEY"), "{text}");
    assert!(!text.contains("几点"), "no clock, no offer: {text}");
    assert!(Talk::with(product(), &"plan my week ".repeat(100_000)).text().starts_with("I did not"));
}

#[test]
fn small_talk_is_short_and_in_the_language_of_the_newest_message() {
    let mut talk = Talk::with(product(), "hello");
    assert!(talk.text().starts_with("Hello!"));
    talk.say("谢谢");
    assert!(talk.text().starts_with("不客气"));
    talk.say("who are you?");
    assert!(talk.text().contains("not a real language model"));
    talk.say("怎么连接真正的模型？");
    assert!(talk.text().contains("OPENAI_BASE_URL"));
    talk.say("bye");
    assert!(talk.text().starts_with("Goodbye"));
}

#[test]
fn only_what_follows_the_newest_message_decides_the_step() {
    let mut talk = Talk::with(product(), "what time is it");
    let call = talk.call();
    talk.result(&call, r#"{"iso":"2026-03-03T14:05:00Z"}"#);
    talk.say("and what time is it in London?");
    let again = talk.call();
    assert_eq!((again.id.as_str(), &again.input["timezone"]), ("demo_2", &json!("Europe/London")));
}

#[test]
fn a_file_without_words_is_answered_in_the_language_spoken_before() {
    let mut talk = Talk::with(vec![], "你好");
    let file = UserContent::File { media_type: "image/png".into(), url: "data:,".into(), filename: None };
    talk.messages.push(ModelMessage::User { content: vec![file] });
    assert!(talk.text().starts_with("文件收到了"));
    talk.messages
        .push(ModelMessage::User { content: vec![UserContent::Attached("what time is it?".into())] });
    assert!(talk.text().starts_with("文件收到了"), "what stands in a file is not what the person says");
    talk.messages.clear();
    assert!(talk.text().starts_with("I did not understand"));
}

#[test]
fn an_answer_ends_with_usage_and_comes_in_several_deltas() {
    let talk = Talk::with(product(), "what can you do?");
    let events = talk.events();
    assert_eq!(events, talk.events(), "the same request gets the same answer");
    assert!(events.iter().filter(|event| matches!(event, ModelEvent::Text(_))).count() > 5);
    let Some(ModelEvent::Usage(usage)) = events.get(events.len() - 2) else { panic!("no usage: {events:?}") };
    assert!(usage.input_tokens > 0 && usage.output_tokens > 0);
    assert_eq!(usage.total_tokens, usage.input_tokens + usage.output_tokens);
    assert_eq!(Demo::default().name(), "demo/rules");
}

#[tokio::test(start_paused = true)]
async fn it_writes_at_the_pace_it_was_given() {
    let talk = Talk::with(vec![], "hello");
    let began = tokio::time::Instant::now();
    let model: Arc<dyn Model> = Arc::new(Demo::new(Pace::every(Duration::from_millis(25))));
    let events: Vec<_> = model.stream(talk.request()).collect().await;
    let written = u32::try_from(events.len() - 2).unwrap();
    assert!(written > 3);
    assert!(began.elapsed() >= Duration::from_millis(25) * written);
    assert!(began.elapsed() < Duration::from_millis(27) * written);
}

#[test]
fn no_mixture_of_words_makes_it_fail() {
    let words: Vec<&str> = "
        ask me before you plan my the time in is it what first without until i approve not do for to a make give
        steps and so but break into delete please never approval only after let then tokyo ulaanbaatar
        现在 几点 先 问我 之前 计划 帮我 一下 不要 没有 同意 再 为 做 把 分成 步骤 怎么 安排 东京 你 我的 行吗
        ， 。 , . ? ' / asia/ - 前 时间"
        .split_whitespace()
        .collect();
    let mut rng = Rng::new(1);
    for _ in 0..600 {
        let mut text = String::new();
        for _ in 0..8 {
            text += *rng.pick(&words);
            text += if rng.percent(50) { " " } else { "" };
        }
        let events = Talk::with(vec![], &text).events();
        assert!(matches!(events.last(), Some(ModelEvent::Finished(_))), "{text}");
    }
}
