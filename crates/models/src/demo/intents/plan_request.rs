//! Recognises "plan my …" in many forms and finds its subject.
//!
//! A plan is requested by an order or a wish at the start of a sentence or clause; "the plan was good" and "I have a plan"
//! are statements.

use super::super::{
    politeness,
    terms::{covered, ends_any, find_any, has_any, starts_any, trim_end, trim_start},
    utterance::{Unit, Utterance, first_sentence},
};

const NOUNS: &str = "
    plan, schedule, itinerary, road map, checklist, check list, to do list, agenda, steps,
    action plan, game plan, timetable, step by step plan, timeline";
const MAKE: &str = "
    make, create, write, write up, draw up, draw, draft, prepare, build, develop, design, devise,
    come up with, put together, set up, give, give me, give us, generate, produce, sketch,
    sketch out, outline, propose, suggest, work out, lay out, list, craft, formulate, think of,
    i need, i want, i would like, need, want, we need, map out, set out, write down, write out,
    making, creating, drawing up, i could use, get me, can i get, can i have, could i get,
    could i have, may i have";
const DETERMINERS: &str = "
    a, an, the, my, our, some, me, us, this, simple, short, quick, detailed, good, nice, little,
    rough, step by step, basic, solid, clear, proper, complete, full, up, out, concrete, small";
/// Words that separate the noun from the preceding words.
const OTHER: &str = "for, to, of, about, in, on, with, that, is, was, and, or, from, by, as, if, not";
const FOR: &str = "
    for, to, of, about, on, regarding, for how to, on how to, so that i can, so i can,
    that helps me, that covers, needed to, i need to, required to, to help me, for me to, for my,
    for us to, how to";

pub(super) fn about(utterance: &Utterance) -> Option<String> {
    for part in utterance.parts() {
        let mut starts = vec![part];
        // "I move next month and need a plan": the request may be in the later part of the sentence.
        starts.extend(
            (1..part.len())
                .filter(|at| matches!(part[at - 1].norm.as_str(), "and" | "so" | "but"))
                .map(|at| &part[at..]),
        );
        for units in starts {
            let found = english(units).or_else(|| chinese(units));
            if let Some(subject) = found {
                let before = part.len() - units.len();
                return Some(named(utterance, part, trim_end(&part[..before], "and, so, but"), &subject));
            }
        }
    }
    None
}

/// The subject in the person's words; an empty one is taken from the clauses next to the request.
fn named<'s>(utterance: &'s Utterance, part: &'s [Unit], before: &'s [Unit], subject: &[Unit]) -> String {
    let tidy = |units: &[Unit]| {
        let units = trim_end(first_sentence(units), politeness::ENGLISH_TRAIL);
        let units = politeness::trim_chinese_end(units);
        let units = trim_start(
            units,
            "
        my, our, a, an, the, this, some, i have, i am, there is, it is, i want to, i need to, i have to,
        i would like to, for, about, out",
        );
        let units = trim_start(
            units,
            "
        我的, 我们的, 我, 我们, 一个, 一次, 一场, 一份, 一下, 这个, 这次, 的, 要, 想, 打算, 准备, 个,
        下我的, 下我们的, 在, 关于, 我要, 为, 给, 针对, 对, 好",
        );
        let units = trim_end(units, "的, 该, 这件事, 这个");
        utterance.quote(units).to_owned()
    };
    let own = tidy(subject);
    if !own.is_empty() {
        return own;
    }
    let before = std::iter::once(before).chain(utterance.nearby_clauses(part));
    before.map(tidy).find(|text| !text.is_empty()).unwrap_or_default()
}

fn english(units: &[Unit]) -> Option<Vec<Unit>> {
    let framed = trim_start(units, politeness::ENGLISH_LEAD);
    let framed = trim_end(framed, politeness::ENGLISH_TRAIL);
    let polite = framed.len() < units.len();
    ordered(framed, polite)
        .or_else(|| split_up(framed))
        .or_else(|| made(framed))
        .or_else(|| made(trim_start(units, "please, hi, hello, hey, and, so, ok")))
        .or_else(|| asked(framed))
        .or_else(|| bare(framed))
}

/// "plan X", "map out X", "organize my week".
fn ordered(units: &[Unit], polite: bool) -> Option<Vec<Unit>> {
    if let Some(length) = starts_any(
        units,
        "plan, plan out, plan for, planning, planning out, map out, with planning, plan ahead for",
    ) {
        let object = &units[length..];
        let gerund = has_any(&units[..length], "planning");
        let statement = starts_any(
            object,
            "b, to, on, is, was, are, will, has, had, sounds, looks, ahead, and, or, of, in, works, failed, a is",
        )
        .is_some();
        return (!object.is_empty() && !statement && (!gerund || polite)).then(|| object.to_vec());
    }
    let length = starts_any(units, "organize, schedule, structure, arrange, organizing")?;
    let object = &units[length..];
    let whose = starts_any(object, "my, our, a, the, this, next").is_some();
    let when = has_any(
        object,
        "
        day, week, weekend, month, morning, evening, afternoon, trip, party, move, holiday, holidays,
        vacation, wedding, studies, semester",
    );
    (whose && when).then(|| object.to_vec())
}

