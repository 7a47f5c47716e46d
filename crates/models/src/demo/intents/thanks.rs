//! Thanks: a short answer, only if the message contains nothing else.

use super::super::{
    context::DemoContext, intent::Intent, reply::Reply, terms::ClosedRule, utterance::Utterance,
};

pub(in super::super) const INTENT: Intent = Intent { name: "thanks", understand, answer, offer: |_, _| None };

const ENGLISH: ClosedRule = ClosedRule {
    needs: &["
        thanks, thank you, thank, many thanks, cheers, appreciated, appreciate it, appreciate that,
        appreciate your, great job, good job, well done, nice work, nice job, good work, grateful,
        you are the best, you rock, you are awesome, you are great, that was helpful, very helpful,
        much obliged, that helps, that helped"],
    knows: "
        thanks, thank you, a lot, a million, a ton, a bunch, lots, many, much, very, so much, so,
        really, i, am, you, your, are, is, was, it, that, the, for, help, helping, me, us, all,
        everything, this, great, good, nice, perfect, awesome, cool, wonderful, excellent, super,
        lovely, fantastic, brilliant, indeed, time, answer, info, information, ok, got it, yes, of you,
        kind, very kind, again, helpful, to, with, works, quick, in advance, plan, once more, well,
        done, job, work, out, helped, helps, just, what i needed, man, always, cheers",
    never: "no thanks, thanks to",
};

const CHINESE: ClosedRule = ClosedRule {
    needs: &["
        谢谢, 多谢, 感谢, 谢了, 谢啦, 谢过, 非常感谢, 辛苦, 辛苦了, 干得好, 做得好, 做得不错, 太棒了,
        真棒, 很棒, 帮大忙, 帮了大忙, 帮了我大忙, 3q, 你真好, 你最棒, 厉害, 太好了, 谢"],
    knows: "
        谢谢, 你, 你的, 帮助, 帮忙, 了, 啦, 非常, 十分, 万分, 太, 很, 真, 真的, 真是, 多, 好, 好的, 哦,
        呀, 啊, 哈, 的, 回答, 耐心, 解答, 我, 明白, 知道, 收到, 懂, 大忙, 帮, 不尽, 不已, 先, 再次,
        感谢, 感激, 可以, 完美, 不错, 太好了, 太棒了, 这, 下, 辛苦, 服务, 有, 对, 支持, 大家, 干, 做,
        得, 行, 嗯, 最, 棒, 这么, 快, 为, 您, 一切, 所做",
    never: "不用谢, 不谢, 感谢信, 感谢节, 不厉害",
};

fn understand(utterance: &Utterance) -> Option<String> {
    (ENGLISH.accepts(utterance.all()) || CHINESE.accepts(utterance.all())).then(String::new)
}

fn answer(context: &DemoContext, _about: &str) -> Reply {
    Reply::Say(
        context
            .language
            .pick(
                "You are welcome. Ask \"what can you do?\" to see more.",
                "不客气。想看更多，可以问我“你能做什么？”。",
            )
            .to_owned(),
    )
}
