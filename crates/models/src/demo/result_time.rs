//! Finds a time in the result of a tool by the form of its values, not by the names of its fields, and puts it into words.

use jiff::{Timestamp, Zoned, civil, fmt::temporal::DateTimeParser, tz::TimeZone};
use serde_json::Value;

use super::utterance::Language;

/// A time as the result contains it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ResultTime {
    value: TimeValue,
    zone: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum TimeValue {
    /// Wall-clock time.
    Civil(civil::DateTime),
    /// Only the instant is known.
    Instant(Timestamp),
    /// A text with a time in it, for people.
    Words(String),
}

/// The time in `result`; in the `wanted` zone if the result and the machine's zone table allow it.
pub(super) fn find(result: &Value, wanted: Option<&str>) -> Option<ResultTime> {
    let mut leaves = Vec::new();
    collect(result, &mut leaves);
    let texts: Vec<&str> = leaves.iter().filter_map(|leaf| leaf.as_str()).map(str::trim).collect();
    let zone = texts.iter().copied().find(|text| is_zone(text)).map(str::to_owned);
    let stamped = texts.iter().find_map(|text| stamp(text));
    let instant = stamped
        .as_ref()
        .map(|(instant, _)| *instant)
        .or_else(|| leaves.iter().find_map(|leaf| counted(leaf)));
    let target = wanted.or(zone.as_deref());

    if let (Some(instant), Some(name)) = (instant, target)
        && let Ok(zone) = TimeZone::get(name)
    {
        return Some(ResultTime {
            value: TimeValue::Civil(instant.to_zoned(zone).datetime()),
            zone: Some(name.to_owned()),
        });
    }
    if let Some((_, Some(local))) = stamped {
        return Some(ResultTime { value: TimeValue::Civil(local), zone });
    }
    if let Some(local) =
        texts.iter().find_map(|text| text.parse::<civil::DateTime>().ok().filter(|_| text.contains(':')))
    {
        return Some(ResultTime { value: TimeValue::Civil(local), zone });
    }
    if let Some(words) = texts.iter().find(|text| shows_time(text) && stamp(text).is_none()) {
        return Some(ResultTime { value: TimeValue::Words((*words).to_owned()), zone: None });
    }
    instant.map(|instant| ResultTime { value: TimeValue::Instant(instant), zone: None })
}

impl ResultTime {
    pub(super) fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }

    pub(super) fn in_words(&self, language: Language) -> String {
        let (time, zone) = match &self.value {
            TimeValue::Words(words) => return words.clone(),
            TimeValue::Civil(time) => (*time, self.zone.clone()),
            TimeValue::Instant(instant) => {
                (instant.to_zoned(TimeZone::UTC).datetime(), Some("UTC".to_owned()))
            }
        };
        let clock = format!("{:02}:{:02}", time.hour(), time.minute());
        let day = usize::try_from(time.date().weekday().to_monday_zero_offset()).unwrap_or_default();
        let (year, month, date) = (time.year(), time.month(), time.day());
        match language {
            Language::English => {
                let month = MONTHS[usize::try_from(month - 1).unwrap_or_default()];
                let zone = zone.map(|zone| format!(" ({zone})")).unwrap_or_default();
                format!("{clock} on {}, {date} {month} {year}{zone}", DAYS[day])
            }
            Language::Chinese => {
                let zone = zone.map(|zone| format!("（{zone}）")).unwrap_or_default();
                format!("{year}年{month}月{date}日 星期{} {clock}{zone}", CHINESE_DAYS[day])
            }
        }
    }
}

const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const CHINESE_DAYS: [&str; 7] = ["一", "二", "三", "四", "五", "六", "日"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn collect<'v>(value: &'v Value, leaves: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, leaves)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, leaves)),
        leaf => leaves.push(leaf),
    }
}

/// An instant with the wall-clock time it was written in; `Z` has no wall-clock time.
fn stamp(text: &str) -> Option<(Timestamp, Option<civil::DateTime>)> {
    static PARSER: DateTimeParser = DateTimeParser::new();
    if let Ok(zoned) = text.parse::<Zoned>() {
        return Some((zoned.timestamp(), Some(zoned.datetime())));
    }
    let instant: Timestamp = text.parse().ok()?;
    let local = PARSER.parse_datetime(text).ok();
    Some((instant, local))
}

/// Seconds or milliseconds since 1970, between the years 2001 and 2100 or so.
fn counted(value: &Value) -> Option<Timestamp> {
    let number = value.as_i64()?;
    match number {
        1_000_000_000..=4_200_000_000 => Timestamp::from_second(number).ok(),
        1_000_000_000_000..=4_200_000_000_000 => Timestamp::from_millisecond(number).ok(),
        _ => None,
    }
}

fn is_zone(text: &str) -> bool {
    let part = |part: &str| {
        part.chars().next().is_some_and(char::is_uppercase)
            && part.chars().all(|c| c.is_alphanumeric() || "_-+".contains(c))
    };
    text == "UTC"
        || text == "GMT"
        || text.split_once('/').is_some_and(|(area, city)| part(area) && city.split('/').all(part))
}

/// Whether a text shows a time: `9:05`, `14:05:00`, `9点05分`.
fn shows_time(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    text.len() <= 120
        && characters.windows(3).any(|three| {
            three[0].is_ascii_digit()
                && matches!(three[1], ':' | '：' | '点' | '时')
                && three[2].is_ascii_digit()
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn english(result: Value, wanted: Option<&str>) -> Option<String> {
        find(&result, wanted).map(|moment| moment.in_words(Language::English))
    }

    #[test]
    fn a_time_is_found_whatever_its_field_is_called() {
        let told = Some("14:05 on Tuesday, 3 March 2026".to_owned());
        assert_eq!(english(json!({ "a": [{ "b": "2026-03-03T14:05:00+09:00" }] }), None), told);
        assert_eq!(english(json!("2026-03-03 14:05"), None), told);
        assert_eq!(
            english(json!({ "x": "Tue 3 March, 2:05 pm" }), None).as_deref(),
            Some("Tue 3 March, 2:05 pm")
        );
        let utc = Some("05:05 on Tuesday, 3 March 2026 (UTC)".to_owned());
        assert_eq!(english(json!({ "ms": 1_772_514_300_000_i64 }), None), utc);
        assert_eq!(english(json!({ "ok": true, "data": { "at": "2026-03-03T05:05:00Z" } }), None), utc);
        assert_eq!(english(json!({ "count": 3, "name": "x" }), None), None);
        assert_eq!(english(json!({ "date": "2026-03-03" }), None), None);
    }

    #[test]
    fn words_for_people_beat_an_instant_in_an_unknown_zone() {
        let result = json!({ "iso": "2026-03-03T05:05:00Z", "timeZone": "Nowhere/Atlantis", "local": "2026/3/3 14:05:00" });
        assert_eq!(english(result, None).as_deref(), Some("2026/3/3 14:05:00"));
    }

    #[test]
    fn both_languages_name_the_weekday() {
        let result = json!({ "iso": "2026-03-03T14:05:00+00:00", "zone": "UTC" });
        let moment = find(&result, None).unwrap();
        assert_eq!(moment.in_words(Language::Chinese), "2026年3月3日 星期二 14:05（UTC）");
        assert_eq!(moment.in_words(Language::English), "14:05 on Tuesday, 3 March 2026 (UTC)");
        assert_eq!(moment.zone(), Some("UTC"));
    }
}
