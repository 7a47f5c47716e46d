//! Model calls: one row each, added up by a query.

use std::sync::Arc;

use async_trait::async_trait;
use protocol::{Cost, MessageId, RunId, SessionId, Usage};
use rusqlite::{Connection, Row, params};

use super::{
    SqliteStore, apply::TableWriter, damage::DamageReport, planted::SessionRead, salvage,
    sessions::FIRST_PAGE, signed, unsigned,
};
use crate::{StoreError, UsageBy, UsageQuery, UsageReports, UsageSum};

const SUMS: &str = "count(*), sum(u.failed), sum(u.input_tokens), sum(u.output_tokens), sum(u.total_tokens),
    sum(u.cached_input_tokens), sum(u.cache_write_tokens), sum(u.reasoning_tokens),
    coalesce(sum(u.cost), 0), sum(u.cost IS NULL), sum(u.duration_ms)";

#[async_trait]
impl UsageReports for SqliteStore {
    async fn usage(&self, query: &UsageQuery) -> Result<Vec<UsageSum>, StoreError> {
        let (query, damage) = (query.clone(), Arc::clone(&self.damage));
        self.readers
            .read(move |connection| match sums(connection, &query) {
                Err(StoreError::Corrupt(what)) if query.session.is_none() => {
                    damage.note("model calls", what);
                    chat_by_chat(connection, &damage, query)
                }
                sums => sums,
            })
            .await
    }
}

/// What one model call used and cost.
pub(super) struct ModelCall<'a> {
    pub(super) message: &'a MessageId,
    pub(super) run: Option<&'a RunId>,
    pub(super) agent: &'a [String],
    pub(super) model: &'a str,
    pub(super) usage: &'a Usage,
    pub(super) cost: Option<Cost>,
    pub(super) duration_ms: u64,
    pub(super) failed: bool,
}

impl TableWriter<'_> {
    pub(super) fn insert_model_call(&self, call: &ModelCall<'_>) -> Result<(), StoreError> {
        let usage = call.usage;
        self.connection
            .prepare_cached(
                "INSERT INTO usage (session, seq, at, message, model, input_tokens, output_tokens, total_tokens,
                   cached_input_tokens, reasoning_tokens, duration_ms, run, agent, cache_write_tokens, cost, failed)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)",
            )?
            .execute(params![
                self.session.0,
                signed(self.seq),
                self.at.0,
                call.message.as_str(),
                call.model,
                signed(usage.input_tokens),
                signed(usage.output_tokens),
                signed(usage.total_tokens),
                signed(usage.cached_input_tokens),
                signed(usage.reasoning_tokens),
                signed(call.duration_ms),
                call.run.map(RunId::as_str),
                (!call.agent.is_empty()).then(|| call.agent.join("/")),
                signed(usage.cache_write_tokens),
                call.cost.map(|cost| signed(cost.0)),
                call.failed
            ])?;
        Ok(())
    }
}

fn sums(connection: &Connection, query: &UsageQuery) -> Result<Vec<UsageSum>, StoreError> {
    let key = key(query.by);
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {key}, {SUMS} FROM usage u JOIN sessions s ON s.key = u.session
         WHERE s.workspace = ?1 AND (?2 IS NULL OR s.id = ?2) AND (?3 IS NULL OR u.run = ?3)
           AND (?4 IS NULL OR u.message = ?4) AND (?5 IS NULL OR u.at >= ?5)
           AND (?6 IS NULL OR u.at < ?6)
         GROUP BY {key} ORDER BY max(u.at) DESC, {key} LIMIT ?7"
    ))?;
    let rows = statement.query_map(
        params![
            query.workspace.as_str(),
            query.session.as_ref().map(SessionId::as_str),
            query.run.as_ref().map(RunId::as_str),
            query.message.as_ref().map(MessageId::as_str),
            query.from.map(|from| from.0),
            query.until.map(|until| until.0),
            query.limit,
        ],
        sum,
    )?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The same sums, chat by chat, without the chats whose rows cannot be read.
fn chat_by_chat(
    connection: &Connection,
    damage: &DamageReport,
    mut query: UsageQuery,
) -> Result<Vec<UsageSum>, StoreError> {
    let limit = query.limit as usize;
    let mut all: Vec<UsageSum> = Vec::new();
    for SessionRead { value: chat, .. } in
        salvage::sessions(connection, damage, query.workspace.as_str(), FIRST_PAGE, usize::MAX)
    {
        query.session = Some(chat.id);
        match sums(connection, &query) {
            Ok(sums) => {
                for sum in sums {
                    match all.iter_mut().find(|known| known.key == sum.key) {
                        Some(known) => known.add(&sum),
                        None => all.push(sum),
                    }
                }
            }
            Err(StoreError::Corrupt(what)) => {
                damage.note(format!("model calls of {}", salvage::chat_name(connection, chat.key)), what);
            }
            Err(error) => return Err(error),
        }
    }
    all.truncate(limit);
    Ok(all)
}

fn key(by: UsageBy) -> &'static str {
    match by {
        UsageBy::QuarterHour => "CAST(u.at / 900000 AS TEXT)",
        UsageBy::Model => "u.model",
        UsageBy::Agent => "coalesce(u.agent, '')",
        UsageBy::Session => "s.id",
        UsageBy::Run => "coalesce(u.run, '')",
        UsageBy::Message => "u.message",
    }
}

fn sum(row: &Row<'_>) -> rusqlite::Result<UsageSum> {
    let number = |column| row.get::<_, i64>(column).map(unsigned);
    Ok(UsageSum {
        key: row.get(0)?,
        calls: number(1)?,
        failed: number(2)?,
        usage: Usage {
            input_tokens: number(3)?,
            output_tokens: number(4)?,
            total_tokens: number(5)?,
            cached_input_tokens: number(6)?,
            cache_write_tokens: number(7)?,
            reasoning_tokens: number(8)?,
        },
        cost: Cost(number(9)?),
        unpriced: number(10)?,
        duration_ms: number(11)?,
    })
}
