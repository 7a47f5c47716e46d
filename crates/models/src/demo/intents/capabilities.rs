//! "What can you do": introduces the demo model and lists its tools, each with the first sentence of its description.

use protocol::ToolSpec;

use super::super::{
    context::DemoContext,
    intent::{self, Intent},
    reply::Reply,
    terms::ClosedRule,
    utterance::{Language, Utterance},
};

pub(in super::super) const INTENT: Intent =
    Intent { name: "capabilities", understand, answer, offer: |_, language| Some(offer(language)) };

const ENGLISH: ClosedRule = ClosedRule {
    needs: &["
        what can you do, what could you do, you can do, tasks can you, ^ need help $, what do you support,
        what all can you, can this thing do, can this do, do you understand $, what can you, what are you able, are you capable,
        you are capable, capabilities, capability, abilities, your skills, what skills, which skills,
        your features, what features, which features, your functions, what functions, which functions,
        tools, help with, how can you help, how could you help, can you help $, can you help me $,
        what do you do, good at, good for, what can i ask, what should i ask, what can i do,
        what can we do, how can i use you, how do i use you, how do i use this, how to use you,
        what is possible, commands, what do you offer, ^ help $, ^ help me $, ^ i need help $,
        what else can you, things can you do, things you can do, stuff can you do, tasks can you,
        what you can do, what you could do, what you are able, what you can, how does this work,
        what does this do, how do you work, be useful, your powers, you be used for, your specialty,
        use you for, assist me with, you assist with, do for me, how can you assist, how may you help"],
    knows: "
        what, which, how, are, is, you, your, can, could, do, does, able to, able, capable of, capable,
        tools, functions, features, skills, have, offer, help, assist, me, us, with, list, list all,
        all, available, here, things, stuff, tasks, kind of, kinds of, sort of, sorts of, type of,
        types of, i, we, ask, use, for, good, at, in, this, this chat, chat, right now, now, the, a,
        there, everything, anything, else, show, explain, describe, overview, summary, about, yourself,
        possible, commands, of, to, should, work, works, get, give, today, that, exactly, some, any,
        need, started, start, at your disposal, access to, useful, be, an, on, so far, handle, understand, thing, manage, it, might, may,
        useful for, supported, do you support, support, name, who are you, and",
    never: "can i help you, what do you do that for, ask you to do, do it, do this for me, do that",
};

const CHINESE: ClosedRule = ClosedRule {
    needs: &["
        能做什么, 会做什么, 能干什么, 会干什么, 可以做什么, 可以干什么, 做些什么, 干些什么, 做什么,
        会什么, 会些什么, 能做哪些, 会做哪些, 可以做哪些, 哪些功能, 什么功能, 的功能, 有功能, 什么本事,
        什么本领, 什么能力, 哪些能力, 的能力, 你的本事, 什么技能, 哪些技能, 的技能, 哪些工具, 什么工具,
        的工具, 可用工具, 工具列表, 有工具, 怎么用你, 怎么使用你, 怎么用, 怎么使用, 帮什么忙, 帮我什么,
        帮我做什么, 帮我做些什么, 帮我干什么, 帮到我什么, 帮上什么忙, 帮我哪些, 帮忙做什么, 擅长什么,
        擅长做什么, 擅长哪些, ^ 帮助 $, ^ 帮帮我 $, ^ 帮我 $, 有什么用, 使用说明, 用法, 懂什么, 可以帮我的, 能帮我的, 支持什么,
        支持哪些, 什么用途, 哪些事, 哪些用处, 什么用处, 有哪些本事, 提供什么, 提供哪些, 问你什么,
        问什么, 用你做什么, 让你做什么, 所有功能, 全部功能, 介绍功能, 功能介绍, 功能列表, 你的功能"],
    knows: "
        你, 我, 能, 会, 可以, 都, 有, 什么, 哪些, 这个, 懂, 做, 干, 些, 事, 事情, 东西, 功能, 能力, 本事, 技能,
        工具, 的, 是, 帮, 为, 为我, 给, 到, 用, 使用, 怎么, 才能, 列出, 列一下, 列举, 列出来, 介绍,
        介绍一下, 自己, 全部, 所有, 到底, 究竟, 具体, 方面, 哪方面, 说明, 方法, 支持, 提供, 服务, 擅长,
        可用, 目前, 当前, 这里, 里, 活, 忙, 任务, 展示, 讲, 讲一下, 说一下, 大概, 主要, 哪, 种, 各种,
        跟你, 对我, 帮助, 展示一下, 来, 在这里, 以, 一些, 现在, 可, 让你, 下, 手上, 手里, 等等,
        除此之外, 其他, 别的, 还有, 还能, 问你, 和, 谁",
    never: "我能帮, 我可以帮你, ^ 我做什么, 我该做什么, ^ 我会什么, 在做什么, ^ 我能做什么",
};

fn understand(utterance: &Utterance) -> Option<String> {
    utterance.parts().into_iter().any(|part| ENGLISH.accepts(part) || CHINESE.accepts(part)).then(String::new)
}

fn answer(context: &DemoContext, _about: &str) -> Reply {
    let language = context.language;
    let mut text = language.pick(
        "I am Concertino's built-in demo model. I am not a language model: I follow fixed rules, offline, so that you can see how an agent uses tools. ".to_owned(),
        "我是 Concertino 内置的演示模型。我不是真正的语言模型，只会离线按固定规则工作，让你看看智能体是怎样使用工具的。".to_owned(),
    );
    text += &tool_lines(&context.tools, language);
    text += language.pick("\nYou can ask me to:\n", "\n你可以让我：\n");
    text += &intent::offers(&context.tools, language);
    Reply::Say(text.trim_end().to_owned())
}

fn tool_lines(tools: &[ToolSpec], language: Language) -> String {
    if tools.is_empty() {
        return language.pick("I was given no tools here.\n", "这里没有给我任何工具。\n").to_owned();
    }
    let mut text = language.pick("These are the tools I was given:\n", "给我的工具有：\n").to_owned();
    for tool in tools {
        let line = first_sentence(&tool.description);
        if line.is_empty() {
            text += &language.pick(
                format!("- `{}` (no description)\n", tool.name),
                format!("- `{}`（没有说明）\n", tool.name),
            );
        } else {
            text += &language
                .pick(format!("- `{}`: {line}\n", tool.name), format!("- `{}`：{line}\n", tool.name));
        }
    }
    text
}

/// The first sentence of a description, on one line and not too long.
fn first_sentence(description: &str) -> String {
    const LONGEST: usize = 140;
    let line = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let stop = line.char_indices().find(|(at, c)| {
        *c == '。' || (*c == '.' && line[at + 1..].chars().next().is_none_or(char::is_whitespace))
    });
    let sentence = stop.map_or(line.as_str(), |(at, c)| &line[..at + c.len_utf8()]);
    if sentence.chars().count() <= LONGEST {
        return sentence.to_owned();
    }
    let cut: String = sentence.chars().take(LONGEST - 1).collect();
    let whole = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{whole}…")
}

fn offer(language: Language) -> String {
    language
        .pick("say what I can do: \"what can you do?\"".to_owned(), "介绍我会什么：“你能做什么？”".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_shortened_to_its_first_sentence() {
        assert_eq!(first_sentence("Reads v1.2 files.\nAsk for a range."), "Reads v1.2 files.");
        assert_eq!(first_sentence("查看当前时间。可以指定时区。"), "查看当前时间。");
        assert_eq!(first_sentence("no stop"), "no stop");
        assert!(first_sentence(&"word ".repeat(100)).chars().count() <= 140);
    }
}
