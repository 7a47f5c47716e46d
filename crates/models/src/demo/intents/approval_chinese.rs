//! Recognises "ask me before you …" in Chinese and finds its subject.
//!
//! As in English, two things are required: asking *me*, and an action that waits for it. "问我一个问题" lacks the second,
//! "他走之前问我" is about another person.

use super::super::{
    politeness,
    terms::{covered, find_any, has_any, starts_any, trim_end, trim_start},
    utterance::Unit,
};

const ASK: &str = "
    问我, 问问我, 问一下我, 问下我, 问过我, 问一问我, 问一声, 跟我确认, 和我确认, 与我确认,
    同我确认, 向我确认, 找我确认, 让我确认, 由我确认, 经我确认, 等我确认, 我确认, 跟我说,
    跟我说一声, 和我说一声, 跟我商量, 和我商量, 与我商量, 征求我的意见, 征求我意见, 征求我, 征得我,
    征询我, 经过我, 经我, 得到我, 获得我, 取得我, 等我, 请示我, 向我请示, 让我同意, 让我批准,
    让我审批, 让我审核, 让我看, 让我过目, 让我点头, 我批准, 我同意, 我点头, 我允许, 我许可,
    我说可以, 请求我, 询问我, 需要我, 要我, 我审批, 请我, 向我申请, 跟我打招呼, 跟我打个招呼,
    我授权, 我明确同意, 我明确批准, 我首肯, 我答应, 由我批准, 由我审批, 由我决定, 让我决定, 获我,
    有我的";
const OWN: &str = "
    同意, 允许, 许可, 批准, 确认, 意见, 授权, 点头, 首肯, 审批, 的同意, 的允许, 的许可, 的批准,
    的确认, 的意见, 的授权, 的审批, 的首肯, 审核, 过目, 答应, 确认过, 同意了, 批准了, 确认了,
    点头了, 答应了, 的明确同意, 明确同意";
const LEADS: &str = "
    先, 要, 请, 必须, 一定要, 一定, 务必, 都, 得, 你, 需要, 应该, 记得, 来, 都要, 要先, 请先, 首先,
    事先, 提前, 必须先, 一定要先, 务必先, 都得, 得先, 最好, 最好先, 能不能, 可以, 能, 麻烦, 麻烦你,
    每次, 以后, 从现在起, 我希望你, 希望你, 我要你, 我想让你, 我想, 但, 但是, 不过, 可是, 然后,
    前提是, 并且, 且, 只有, 只能, 只能在, 在, 凡事, 什么事, 有事, 做事, 做任何事, 无论做什么, 的话,
    去, 好, 那, 全, 均, 须, 需, 需先, 须先, 等, 是, 也, 再, 还是, 千万, 把, 帮我";
const TAIL: &str = "
    一下, 一声, 吧, 好吗, 行吗, 可以吗, 好不好, 是否同意, 是否可以, 可不可以, 同意不同意, 行不行,
    的意见, 意见, 同意, 批准, 确认, 许可, 允许, 谢谢, 哦, 啊, 呢, 了, 才行, 才可以, 才能做, 再说,
    过目, 过, 看, 能不能做, 可否, 再做, 再动手, 再执行, 再行动, 再继续, 要不要, 同不同意, 的,
    后再做, 才能继续, 才能执行, 再决定, 嘛, 才好, 看看, 得到";
const NOT: &str = "
    不要, 别, 不许, 不得, 不能, 不可以, 不准, 请勿, 不可, 禁止, 勿, 绝不能, 都不要, 千万别,
    千万不要, 绝对不要, 就不要, 就别, 请不要, 请别, 不应, 不应该, 什么都不要, 都别, 你不能, 你别,
    你不要, 先不要, 先别";
const WITHOUT: &str = "
    没有, 没, 未经, 不经, 未经过, 没经过, 没有经过, 没得到, 没有得到, 未得到, 不经过, 没问, 没有问,
    不问, 没先问, 未获, 未获得, 没征得, 未征得, 不征求, 没有征得, 没跟, 不跟, 不先问, 没有先问,
    没有事先问, 在没有, 在未经, 在没有得到, 在没问, 没征求";
const OTHERS: &str = "
    他, 她, 它, 老师, 妈妈, 爸爸, 老板, 同事, 我, 他们, 她们, 小, 昨天, 为什么, 谁, 客户, 朋友,
    孩子, 这, 那, 有人, 人家, 别人";

/// What is to be approved, possibly empty; `None` if it is another request.
pub(super) fn about(units: &[Unit]) -> Option<&[Unit]> {
    let units = politeness::trim_chinese_end(units);
    without(units)
        .or_else(|| before(units))
        .or_else(|| then(units))
        .or_else(|| not_before(units))
        .or_else(|| first(units))
}

/// The number of units at the start that mean "ask me".
fn ask(units: &[Unit]) -> Option<usize> {
    let length = starts_any(units, ASK)?;
    Some(length + starts_any(&units[length..], OWN).unwrap_or(0))
}

fn find_ask(units: &[Unit]) -> Option<(usize, usize)> {
    (0..units.len()).find_map(|at| Some((at, ask(&units[at..])?)))
}

