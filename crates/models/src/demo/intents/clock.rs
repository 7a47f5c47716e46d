//! "What time is it", also in another place: calls the tool that returns the time and puts its result into words.

use protocol::ToolSpec;

use super::super::{
    context::DemoContext,
    find_tool,
    intent::Intent,
    outcome,
    outcome::Outcome,
    reply::Reply,
    result_time,
    schema::Object,
    terms::{ClosedRule, covered, has_any, starts_any},
    time_zones,
    utterance::{Language, Unit, Utterance},
};

pub(in super::super) const INTENT: Intent = Intent { name: "clock", understand, answer, offer };

const ENGLISH: ClosedRule = ClosedRule {
    needs: &["
        what time, the time, current time, present time, exact time, local time, time is it, time it is,
        time now, time right now, time here, time there, time in, time at, time of day, ^ time $,
        ^ time please, time please $, what date, which date, the date, current date, date today,
        today date, date is it, date it is, the day today, what day, which day, day is it, day is today,
        day it is, day of the week, what weekday, which weekday, weekday is it, what hour, the hour,
        how late, what is today, the clock, your clock, what year, which year, what month, which month,
        what oclock, time have you, time do you have, got the time, time check, today is what"],
    knows: "
        what, which, how, late, is, it, the, a, time, date, day, hour, weekday, week, of, month, year,
        current, currently, present, exact, local, right now, now, today, at the moment, at this moment,
        this very moment, moment, here, there, in, at, on, over, for, by, your, clock, clocks, watch,
        say, says, does, show, shows, do you have, have you got, you got, got, have you, you have,
        are we, my, time zone, check, look up, read, get, find out, see, where i am, where you are,
        have, already, as of, be, would, it be, look at, people in, i need, i want, i would like, know,
        tell, if you know, i have, do i have, it has, need",
    never: "
        what is time $, the time is now, now is the time, have time, is it time, time is money,
        what is a, the date of, have the date, on the date $, at the time $, in the time $,
        ^ i have the time",
};

const CHINESE: ClosedRule = ClosedRule {
    needs: &["
        几点, 什么时间, 什么时辰, 现在时间, 当前时间, 目前时间, 的时间, 时间是, 时间几, 本地时间,
        当地时间, 现在时刻, 看时间, 看看时间, 看一下时间, 查时间, 查一下时间, 查下时间, 查查时间, 报时,
        报个时, 报一下时间, 报时间, 告诉我时间, 问时间, 问一下时间, 问下时间, 几号, 几月几, 几月,
        星期几, 礼拜几, 周几, 什么日期, 日期, 什么日子, 几时, 哪天, 哪一天, 哪年, 哪一年, 哪月,
        什么时候了, 时间到, ^ 时间 $, ^ 时间吗 $, 今天多少号, 时间呢"],
    knows: "
        现在, 当前, 目前, 此刻, 眼下, 今天, 今日, 今儿, 今儿个, 这会儿, 这时候, 是, 的, 当地, 本地,
        这里, 那边, 那里, 这边, 我这边, 我这里, 时间, 日期, 钟, 点钟, 了, 到, 都, 已经, 在, 准确, 具体,
        精确, 确切, 年, 月, 日, 号, 多少, 用, 下, 个, 报, 时, 和, 星期, 几, 究竟, 到底, 大概, 多少点, 几分,
        地方, 什么, 时区, 按, 你那里, 你那边",
    never: "给我时间, 有时间, 没时间, 几点去, 几点见",
};

/// The subject is the words that name a place, or nothing.
fn understand(utterance: &Utterance) -> Option<String> {
    utterance.parts().into_iter().find_map(|part| understand_part(utterance, part))
}

fn understand_part(utterance: &Utterance, part: &[Unit]) -> Option<String> {
    let (without, place) = match time_zones::find(utterance, part) {
        Some(place) => {
            let rest = part[..place.units.start].iter().chain(&part[place.units.end..]);
            (rest.cloned().collect::<Vec<Unit>>(), place.name)
        }
        None => (part.to_vec(), String::new()),
    };
    let bare = !place.is_empty() && (covered(&without, &["time"]) || covered(&without, &["时间, 现在, 的"]));
    if (bare && !without.is_empty()) || ENGLISH.accepts(&without) || CHINESE.accepts(&without) {
        return Some(place);
    }
    unknown_place(utterance, part)
}

/// A place that is not in the table, recognised by its position: "time … in X", 现在X几点.
fn unknown_place(utterance: &Utterance, part: &[Unit]) -> Option<String> {
    if let Some(left) = ENGLISH.unknown_units(part) {
        let (first, last) = (*left.first()?, *left.last()?);
        let place = &part[first..=last];
        let named = first >= 1
            && starts_any(&part[first - 1..], "in").is_some()
            && left.len() == place.len()
            && place.len() <= 3
            && !has_any(place, "my, his, her, the, an, our, this, hours, minutes, days, and")
            && place
                .iter()
                .all(|unit| unit.norm.chars().all(char::is_alphabetic) && !unit.norm.ends_with("ing"));
        return named.then(|| utterance.quote(place).to_owned());
    }
    let left = CHINESE.unknown_units(part)?;
    let (first, last) = (*left.first()?, *left.last()?);
    let place = &part[first..=last];
    let beside_now = (first >= 2 && starts_any(&part[first - 2..], "现在").is_some())
        || starts_any(&part[last + 1..], "现在, 那边, 那里, 当地").is_some();
    let named = beside_now
        && left.len() == place.len()
        && (2..=6).contains(&place.len())
        && !has_any(place, "他, 她, 会, 车, 课, 店, 飞机, 航班, 们")
        && starts_any(&part[last + 1..], "几点, 时间, 的时间, 是几点, 是什么时间, 那边, 那里, 当地, 现在")
            .is_some();
    named.then(|| utterance.quote(place).to_owned())
}

fn answer(context: &DemoContext, about: &str) -> Reply {
    let language = context.language;
    let named = Utterance::new(about);
    let place = time_zones::find(&named, named.all());
    if let Some(outcome) = context.newest_outcome() {
        return Reply::Say(answer_text(
            outcome,
            about,
            place.as_ref().map(|place| place.zone.as_str()),
            language,
        ));
    }
    let Some(tool) = find_tool::clock(&context.tools) else {
        return Reply::Say(language.pick(
            "I have no clock here: none of the tools I was given tells the time, and I do not want to guess.".to_owned(),
            "我这里没有时钟：给我的工具里没有能报时的，我也不想乱猜。".to_owned(),
        ));
    };
    let zone = place.as_ref().map(|place| place.zone.clone());
    let purpose = match &zone {
        Some(zone) => language.pick(format!("Look up the time in {zone}"), format!("查看{zone}的时间")),
        None => language.pick("Look up the current time".to_owned(), "查看当前时间".to_owned()),
    };
    let input = Object::of(tool);
    let properties = input.properties();
    let slot = properties.iter().find(|property| find_tool::is_zone(property));
    let values: Vec<_> = slot.zip(zone).map(|(slot, zone)| (slot.name, zone.into())).into_iter().collect();
    Reply::Call {
        thought: language.pick(
            "The person wants to know the time; one of the tools can tell it.".to_owned(),
            "用户想知道时间，有一个工具可以告诉我。".to_owned(),
        ),
        tool: tool.name.clone(),
        input: input.fill(&values, &purpose),
    }
}

fn answer_text(outcome: &Outcome, about: &str, wanted: Option<&str>, language: Language) -> String {
    let Outcome::Done(result) = outcome else {
        return super::trouble(outcome, language).unwrap_or_default();
    };
    let Some(time) = result_time::find(result, wanted) else {
        let quoted = outcome::quote(result);
        return language.pick(
            format!("I asked for the time, but cannot read the answer. It says: {quoted}"),
            format!("我查了时间，但看不懂返回的结果，原文是：{quoted}"),
        );
    };
    let words = time.in_words(language);
    let elsewhere =
        !about.is_empty() && (wanted.is_none() || time.zone().is_some_and(|zone| Some(zone) != wanted));
    match (about.is_empty(), elsewhere) {
        (false, true) => language.pick(
            format!("I could not get the time for {about}. Here it is {words}."),
            format!("我没能查到{about}的时间。这里现在是 {words}。"),
        ),
        (false, false) => {
            language.pick(format!("In {about} it is {words}."), format!("{about}现在是 {words}。"))
        }
        (true, _) => language.pick(format!("It is {words}."), format!("现在是 {words}。")),
    }
}

fn offer(tools: &[ToolSpec], language: Language) -> Option<String> {
    find_tool::clock(tools)?;
    Some(language.pick(
        "tell the time: \"what time is it?\" or \"what time is it in Tokyo?\"".to_owned(),
        "报时：“现在几点？”或“现在东京几点？”".to_owned(),
    ))
}
