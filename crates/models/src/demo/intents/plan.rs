//! "Plan my …": writes a plan with the tool that shows plans, completes its first step, and lists the steps.

use protocol::ToolSpec;
use serde_json::{Value, json};

use super::{
    super::{
        context::DemoContext,
        find_tool::{self, PlanShape},
        intent::Intent,
        outcome,
        reply::Reply,
        schema::Object,
        utterance::Language,
    },
    plan_request, plan_topics,
};

pub(in super::super) const INTENT: Intent =
    Intent { name: "plan", understand: plan_request::about, answer, offer };

fn answer(context: &DemoContext, about: &str) -> Reply {
    let language = context.language;
    if let Some(trouble) = context.newest_outcome().and_then(|outcome| super::trouble(outcome, language)) {
        return Reply::Say(trouble);
    }
    if about.is_empty() {
        return Reply::Say(language.pick(
            "What shall I plan? Say for example \"plan my trip to Kyoto\".".to_owned(),
            "要计划什么呢？比如可以说“帮我计划一次京都旅行”。".to_owned(),
        ));
    }
    let about = &outcome::short(about);
    let steps = plan_topics::steps(about, language);
    let Some((tool, shape)) = find_tool::planner(&context.tools) else {
        let note = language.pick(
            "None of the tools I was given keeps a plan, so here it is as text.",
            "给我的工具里没有能保存计划的，所以直接写在这里。",
        );
        return Reply::Say(format!("{}\n\n{note}", plan_text(about, &steps, 0, language)));
    };
    // Two calls, the plan and its first step as done, then the text.
    let done = context.calls.len();
    if done >= 2 {
        return Reply::Say(plan_text(about, &steps, 1, language));
    }
    Reply::Call {
        thought: match done {
            0 => language.pick(
                "The person wants a plan; I write down a few steps with the tool that shows plans."
                    .to_owned(),
                "用户想要一个计划，我用能展示计划的工具写下几个步骤。".to_owned(),
            ),
            _ => language.pick(
                "The goal is noted now, so the first step is done; I update the plan.".to_owned(),
                "目标已经写明，第一步算完成了，我来更新计划。".to_owned(),
            ),
        },
        tool: tool.name.clone(),
        input: input(tool, &shape, &steps, done, about, language),
    }
}

fn input(
    tool: &ToolSpec,
    shape: &PlanShape<'_>,
    steps: &[String],
    done: usize,
    about: &str,
    language: Language,
) -> Value {
    let object = Object::of(tool);
    let purpose = match done {
        0 => language.pick(format!("Plan: {about}"), format!("制定计划：{about}")),
        _ => language.pick(format!("Update the plan: {about}"), format!("更新计划：{about}")),
    };
    let lists = object.properties();
    let items =
        lists.iter().find(|property| property.name == shape.list).and_then(|list| object.items_of(list));
    let rows: Vec<Value> = steps
        .iter()
        .enumerate()
        .map(|(place, step)| {
            let status = match place.cmp(&done) {
                std::cmp::Ordering::Less => shape.done,
                std::cmp::Ordering::Equal => shape.doing,
                std::cmp::Ordering::Greater => shape.waiting,
            };
            let mut values = vec![(shape.text, step.as_str().into()), (shape.status, status.into())];
            for property in
                items.map(Object::properties).unwrap_or_default().iter().filter(|own| own.required)
            {
                if property.is_named(&["id", "key"]) && property.is_text() {
                    values.push((property.name, (place + 1).to_string().into()));
                } else if property.is_number() {
                    values.push((property.name, json!(place + 1)));
                }
            }
            items.map_or_else(|| json!({}), |items| items.fill(&values, step))
        })
        .collect();
    object.fill(&[(shape.list, rows.into())], &purpose)
}

fn plan_text(about: &str, steps: &[String], done: usize, language: Language) -> String {
    let opening = language.pick(format!("Here is a plan for: {about}"), format!("这是“{about}”的计划："));
    let tick = language.pick(" (done)", "（已完成）");
    let lines: String = steps
        .iter()
        .enumerate()
        .map(|(place, step)| format!("{}. {step}{}\n", place + 1, if place < done { tick } else { "" }))
        .collect();
    let closing = language.pick(
        "These are general steps from a list: as a demo model I cannot think about your case. A real model would.",
        "这些是清单里的通用步骤：我只是演示模型，没法针对你的情况思考，真正的模型可以。",
    );
    format!("{opening}\n\n{lines}\n{closing}")
}

fn offer(_tools: &[ToolSpec], language: Language) -> Option<String> {
    Some(language.pick(
        "make a simple plan: \"plan my trip to Kyoto\"".to_owned(),
        "做一个简单的计划：“帮我计划一次京都旅行”".to_owned(),
    ))
}