/// The action without its leading words; `None` if another person acts.
fn thing(units: &[Unit]) -> Option<&[Unit]> {
    let units = trim_start(
        units,
        "
        请, 你, 在, 每次, 以后, 记得, 务必, 一定, 要, 凡是, 凡, 如果, 要是, 如果你要, 如果要, 你要,
        当你, 麻烦, 麻烦你, 只要, 任何, 帮我, 我希望你, 希望你, 我希望, 我要你, 就, 去, 从现在起,
        能不能, 可以, 想, 若, 若要, 你想, 想要, 的, 你好, 但是, 但, 我想让你, 进行, 好的, 先, 下次",
    );
    let units = trim_end(
        units,
        "
        的话, 的时候, 时, 之前, 以前, 前, 但, 但是, 不过, 可是, 都, 你, 请, 要, 的, 就, 可以, 然后,
        前提是",
    );
    starts_any(units, OTHERS).is_none().then_some(units)
}

/// X之前先问我
fn before(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = (0..units.len()).find_map(|at| {
        let taken = starts_any(&units[at..], "之前, 以前, 前")?;
        let (ask, _) = find_ask(&units[at + taken..])?;
        covered(&units[at + taken..at + taken + ask], &[LEADS]).then_some((at, taken + ask))
    })?;
    let asked = &units[at + length..];
    let tail = &asked[ask(asked)?..];
    let thing = thing(&units[..at])?;
    (covered(tail, &[TAIL]) && !thing.is_empty()).then_some(thing)
}

/// 先问我再X, 等我同意后再X
fn then(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = find_ask(units)?;
    let rest = trim_start(
        &units[at + length..],
        "
        一下, 一声, 同意, 批准, 确认, 意见, 之后, 以后, 后, 了, 过, 过目, 看, 可以, 行不行, 好了, 看过,
        看看, 的",
    );
    let taken = starts_any(
        rest,
        "
        再, 才能, 才可以, 才, 才去, 再去, 方可, 才准, 才许, 你才能, 你再, 然后再, 你才可以, 才允许,
        再来, 才可",
    )?;
    let thing = &rest[taken..];
    let before = &units[..at];
    if thing.is_empty() || covered(thing, &[TAIL, "做, 说, 行, 动, 动手, 继续, 执行, 行动"]) {
        return None;
    }
    covered(before, &[LEADS, politeness::CHINESE_LEAD]).then_some(thing)
}

/// 我同意之前不要X
fn not_before(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = find_ask(units)?;
    let rest = &units[at + length..];
    let before = starts_any(rest, "之前, 以前, 前")?;
    let rest = trim_start(&rest[before..], "你, 请, 都, 先");
    let taken = starts_any(rest, NOT)?;
    covered(&units[..at], &[LEADS, politeness::CHINESE_LEAD]).then(|| &rest[taken..])
}

/// 未经我同意不要X, 不要不问我就X
fn without(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = find_any(units, WITHOUT)?;
    let after = trim_start(&units[at + length..], "先, 事先, 过, 经过, 得到, 征得, 获得, 问, 问过, 跟, 征求");
    let me = starts_any(after, "我")?;
    let own = starts_any(&after[me..], OWN).or_else(|| starts_any(&after[me..], "说, 商量, 确认, 打招呼"));
    let asked = has_any(&units[at..units.len() - after.len()], "问, 商量, 征求");
    if own.is_none() && !asked {
        return None;
    }
    let rest = trim_start(
        &after[me + own.unwrap_or(0)..],
        "之前, 以前, 前, 的情况下, 情况下, 的时候, 时, 你, 的话, 过, 请, 就, 什么, 一声, 绝对",
    );
    if let Some(taken) = starts_any(rest, NOT) {
        return Some(&rest[taken..]);
    }
    let (place, taken) = find_any(&units[..at], NOT)?;
    let lead = covered(&units[..place], &[LEADS, politeness::CHINESE_LEAD]);
    let between = thing(&units[place + taken..at])?;
    lead.then_some(if between.is_empty() { rest } else { between })
}

/// X，但先问我; or only 先问我
fn first(units: &[Unit]) -> Option<&[Unit]> {
    let (at, length) = (0..units.len()).find_map(|at| {
        let first = starts_any(
            &units[at..],
            "
        先, 要先, 必须先, 事先, 提前, 首先, 得先, 务必先, 请先, 一定要先, 必须, 需要, 务必, 一定要, 需,
        须, 都要, 得, 先要, 最好先, 先来, 都得, 都必须, 都需要, 要, 只有, 再, 等",
        )?;
        let asked = ask(&units[at + first..])?;
        Some((at, first + asked))
    })?;
    let thing = thing(trim_end(&units[..at], LEADS))?;
    // One such word is not enough: 要我, 等我 have many other meanings.
    let light = starts_any(&units[at..], "要, 得, 再, 等, 需要, 必须") == Some(1);
    let strict = !light || has_any(&units[at..at + length], OWN);
    (strict && covered(&units[at + length..], &[TAIL])).then_some(thing)
}
