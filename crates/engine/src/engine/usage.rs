//! How much was used: the ledger's sums as people ask for them, with days that are days where they live.

use jiff::{civil::Date, tz::TimeZone};
use protocol::{
    MessageId, RunId, SessionId, Timestamp, WorkspaceId,
    wire::usage::{GroupBy, Spent, SpentGroup, UsageReport},
};
use store::{UsageBy, UsageQuery, UsageReports, UsageSum};

use crate::EngineError;

const MOST_GROUPS: usize = 1_000;
const QUARTER_HOUR_MS: i64 = 900_000;

#[derive(Clone, Debug, Default)]
pub struct UsageRequest {
    pub by: GroupBy,
    pub session: Option<SessionId>,
    pub run: Option<RunId>,
    pub message: Option<MessageId>,
    /// A day (`2026-01-05`) or an instant (`2026-01-05T09:00:00Z`).
    pub from: Option<String>,
    /// The last day, or the instant before which.
    pub to: Option<String>,
    /// IANA name; UTC when absent.
    pub timezone: Option<String>,
}

/// Adds up what a workspace used.
pub async fn report(
    ledger: &(impl UsageReports + ?Sized),
    workspace: &WorkspaceId,
    request: UsageRequest,
) -> Result<UsageReport, EngineError> {
    let name = request.timezone.as_deref().unwrap_or("UTC");
    let zone = TimeZone::get(name)
        .map_err(|_| EngineError::InvalidMessage(format!("There is no time zone named \"{name}\".")))?;
    let by_time = request.by == GroupBy::Day;
    let query = UsageQuery {
        workspace: workspace.clone(),
        session: request.session,
        run: request.run,
        message: request.message,
        from: request.from.map(|from| moment("from", &from, &zone, Bound::First)).transpose()?,
        until: request.to.map(|to| moment("to", &to, &zone, Bound::Last)).transpose()?,
        by: unit(request.by),
        limit: if by_time { u32::MAX } else { MOST_GROUPS as u32 + 1 },
    };
    let mut sums = ledger.usage(&query).await?;
    if by_time {
        sums = days(sums, &zone);
    }
    let truncated = sums.len() > MOST_GROUPS;
    let mut total = UsageSum::default();
    if truncated {
        // What there are few of.
        let query = UsageQuery { by: UsageBy::Model, limit: u32::MAX, ..query };
        ledger.usage(&query).await?.iter().for_each(|sum| total.add(sum));
        sums.truncate(MOST_GROUPS);
    } else {
        sums.iter().for_each(|sum| total.add(sum));
    }
    Ok(UsageReport {
        by: request.by,
        timezone: name.to_owned(),
        total: spent(&total),
        groups: sums.iter().map(|sum| SpentGroup { key: sum.key.clone(), spent: spent(sum) }).collect(),
        truncated,
    })
}

fn unit(by: GroupBy) -> UsageBy {
    match by {
        GroupBy::Day => UsageBy::QuarterHour,
        GroupBy::Model => UsageBy::Model,
        GroupBy::Agent => UsageBy::Agent,
        GroupBy::Session => UsageBy::Session,
        GroupBy::Run => UsageBy::Run,
        GroupBy::Message => UsageBy::Message,
    }
}

/// Quarters of an hour, newest first, as days of the zone.
fn days(quarters: Vec<UsageSum>, zone: &TimeZone) -> Vec<UsageSum> {
    let mut days: Vec<UsageSum> = Vec::new();
    for quarter in quarters {
        let began = quarter.key.parse::<i64>().unwrap_or_default().saturating_mul(QUARTER_HOUR_MS);
        let began = jiff::Timestamp::from_millisecond(began).unwrap_or_default();
        let day = began.to_zoned(zone.clone()).date().to_string();
        match days.last_mut() {
            Some(last) if last.key == day => last.add(&quarter),
            _ => days.push(UsageSum { key: day, ..quarter }),
        }
    }
    days
}

#[derive(Clone, Copy, PartialEq)]
enum Bound {
    First,
    /// A day is meant with all its hours.
    Last,
}

fn moment(field: &str, text: &str, zone: &TimeZone, bound: Bound) -> Result<Timestamp, EngineError> {
    let wrong = || {
        EngineError::InvalidMessage(format!(
            "{field} must be a day like 2026-01-05 or an instant like 2026-01-05T09:00:00Z, not \"{text}\"."
        ))
    };
    if let Ok(instant) = text.parse::<jiff::Timestamp>() {
        return Ok(Timestamp(instant.as_millisecond()));
    }
    let day: Date = text.parse().map_err(|_| wrong())?;
    let day = if bound == Bound::Last { day.tomorrow().map_err(|_| wrong())? } else { day };
    let start = day.to_zoned(zone.clone()).map_err(|_| wrong())?;
    Ok(Timestamp(start.timestamp().as_millisecond()))
}

fn spent(sum: &UsageSum) -> Spent {
    Spent {
        calls: sum.calls,
        failed_calls: sum.failed,
        usage: sum.usage,
        cost: sum.cost.usd(),
        unpriced_calls: sum.unpriced,
        duration_ms: sum.duration_ms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quarter(at: &str, calls: u64) -> UsageSum {
        let at: jiff::Timestamp = at.parse().unwrap();
        let key = (at.as_millisecond() / QUARTER_HOUR_MS).to_string();
        UsageSum { key, calls, ..UsageSum::default() }
    }

    #[test]
    fn a_day_is_a_day_where_the_person_lives() {
        let quarters = || {
            vec![
                quarter("2026-01-05T18:30:00Z", 1),
                quarter("2026-01-05T18:15:00Z", 2),
                quarter("2026-01-04T23:00:00Z", 4),
            ]
        };
        let of = |zone: &str| {
            let days = days(quarters(), &TimeZone::get(zone).unwrap());
            days.into_iter().map(|day| format!("{} {}", day.key, day.calls)).collect::<Vec<_>>()
        };
        assert_eq!(of("UTC"), ["2026-01-05 3", "2026-01-04 4"]);
        assert_eq!(of("Asia/Tokyo"), ["2026-01-06 3", "2026-01-05 4"]);
        assert_eq!(of("Asia/Kolkata"), ["2026-01-06 1", "2026-01-05 6"], "half past the hour");
    }

    #[test]
    fn the_last_day_counts_whole_and_an_instant_is_an_instant() {
        let tokyo = TimeZone::get("Asia/Tokyo").unwrap();
        let at = |text: &str, bound| moment("to", text, &tokyo, bound).unwrap().0;
        assert_eq!(at("2026-01-05", Bound::Last) - at("2026-01-05", Bound::First), 24 * 3_600_000);
        assert_eq!(at("1970-01-01T00:00:01Z", Bound::Last), 1_000);
        assert!(
            moment("to", "yesterday", &tokyo, Bound::Last).unwrap_err().to_string().contains("to must be")
        );
    }
}