/// "break X down into steps".
fn split_up(units: &[Unit]) -> Option<Vec<Unit>> {
    let length = starts_any(units, "break, break down, split, split up, divide, turn, breaking down")?;
    let (into, _) = find_any(units, "into, in")?;
    let object = trim_end(units.get(length..into)?, "down, up");
    let pieces = has_any(&units[into..], "steps, tasks, parts, stages, plan, step by step plan, pieces");
    (pieces && !object.is_empty()).then(|| object.to_vec())
}

/// "make me a study plan for X".
fn made(units: &[Unit]) -> Option<Vec<Unit>> {
    let length = starts_any(units, MAKE)?;
    noun_phrase(&units[length..])
}

/// "what are the steps to X", "what steps do I need to X".
fn asked(units: &[Unit]) -> Option<Vec<Unit>> {
    let length = starts_any(
        units,
        "
        what, which, what are the, what are good, what is a good, what would be a good, what is the best",
    )?;
    let rest = &units[length..];
    let noun = starts_any(rest, "steps, plan, schedule, itinerary")?;
    let after = trim_start(
        &rest[noun..],
        "
        do i need, should i take, should i follow, are needed, do i have to take, would i need,
        do i take",
    );
    let taken = starts_any(after, FOR)?;
    (after.len() > taken).then(|| after[taken..].to_vec())
}

/// "a plan for X, please".
fn bare(units: &[Unit]) -> Option<Vec<Unit>> {
    if starts_any(units, "the, my, our, this, his, her, their").is_some()
        || has_any(units, "is, was, are, were, has, will, failed, went, looks")
    {
        return None;
    }
    let (at, noun) = find_any(units, NOUNS)?;
    let after = &units[at + noun..];
    (at <= 3
        && starts_any(after, "for").is_some()
        && !has_any(&units[..at], OTHER)
        && !has_any(&units[..at], VERBS))
    .then(|| after[1..].to_vec())
}

const VERBS: &str = "
    i, we, you, he, she, they, have, had, like, love, hate, read, buy, send, open, delete, show,
    see, find, what, cancel, change, explain, translate, summarize, thanks, no";

/// Determiners, up to three words for the kind of plan, the noun, and optionally "for X".
fn noun_phrase(units: &[Unit]) -> Option<Vec<Unit>> {
    let inner = trim_start(units, DETERMINERS);
    let definite = has_any(&units[..units.len() - inner.len()], "the, this");
    let (at, noun) = (0..inner.len()).find_map(|at| Some((at, starts_any(&inner[at..], NOUNS)?)))?;
    let kind = &inner[..at];
    let after = &inner[at + noun..];
    if kind.len() > 3 || has_any(kind, OTHER) {
        return None;
    }
    let subject = match starts_any(after, FOR) {
        Some(taken) => &after[taken..],
        None if after.is_empty() && !(definite && kind.is_empty()) => kind,
        None => return None,
    };
    Some(subject.to_vec())
}

const CHINESE_NOUNS: &str = "
    计划, 规划, 方案, 行程, 日程, 步骤, 安排, 攻略, 清单, 待办, 待办清单, 路线图, 时间表, 计划表,
    日程表, 行动计划, 日程安排, 行程安排, 行程表, 计划书, 计划安排, 策划, 流程";
const CHINESE_PLAN: &str = "计划, 规划, 安排, 策划, 筹划, 谋划, 统筹, 筹备";
const CHINESE_MAKE: &str = "
    做, 制定, 制订, 拟定, 拟, 列, 列出, 列一, 写, 写出, 出, 定, 设计, 给, 来, 整理, 整理出, 想, 弄,
    搞, 生成, 起草, 草拟, 做出, 订, 准备, 要, 创建, 建, 建立, 排, 编, 提供, 提出, 给出, 规划, 安排,
    计划出";
const MEASURE: &str = "
    一, 个, 一个, 一份, 份, 一下, 一张, 张, 一套, 套, 些, 一些, 出, 下, 简单的, 简单, 详细的, 详细,
    具体的, 具体, 完整的, 合理的, 好, 一版, 版, 几个, 我的, 我";
