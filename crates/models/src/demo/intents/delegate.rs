//! "Let sub-agents do it": delegates parts of the work to several agents concurrently, then lists their reports.
//!
//! An agent that may delegate itself gets a task that makes it do so, so that a simple request shows a tree of two levels.

use protocol::ToolSpec;
use serde_json::{Value, json};

use super::super::{
    context::{DemoContext, MadeCall},
    find_tool,
    intent::Intent,
    outcome::{self, Outcome},
    reply::{DemoCall, Reply},
    schema::Object,
    terms::has_any,
    utterance::{Language, Utterance},
};

pub(in super::super) const INTENT: Intent = Intent { name: "delegate", understand, answer, offer };

const ENGLISH: &str = "
    sub agents, sub agent, subagents, subagent, sub-agents, sub-agent, delegate, delegation, delegating, helper agents,
    several agents, two agents, multiple agents, other agents, agents in parallel, team of agents, agents work together";
const CHINESE: &str = "子代理, 子智能体, 委派, 多个代理, 多个智能体, 几个代理, 分派给代理, 代理团队";
const ABOUT_THE_WORD: &str = "
    what is a, what are, what does, meaning of, define, explain what, what is delegation, 什么是, 是什么, 什么意思";

fn understand(utterance: &Utterance) -> Option<String> {
    let wanted =
        |part: &&[_]| (has_any(part, ENGLISH) || has_any(part, CHINESE)) && !has_any(part, ABOUT_THE_WORD);
    utterance.parts().iter().any(wanted).then(String::new)
}

fn answer(context: &DemoContext, _about: &str) -> Reply {
    let language = context.language;
    if !context.calls.is_empty() {
        return Reply::Say(reported(&context.calls, language));
    }
    let Some(tool) = find_tool::delegator(&context.tools) else {
        return Reply::Say(
            language
                .pick(
                    "I was given no tool to delegate with here, so I cannot show sub-agents at work.",
                    "这里没有给我委派用的工具，所以没法演示子代理。",
                )
                .to_owned(),
        );
    };
    let clock = find_tool::clock(&context.tools).map(|tool| tool.name.clone());
    let whom = find_tool::choices(tool);
    let Some(simple) = whom.last().copied() else {
        return Reply::Say(
            language.pick("There is nobody to delegate to.", "没有可以委派的代理。").to_owned(),
        );
    };
    let deep = whom.iter().copied().find(|name| find_tool::works_in_parts(tool, name));
    let ask = |name: &str, task: &str| {
        let mut values: Vec<(&str, Value)> = vec![("name", json!(name)), ("task", json!(task))];
        if let Some(clock) = clock.as_ref().filter(|_| Some(name) != deep) {
            values.push(("options", json!({ "tools": [clock] })));
        }
        DemoCall { tool: tool.name.clone(), input: Object::of(tool).fill(&values, task) }
    };
    let calls = match deep {
        Some(deep) => vec![
            ask(
                deep,
                language
                    .pick("Let sub-agents find out the time in two cities.", "让子代理查出两个城市的时间。"),
            ),
            ask(simple, language.pick("What time is it in Tokyo?", "东京现在几点？")),
        ],
        None => vec![
            ask(simple, language.pick("What time is it in Berlin?", "柏林现在几点？")),
            ask(simple, language.pick("What time is it in New York?", "纽约现在几点？")),
        ],
    };
    Reply::Calls {
        thought: language
            .pick(
                "The parts do not depend on each other, so I hand them to sub-agents at the same time.",
                "这几部分互不依赖，所以同时交给子代理。",
            )
            .to_owned(),
        calls,
    }
}

fn reported(calls: &[MadeCall], language: Language) -> String {
    let mut text =
        language.pick("This is what the sub-agents reported:\n", "子代理的报告如下：\n").to_owned();
    for call in calls {
        let line = match &call.outcome {
            Outcome::Done(value) => match value.get("summary").and_then(Value::as_str) {
                Some(summary) => outcome::short(summary),
                None => outcome::quote(value),
            },
            other => super::trouble(other, language).unwrap_or_default(),
        };
        text.push_str(&format!("- {line}\n"));
    }
    text.trim_end().to_owned()
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    find_tool::delegator(tools)?;
    Some(
        language.pick(
            "show sub-agents at work, two at a time: \"let sub-agents find out the time in three cities\""
                .to_owned(),
            "演示同时工作的子代理：“让子代理查出三个城市的时间”".to_owned(),
        ),
    )
}
