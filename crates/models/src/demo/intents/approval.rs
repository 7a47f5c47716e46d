//! "Ask me before you …": calls the tool that needs a person's approval, then reports the decision.

use protocol::ToolSpec;

use super::{
    super::{
        context::DemoContext,
        find_tool,
        intent::Intent,
        outcome::{self, Outcome},
        reply::Reply,
        schema::Object,
        utterance::{Language, Utterance, first_sentence},
    },
    approval_chinese, approval_english,
};

pub(in super::super) const INTENT: Intent = Intent { name: "approval", understand, answer, offer };

/// The subject is what is to be approved, in the person's words, possibly empty.
fn understand(utterance: &Utterance) -> Option<String> {
    utterance.parts().into_iter().find_map(|part| {
        let thing = approval_english::about(part).or_else(|| approval_chinese::about(part))?;
        Some(utterance.quote(first_sentence(thing)).to_owned())
    })
}

fn answer(context: &DemoContext, about: &str) -> Reply {
    let language = context.language;
    let thing = match about {
        "" => language.pick("go on with the next step", "继续下一步").to_owned(),
        about => outcome::short(about),
    };
    let thing = thing.as_str();
    if let Some(outcome) = context.newest_outcome() {
        return Reply::Say(decision_text(outcome, thing, language));
    }
    let Some(tool) = find_tool::approver(&context.tools) else {
        return Reply::Say(language.pick(
            format!("You want to be asked first about \"{thing}\", but none of the tools I was given asks for approval. I have done nothing."),
            format!("你希望“{thing}”之前先问你，但给我的工具里没有能请求批准的。我什么都没有做。"),
        ));
    };
    let input = Object::of(tool);
    let properties = input.properties();
    let slot = properties
        .iter()
        .find(|property| find_tool::is_note(property))
        .or_else(|| properties.iter().find(|property| property.is_text() && !property.is_purpose()));
    let purpose = language.pick(format!("Ask before: {thing}"), format!("先征求同意：{thing}"));
    let values: Vec<_> = slot.map(|slot| (slot.name, thing.into())).into_iter().collect();
    Reply::Call {
        thought: language.pick(
            "The person wants to be asked first; one of the tools asks for approval.".to_owned(),
            "用户希望我先征求同意，有一个工具可以请求批准。".to_owned(),
        ),
        tool: tool.name.clone(),
        input: input.fill(&values, &purpose),
    }
}

fn decision_text(outcome: &Outcome, thing: &str, language: Language) -> String {
    match outcome {
        Outcome::Done(_) => language.pick(
            format!("You approved: \"{thing}\". This was only a demonstration of asking: I did not do it. A real model would go on from here."),
            format!("你已批准：“{thing}”。这里只演示征求同意的过程，我并没有真的去做；真正的模型会从这里继续。"),
        ),
        Outcome::Denied { reason: None } => language.pick(
            format!("All right, you said no to \"{thing}\". Nothing was done."),
            format!("好的，你没有同意“{thing}”。我什么都没有做。"),
        ),
        Outcome::Denied { reason: Some(reason) } => language.pick(
            format!("All right, you said no to \"{thing}\", because: {reason}. Nothing was done."),
            format!("好的，你没有同意“{thing}”，理由是：{reason}。我什么都没有做。"),
        ),
        Outcome::Failed(message) => language.pick(
            format!("I could not get an approval for \"{thing}\", so nothing was done. The tool said: {message}"),
            format!("“{thing}”没有得到批准，所以什么都没有做。工具的回答是：{message}"),
        ),
        Outcome::Missing => language.pick(
            format!("There is no answer about \"{thing}\", so nothing was done."),
            format!("关于“{thing}”还没有答复，所以什么都没有做。"),
        ),
    }
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    find_tool::approver(tools)?;
    Some(language.pick(
        "ask for your approval: \"ask me before you delete the old logs\"".to_owned(),
        "先征求你的同意：“删除旧日志之前先问我”".to_owned(),
    ))
}
