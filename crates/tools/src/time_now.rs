//! `time-now`: the current date and time in a time zone. Never asks.

use jiff::{Zoned, civil::Weekday, tz::TimeZone};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Tool, ToolCtx, ToolError, instant::instant};

/// Tell the current date and time. Call it whenever the answer depends on now: today's date, the weekday, how long
/// until or since something.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// IANA time zone, for example `Asia/Shanghai` or `Europe/Berlin`. Default: the person's zone, else UTC.
    timezone: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    iso: String,
    unix_ms: i64,
    time_zone: String,
    year: i16,
    month: i8,
    day: i8,
    hour: i8,
    minute: i8,
    second: i8,
    day_of_week: &'static str,
    day_of_week_zh: &'static str,
    local_formatted: String,
}

pub struct TimeNow;

impl Tool for TimeNow {
    const NAME: &'static str = "time-now";
    type Input = Input;
    type Output = Output;

    async fn run(&self, ctx: ToolCtx, input: Input) -> Result<Output, ToolError> {
        let now = ctx.clock.now();
        let asked = input.timezone.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let (zone, name) = match asked {
            Some(asked) => named(asked).ok_or_else(|| unknown(asked))?,
            // An invalid zone of the client is not the model's mistake.
            None => ctx.timezone.as_deref().and_then(named).unwrap_or_else(utc),
        };
        Ok(describe(&instant(now)?.to_zoned(zone), now.0, name))
    }
}

fn named(name: &str) -> Option<(TimeZone, String)> {
    let zone = TimeZone::get(name).ok()?;
    let name = zone.iana_name()?.to_owned();
    Some((zone, name))
}

fn utc() -> (TimeZone, String) {
    (TimeZone::UTC, "UTC".to_owned())
}

fn unknown(name: &str) -> ToolError {
    let name: String = name.chars().take(80).collect();
    ToolError::Report(format!(
        "there is no time zone named \"{name}\"; use an IANA name such as \"Asia/Shanghai\" or leave `timezone` out"
    ))
}

fn describe(now: &Zoned, unix_ms: i64, time_zone: String) -> Output {
    let (day_of_week, day_of_week_zh) = weekday(now.weekday());
    let (year, month, day) = (now.year(), now.month(), now.day());
    let (hour, minute, second) = (now.hour(), now.minute(), now.second());
    Output {
        iso: now.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string(),
        unix_ms,
        time_zone,
        year,
        month,
        day,
        hour,
        minute,
        second,
        day_of_week,
        day_of_week_zh,
        local_formatted: format!(
            "{year}年{month}月{day}日{day_of_week_zh} {hour:02}:{minute:02}:{second:02}"
        ),
    }
}

fn weekday(day: Weekday) -> (&'static str, &'static str) {
    match day {
        Weekday::Monday => ("Monday", "星期一"),
        Weekday::Tuesday => ("Tuesday", "星期二"),
        Weekday::Wednesday => ("Wednesday", "星期三"),
        Weekday::Thursday => ("Thursday", "星期四"),
        Weekday::Friday => ("Friday", "星期五"),
        Weekday::Saturday => ("Saturday", "星期六"),
        Weekday::Sunday => ("Sunday", "星期日"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::{Family, erase, testing};

    async fn call(person: Option<&str>, input: Value) -> Result<Value, String> {
        let ctx = ToolCtx { timezone: person.map(str::to_owned), ..testing::ctx(&Arc::default()) };
        testing::call_in(ctx, erase(TimeNow, Family::Host), input).await
    }

    #[tokio::test]
    async fn the_asked_zone_is_used() {
        assert_eq!(
            call(Some("Europe/Berlin"), json!({ "actionName": "date", "timezone": "asia/shanghai" })).await,
            Ok(json!({
                "iso": "2026-03-01T20:15:07.089+08:00",
                "unixMs": testing::NOW,
                "timeZone": "Asia/Shanghai",
                "year": 2026, "month": 3, "day": 1, "hour": 20, "minute": 15, "second": 7,
                "dayOfWeek": "Sunday",
                "dayOfWeekZh": "星期日",
                "localFormatted": "2026年3月1日星期日 20:15:07",
            }))
        );
    }

    #[tokio::test]
    async fn without_a_zone_it_is_the_persons_else_utc() {
        for (person, expected) in [
            (Some("America/New_York"), "2026-03-01T07:15:07.089-05:00"),
            (Some("Middle/Earth"), "2026-03-01T12:15:07.089+00:00"),
            (None, "2026-03-01T12:15:07.089+00:00"),
        ] {
            for input in [json!({}), json!({ "timezone": " " }), json!({ "timezone": 8 })] {
                assert_eq!(call(person, input).await.unwrap()["iso"], expected);
            }
        }
    }

    #[tokio::test]
    async fn an_unknown_zone_is_named_with_an_example() {
        for zone in ["Mars/Olympus", "Etc/Unknown", "../etc/passwd", "+08:00"] {
            let error = call(None, json!({ "timezone": zone })).await.unwrap_err();
            let expected =
                format!("there is no time zone named \"{zone}\"; use an IANA name such as \"Asia/Shanghai\"");
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn its_schema_is_stable() {
        insta::assert_snapshot!(serde_json::to_string_pretty(&erase(TimeNow, Family::Host).spec().input_schema).unwrap(), @r#"
        {
          "type": "object",
          "properties": {
            "actionName": {
              "type": "string",
              "description": "A short purpose of this call, shown to the person."
            },
            "timezone": {
              "type": "string",
              "description": "IANA time zone, for example `Asia/Shanghai` or `Europe/Berlin`. Default: the person's zone, else UTC."
            }
          },
          "required": [
            "actionName"
          ]
        }
        "#);
    }
}
