//! Hello and goodbye: a short answer, only if the message contains nothing else.

use super::super::{
    context::DemoContext,
    intent::Intent,
    reply::Reply,
    terms::{ClosedRule, has_any},
    utterance::Utterance,
};

pub(in super::super) const INTENT: Intent =
    Intent { name: "greeting", understand, answer, offer: |_, _| None };

const ENGLISH_BYE: &str = "
    bye, goodbye, good bye, bye bye, see you, see you later, good night, farewell, so long,
    take care, have a nice day, have a good day, talk to you later, cya";
const CHINESE_BYE: &str = "再见, 拜拜, 晚安, 回头见, 明天见, 下次见, 回见, 待会见, 下次再聊, 改天聊";

const ENGLISH: ClosedRule = ClosedRule {
    needs: &["
        hi, hello, hey, hiya, howdy, yo, greetings, good morning, good afternoon, good evening,
        good day, morning, evening, ^ sup $, what is up, how are you, how is it going, how do you do,
        nice to meet you, pleased to meet you, are you there, anyone there, anybody there, anybody home,
        anyone home, welcome, how are things, long time no see, gday, how have you been,
        how are you doing, good to see you, bye, goodbye, good bye, see you, good night, farewell,
        take care, have a nice day, have a good day, talk to you later, cya, nice meeting you"],
    knows: "
        there, again, to you, you, everyone, all, world, today, doing, how, are, is, it, going, hello,
        hi, hey, morning, good, day, nice, my, old, dear, anyone, anybody, home, is anyone, a, very,
        to see you, from me, later, soon, tomorrow, for now, bye, then, to meet you, little, robot, ai,
        computer, sir, madam, pal, guys, folks, this, fine, friend, dude, man, ok, and, well, great,
        meeting, i am back, so, up, long, now",
    never: "how are you able, hey you are, what is up with, say hi",
};

const CHINESE: ClosedRule = ClosedRule {
    needs: &["
        你好, 你们好, 大家好, 嗨, 哈喽, 哈罗, 哈啰, 嘿, 喂, 早, 早安, 早上好, 上午好, 中午好, 下午好,
        晚上好, 午安, 在吗, 在不在, 有人吗, 有人在, 好久不见, 很高兴认识你, 很高兴见到你, 见到你,
        认识你, 最近好吗, 过得好吗, 过得怎么样, 怎么样, 好啊, 哟, 幸会, 打个招呼, 近来可好, hello, hi,
        hey, halo, 吃了吗, 再见, 拜拜, 晚安, 回头见, 明天见, 下次见, 回见, 待会见, 下次再聊, 改天聊"],
    knows: "
        你, 今天, 最近, 好, 还, 很, 高兴, 在, 呀, 啊, 吗, 呢, 哦, 朋友, 机器人, 助手, 小, 嗨, 啦, 了,
        又, 见面, 来, 我, 的, 过得, 大家, 先生, 老朋友, 亲, 亲爱的, 哈, 伙计, 各位, 朋友们, 演示模型,
        那, 先, 这样, 走, 我先走了, 吧, 都",
    never: "怎么样才, ^ 怎么样 $, 谁在吗",
};

fn understand(utterance: &Utterance) -> Option<String> {
    (ENGLISH.accepts(utterance.all()) || CHINESE.accepts(utterance.all())).then(String::new)
}

fn answer(context: &DemoContext, _about: &str) -> Reply {
    let text = if has_any(context.utterance.all(), ENGLISH_BYE)
        || has_any(context.utterance.all(), CHINESE_BYE)
    {
        context.language.pick("Goodbye, and come back any time.", "再见，随时欢迎再来。")
    } else {
        context.language.pick(
            "Hello! I am Concertino's demo model: I follow simple rules, no real language model is connected yet. Ask \"what can you do?\" to begin.",
            "你好！我是 Concertino 的演示模型：我只按简单的规则回答，还没有连接真正的语言模型。可以先问我“你能做什么？”。",
        )
    };
    Reply::Say(text.to_owned())
}
