//! Polite phrases in both languages, which do not change the meaning of a request.

use super::{terms::ends_any, utterance::Unit};

/// Phrases that may be anywhere around a request.
pub(super) const ENGLISH: &str = "
    please, kindly, hi, hello, hey, hi there, hey there, hello there, good morning, good afternoon,
    good evening, ok, so, well, and, also, then, just, quickly, quick question, excuse me, sorry,
    could you, can you, would you, will you, can i, could i, may i, may i ask, could you please,
    can you please, would you please, would you mind, do you mind, mind telling me, tell me,
    telling me, tell us, show me, showing me, let me know, give me, i want to know,
    i would like to know, i would love to know, i need to know, i have to know, i wonder,
    i am wondering, i was wondering, do you know, would you know, do you happen to know, any idea,
    have any idea, do you have any idea, if you can, if you could, if possible, for me, to me,
    thanks, thank you, thank you very much, again, exactly, actually, by the way, btw, my friend,
    friend, buddy, mate, dear, concertino, demo, assistant, bot, out of curiosity, i am curious, um,
    hmm, oh, yo, i forgot, i do not know, if you do not mind, real quick, remind me, anyway";

pub(super) const CHINESE: &str = "
    请, 请问, 请教, 麻烦, 麻烦你, 劳驾, 能不能, 能否, 可不可以, 可以, 能, 可否, 是否, 帮我, 帮忙,
    帮, 给我, 告诉我, 告知, 告知我, 跟我说, 和我说, 跟我讲, 说, 说说, 讲讲, 一下, 吗, 么, 嘛, 呢,
    吧, 啊, 呀, 啦, 了, 哦, 喔, 哈, 嗯, 诶, 哎, 喂, 嘿, 那, 那么, 你好, 嗨, 哈喽, 早上好, 晚上好,
    下午好, 好, 好的, 谢谢, 谢谢你, 多谢, 我想知道, 我想问, 我想问问, 想知道, 想问, 问, 问问, 我想,
    我要, 我, 不好意思, 打扰, 打扰一下, 查, 查查, 看, 看看, 瞧瞧, 知道, 知不知道, 你, 现在, 小助手,
    助手, 朋友, 同学, 快, 顺便, 再, 还, 有人, 谁, 想, 我忘了, 忘了, 行不行, 好不好";

/// Phrases that may start a request in the imperative.
pub(super) const ENGLISH_LEAD: &str = "
    please, kindly, can you, could you, would you, will you, can we, could we, can i get you to,
    i want you to, i would like you to, i would love you to, i need you to, i would like to,
    i want to, i need to, i have to, i must, i should, we need to, we should, we have to,
    would you mind, do you mind, help me to, help me, help us, help us to, help, me, let us, let me,
    hey, hi, hello, there, ok, so, well, and, then, now, just, also, go ahead and, try to,
    you should, it is time to, how do i, how should i, how can i, how would you, how would i,
    how do we, how should we, how do you, what is the best way to, tell me how to, show me how to,
    is it possible to, are you able to, do you think you could, may i ask you to,
    i was wondering if you could, i wonder if you could, maybe, perhaps, quickly, concertino, demo,
    assistant, i would appreciate it if you could, it would be great if you could,
    it would be nice if you could, you could, you can, start, thanks, i need help,
    i need help with, i need some help, i could use help, i want help, i would like help, i need your help,
    i need some help with";

pub(super) const ENGLISH_TRAIL: &str = "
    please, thanks, thank you, for me, for us, ok, if you can, if you could, if possible, would you,
    will you, could you, can you, kindly, thank you very much, now, right now, today please";

pub(super) const CHINESE_LEAD: &str = "
    请, 请你, 麻烦, 麻烦你, 劳驾, 能不能, 能否, 可不可以, 可以, 能, 可否, 你, 你能, 你可以, 帮我,
    帮忙, 帮, 帮我们, 帮一下我, 替我, 为我, 给我, 给我们, 我想, 我想要, 我要, 我需要, 我得,
    我想让你, 我希望你, 希望你, 想请你, 我想请你, 那, 那么, 你好, 嗨, 好, 好的, 现在, 一起, 我们,
    咱们, 来, 快, 先, 再, 赶紧, 不好意思, 是否, 能帮我, 可以帮我, 顺便, 然后, 接着, 一下, 吧, 需要,
    想要, 怎么, 应该怎么, 该怎么, 我该怎么, 我应该怎么";

/// Removes polite endings, but not half of a word: 旅行吗 is not 旅 and 行吗.
pub(super) fn trim_chinese_end(mut units: &[Unit]) -> &[Unit] {
    const WHOLE: &str = "旅行吗, 出行吗, 执行吗, 运行吗, 进行吗, 步行吗, 飞行吗, 发行吗, 银行吗";
    while let Some(length) = ends_any(units, CHINESE_TRAIL) {
        let length = if ends_any(units, WHOLE).is_some() { 1 } else { length };
        units = &units[..units.len() - length];
    }
    units
}

const CHINESE_TRAIL: &str = "
    吧, 吗, 呢, 啊, 呀, 啦, 哦, 嘛, 好吗, 好不好, 可以吗, 行吗, 行不行, 谢谢, 谢谢你, 多谢, 拜托,
    拜托了, 麻烦了, 麻烦你了, 一下, 了";