/// Words that follow the verb of an order without a polite opening.
const MARKS: &str = "
    一下, 下, 我, 我们, 一次, 一个, 一场, 个, 这, 明天, 今天, 下周, 本周, 这周, 周末, 假期, 后天,
    下个月, 暑假, 寒假, 好";
/// Words of a statement about a plan.
const ABOUT_A_PLAN: &str =
    "是, 很, 不, 被, 已经, 赶不上, 取消, 失败, 生育, 经济, 了, 有变, 好了, 得, 有, 怎么样";

fn chinese(units: &[Unit]) -> Option<Vec<Unit>> {
    let units = politeness::trim_chinese_end(units);
    let framed = trim_start(units, politeness::CHINESE_LEAD);
    let polite = framed.len() < units.len()
        && starts_any(units, "我们, 现在, 你, 我要")
            .is_none_or(|_| has_any(units, "帮, 请, 能, 可以, 替我, 一下"));
    chinese_split(framed)
        .or_else(|| chinese_made(framed))
        .or_else(|| chinese_made(trim_start(units, "请, 帮我, 你, 麻烦, 能, 可以")))
        .or_else(|| chinese_ordered(framed, polite))
        .or_else(|| chinese_how(units))
        .or_else(|| chinese_topic_first(units))
}

/// 规划一下X.
fn chinese_ordered(units: &[Unit], polite: bool) -> Option<Vec<Unit>> {
    let length = starts_any(units, CHINESE_PLAN)?;
    let object = &units[length..];
    let statement = starts_any(object, ABOUT_A_PLAN).is_some();
    let marked = starts_any(object, MARKS).is_some();
    (!object.is_empty() && !statement && (polite || marked)).then(|| object.to_vec())
}

/// 做一个X计划.
fn chinese_made(units: &[Unit]) -> Option<Vec<Unit>> {
    let (lead, rest) = match find_any(units, "做, 制定, 制订, 列, 列出, 拟, 写, 定, 出") {
        // 为X制定计划: the purpose may precede the verb.
        Some((at, _)) if starts_any(units, "为, 给, 针对, 对, 就, 关于").is_some() && at > 1 => {
            (&units[1..at], &units[at..])
        }
        _ => (&units[..0], units),
    };
    let length =
        starts_any(rest, CHINESE_MAKE).or_else(|| starts_any(rest, "一个, 一份, 个, 份, 一张").map(|_| 0))?;
    let object = trim_start(&rest[length..], MEASURE);
    let noun = ends_any(object, CHINESE_NOUNS)?;
    let kind = &object[..object.len() - noun];
    let other = has_any(kind, "了, 是, 吗, 没有, 取消, 被, 什么, 哪些, 给我, 帮我, 替我, 请");
    let subject = if kind.is_empty() { lead } else { kind };
    (!other).then(|| subject.to_vec())
}

/// 把X分成几步.
fn chinese_split(units: &[Unit]) -> Option<Vec<Unit>> {
    let rest = &units[starts_any(units, "把, 将")?..];
    let (at, _) = find_any(
        rest,
        "
        拆成, 分成, 分解成, 拆分成, 分解为, 拆分为, 拆解成, 拆解为, 分为, 安排, 规划, 计划, 列成, 做成,
        整理成",
    )?;
    let tail = &rest[at..];
    (at > 0 && has_any(tail, "步, 步骤, 计划, 任务, 阶段, 安排, 规划, 清单")).then(|| rest[..at].to_vec())
}

/// X怎么安排.
fn chinese_how(units: &[Unit]) -> Option<Vec<Unit>> {
    let tail = ends_any(
        units,
        "
        怎么安排, 怎么规划, 怎么计划, 该怎么安排, 该怎么规划, 应该怎么安排, 应该怎么规划, 应该怎么计划,
        该怎么计划, 怎么安排比较好, 怎么安排才好, 怎么规划比较好, 要怎么安排, 要怎么规划",
    )?;
    let subject = &units[..units.len() - tail];
    (!subject.is_empty()).then(|| subject.to_vec())
}

/// X帮我规划一下, X请做个计划.
fn chinese_topic_first(units: &[Unit]) -> Option<Vec<Unit>> {
    let (at, length) = find_any(
        units,
        "
        帮我, 请帮我, 请你帮我, 麻烦帮我, 请, 替我, 给我, 能不能帮我, 能帮我, 可以帮我, 麻烦你帮我,
        你能帮我",
    )?;
    let request = trim_start(&units[at + length..], politeness::CHINESE_LEAD);
    let ordered = starts_any(request, CHINESE_PLAN)
        .is_some_and(|length| covered(&request[length..], &["一下, 下, 好, 个, 安排"]));
    let subject = chinese_made(request).or_else(|| ordered.then(Vec::new))?;
    if subject.is_empty() { Some(units[..at].to_vec()) } else { Some(subject) }
}
