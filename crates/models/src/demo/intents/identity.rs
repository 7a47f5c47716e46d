//! "Who are you": introduces the demo model.

use super::super::{
    context::DemoContext, intent::Intent, reply::Reply, terms::ClosedRule, utterance::Utterance,
};

pub(in super::super) const INTENT: Intent =
    Intent { name: "identity", understand, answer, offer: |_, _| None };

const ENGLISH: ClosedRule = ClosedRule {
    needs: &["
        who are you, what are you, who you are, what you are, your name, who made you, who built you,
        who created you, who wrote you, are you a, are you an, are you real, are you human,
        are you chatgpt, are you gpt, are you ai, you a bot, which model, what model, which ai, what ai,
        what llm, which llm, introduce yourself, about yourself, am i talking to, am i speaking,
        am i chatting, am i speaking to, i call you, is this a, is this an, describe yourself,
        what kind of model, what sort of model, language model are you, who is this, what is concertino,
        is this real"],
    knows: "
        who, what, which, are, is, you, your, name, a, an, the, real, human, being, person, robot,
        machine, computer, program, ai, artificial intelligence, gpt, chatgpt, llm, model,
        language model, large, kind of, sort of, introduce, yourself, about, something, a bit, a little,
        more, am i, talking, speaking, chatting, with, to, should, do, can, i, call, this, or, made,
        built, by, using, run, running, on, do you use, under the hood, here, right now, even, really,
        just, only, chatbot, say, tell, demo, behind, describe, be, actual, it, thing, anyway, living,
        does, use, now, in fact",
    never: "are you ok, are you doing, what are you doing, is this a $, are you a $",
};

const CHINESE: ClosedRule = ClosedRule {
    needs: &["
        是谁, 你谁, 你是什么, 你叫什么, 你的名字, 怎么称呼你, 怎么称呼, 介绍你自己, 介绍自己, 自我介绍,
        介绍一下你自己, 介绍下你自己, 介绍下自己, 介绍一下自己, 是机器人, 是人工智能, 是真人, 是人还是,
        是 ai, 是个 ai, 什么模型, 哪个模型, 哪种模型, 是人吗, 谁做的, 谁开发, 谁创造, 谁制作, 谁写的,
        谁造的, 你是哪位, 你是哪个, 是不是机器人, 是不是人, 是不是真人, 是不是 ai, 什么 ai, 你的身份,
        什么来头, 和谁说话, 跟谁说话, 跟谁聊天, 和谁聊天, 什么身份, 是 chatgpt, 是 gpt, 说说你自己,
        谈谈你自己, 讲讲你自己, 什么机器人, 什么东西, 是真的人, 是大模型, 你是人"],
    knows: "
        你, 我, 是, 谁, 什么, 叫, 名字, 的, 个, 一个, 介绍, 自己, 机器人, 人工智能, 真人, 人, 还是,
        机器, 程序, 模型, 语言模型, 大模型, ai, gpt, chatgpt, 哪个, 哪, 到底, 究竟, 做, 开发, 创造, 由,
        出来, 背后, 用, 用的, 真的, 在, 跟, 和, 说话, 聊天, 对话, 不是, 是不是, 该, 应该, 怎么, 称呼,
        叫做, 家, 下, 做个, 来个, 先, 一段, 简单, 简单地, 公司, 把, 呢, 简短, 真正的, 东西, 做一下, 来",
    never: "我是谁, 这是什么东西, 那是什么东西",
};

fn understand(utterance: &Utterance) -> Option<String> {
    utterance.parts().into_iter().any(|part| ENGLISH.accepts(part) || CHINESE.accepts(part)).then(String::new)
}

fn answer(context: &DemoContext, _about: &str) -> Reply {
    Reply::Say(
        context
            .language
            .pick(
                "I am the demo model built into Concertino: a set of fixed rules that runs offline, not a real language model and \
                 not a person. I answer because no real model is connected yet. Ask \"what can you do?\" to see what I can show, \
                 or \"how do I connect a real model?\".",
                "我是 Concertino 内置的演示模型：一套离线运行的固定规则，不是真正的语言模型，也不是真人。\
                 因为还没有连接真正的模型，所以由我来回答。可以问我“你能做什么？”，或者“怎么连接真正的模型？”。",
            )
            .to_owned(),
    )
}
