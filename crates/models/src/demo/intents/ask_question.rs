//! "Ask me a question": calls the tool that asks the person, then says what they answered.

use protocol::ToolSpec;
use serde_json::{Value, json};

use super::{
    super::{
        context::DemoContext,
        find_tool,
        intent::Intent,
        outcome::{self, Outcome},
        reply::Reply,
        schema::Object,
        terms::ClosedRule,
        utterance::{Language, Utterance},
    },
    trouble,
};

pub(in super::super) const INTENT: Intent = Intent { name: "ask_question", understand, answer, offer };

const ENGLISH: ClosedRule = ClosedRule {
    needs: &["
        ask me a question, ask me a simple question, ask me an easy question, ask me one question, ask me some question, ask me something, ask me anything,
        ask me a quick question, ask me any question, ask a question, ask me another question,
        ask me some questions, ask me questions, ask me a few questions, show me a question,
        let me choose, give me a choice, let me pick, ask for my input, ask me for input, ask me for some input,
        quiz me, let me answer a question, demonstrate a question, try a question, ask me to choose,
        ask me to pick, ask me what i like, ask me for my opinion, ask my opinion, give me a question,
        give me options, give me some options, pose me a question, pose a question"],
    knows: "
        just, please, simple, now, to me, for me, then, and, something, a, one, with, options, choices, to choose from,
        can you, could you, would you, will you, i want you to, i would like you to, you, go ahead, go on, again,
        between, some, few, things, from, of, your, choice, about, colour, color, colours, colors, as, demo, demonstration, test,
        so, that, i, can, answer, it, try, let us, try it",
    never: "before, first, without, why do you, why did you, did you, do you want to",
};

const CHINESE: ClosedRule = ClosedRule {
    needs: &["
        问我一个问题, 问我个问题, 问我问题, 问我一些问题, 问我几个问题, 向我提问, 向我提一个问题, 向我提个问题,
        对我提问, 给我提个问题, 给我提一个问题, 给我出个问题, 问我点什么, 问我点东西, 问我一下, 随便问我, 问我任何问题,
        提个问题给我, 提一个问题给我, 让我选择, 让我选一个, 让我选, 给我一个选择, 给我几个选项, 给我选项, 让我做个选择,
        征求我的意见, 问问我, 考考我"],
    knows: "
        请, 现在, 你, 能, 可以, 吗, 一下, 吧, 来, 随便, 什么, 都行, 都可以, 好, 演示, 试试, 个, 一个, 再, 想, 我想, 让,
        颜色, 喜欢, 的, 麻烦, 帮忙, 简单, 呢, 就, 先, 问题, 选项",
    never: "之前, 以前, 为什么, 删除",
};

fn understand(utterance: &Utterance) -> Option<String> {
    (ENGLISH.accepts(utterance.all()) || CHINESE.accepts(utterance.all())).then(String::new)
}

fn answer(context: &DemoContext, _about: &str) -> Reply {
    let language = context.language;
    if let Some(outcome) = context.newest_outcome() {
        return Reply::Say(match outcome {
            Outcome::Done(result) => answered(result, language),
            other => trouble(other, language).unwrap_or_default(),
        });
    }
    let Some(tool) = find_tool::asker(&context.tools) else {
        return Reply::Say(language.pick(
            "I would ask you something, but none of the tools I was given asks a person.".to_owned(),
            "我想问你一个问题，但给我的工具里没有能向你提问的。".to_owned(),
        ));
    };
    let question = language.pick("Which colour do you like best?", "你最喜欢哪种颜色？");
    let options = language.pick(["Red", "Green", "Blue"], ["红色", "绿色", "蓝色"]);
    let values = [("question", question.into()), ("options", json!(options))];
    Reply::Call {
        thought: language.pick(
            "The person wants to be asked something; one of the tools asks a person.".to_owned(),
            "用户想让我提问，有一个工具可以向用户提问。".to_owned(),
        ),
        tool: tool.name.clone(),
        input: Object::of(tool).fill(&values, language.pick("Ask a question", "提一个问题")),
    }
}

fn answered(result: &Value, language: Language) -> String {
    if result["cancelled"] == true {
        return language.pick(
            "You skipped the question; that is fine. A real model would go on without the answer.".to_owned(),
            "你跳过了这个问题，没关系。真正的模型会在没有答案的情况下继续。".to_owned(),
        );
    }
    let answer = match &result["answer"] {
        Value::String(text) => outcome::short(text),
        other => outcome::short(&other.to_string()),
    };
    language.pick(
        format!("You answered: \"{answer}\". This only demonstrates how an agent asks you; a real model would go on with your answer."),
        format!("你的回答是：“{answer}”。这里只演示智能体如何向你提问；真正的模型会根据你的回答继续。"),
    )
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    find_tool::asker(tools)?;
    Some(
        language.pick(
            "ask you for input: \"ask me a question\"".to_owned(),
            "向你提问：“问我一个问题”".to_owned(),
        ),
    )
}
