//! What is so at the moment of a turn, from what the client said and the clock.

use jiff::{civil::Weekday, tz::TimeZone};
use protocol::{RunOptions, Timestamp, TurnFacts};

pub(crate) fn of_turn(options: &RunOptions, now: Timestamp) -> TurnFacts {
    // A zone nobody knows is not told on: the date is the one in UTC then.
    let zone = options.timezone.as_deref().and_then(|name| Some((name, TimeZone::get(name).ok()?)));
    let (timezone, zone) = match zone {
        Some((name, zone)) => (Some(name.to_owned()), zone),
        None => (None, TimeZone::UTC),
    };
    let now = jiff::Timestamp::from_millisecond(now.0).unwrap_or_default();
    let date = now.to_zoned(zone).date();
    TurnFacts {
        date: date.to_string(),
        weekday: name(date.weekday()).to_owned(),
        timezone,
        page: options.page_id.clone(),
        tab: options.tab_id.clone(),
        project: options.project_id.clone(),
        file_tokens: None,
    }
}

fn name(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(timezone: &str, now: i64) -> TurnFacts {
        let options = RunOptions { timezone: Some(timezone.to_owned()), ..RunOptions::default() };
        of_turn(&options, Timestamp(now))
    }

    #[test]
    fn the_date_is_the_persons() {
        const LATE_SUNDAY: i64 = 1_767_567_600_000; // 2026-01-04T23:00:00Z
        let (utc, tokyo) = (facts("UTC", LATE_SUNDAY), facts("Asia/Tokyo", LATE_SUNDAY));
        assert_eq!((utc.date.as_str(), utc.weekday.as_str()), ("2026-01-04", "Sunday"));
        assert_eq!((tokyo.date.as_str(), tokyo.weekday.as_str()), ("2026-01-05", "Monday"));
        assert_eq!(tokyo.timezone.as_deref(), Some("Asia/Tokyo"));
    }

    #[test]
    fn a_zone_nobody_knows_is_left_out() {
        assert_eq!(facts("Nowhere/Atlantis", 0).timezone, None);
        assert_eq!(facts("Nowhere/Atlantis", 0).date, "1970-01-01");
    }
}
