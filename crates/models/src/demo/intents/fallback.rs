//! The answer to a request that was not understood: says so, lists what works, and explains how to connect a real model.

use super::{
    super::{context::DemoContext, intent, reply::Reply},
    connect,
};

pub(in super::super) fn answer(context: &DemoContext) -> Reply {
    let language = context.language;
    if let Some(trouble) = context.newest_outcome().and_then(|outcome| super::trouble(outcome, language)) {
        return Reply::Say(trouble);
    }
    let opening = if context.utterance.is_empty() && context.has_files {
        language.pick(
            "I got your file, but I cannot do anything with it: I am the built-in demo model and follow fixed rules. A real model would read it.",
            "文件收到了，但我没法处理：我是内置的演示模型，只按固定规则工作。换成真正的模型就能读取。",
        )
    } else {
        language.pick(
            "I did not understand that. I am the built-in demo model: I follow fixed rules and understand only a few requests, in English and Chinese.",
            "我没有听懂。我是内置的演示模型，只按固定规则工作，只能听懂少数几种中文和英文的请求。",
        )
    };
    let list = language.pick("Right now I can:", "我现在可以：");
    let offers = intent::offers(&context.tools, language);
    let connect = connect::instructions(language);
    Reply::Say(format!("{opening}\n\n{list}\n{offers}\n{connect}"))
}
