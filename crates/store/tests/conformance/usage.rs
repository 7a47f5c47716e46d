//! Cases about the usage of model calls, and about the facts and the preface that are sent to a model.

use std::sync::Arc;

use protocol::{Cost, RunId, SessionEvent, SessionId, Timestamp, TurnFacts, Usage, WorkspaceId};
use serde_json::json;
use store::{PrefaceRecord, Store, UsageBy, UsageQuery, UsageSum};

use crate::{StoreLocation, script::*};

fn call(message: &str, model: &str, usage: Usage) -> SessionEvent {
    SessionEvent::ModelCalled {
        window: None,
        message: id(message),
        run: Some(RunId::new(format!("run of {message}"))),
        agent: vec!["general".to_owned()],
        model: model.to_owned(),
        usage,
        cost: None,
        duration_ms: 7,
        failed: false,
    }
}

fn usage_query(by: UsageBy) -> UsageQuery {
    UsageQuery {
        workspace: WorkspaceId::default_workspace(),
        session: None,
        run: None,
        message: None,
        from: None,
        until: None,
        by,
        limit: 100,
    }
}

pub async fn usage(store: &Arc<dyn Store>, session: &str, by: UsageBy) -> Vec<UsageSum> {
    let query = UsageQuery { session: Some(SessionId::new(session)), ..usage_query(by) };
    store.usage(&query).await.unwrap()
}

pub async fn usage_is_grouped_filtered_and_kept_apart_by_workspace(location: &StoreLocation) {
    let store = location.open();
    let tokens = |input_tokens| Usage { input_tokens, ..Usage::default() };
    let mut one = Script::new(&store, "one");
    one.ask("u", None, "m").await;
    let SessionEvent::ModelCalled { message, run, model, usage: spent, duration_ms, .. } =
        call("m", "x/y", tokens(4))
    else {
        unreachable!()
    };
    let deep = SessionEvent::ModelCalled {
        window: None,
        message,
        run,
        agent: vec!["general".to_owned(), "search".to_owned()],
        model,
        usage: spent,
        cost: Some(Cost(1_500)),
        duration_ms,
        failed: true,
    };
    one.append(vec![call("m", "x/z", tokens(1)), deep]).await;
    let mut two = Script::new(&store, "two");
    two.at = Timestamp(3_600_000);
    two.ask("u", None, "n").await;
    two.append(vec![call("n", "x/z", tokens(2))]).await;
    let mut foreign = Script::in_workspace(&store, "other", "one");
    foreign.ask("u", None, "m").await;
    foreign.append(vec![call("m", "x/z", tokens(1_000))]).await;

    let grouped = async |query: UsageQuery| {
        let sums = store.usage(&query).await.unwrap();
        sums.into_iter().map(|sum| (sum.key, sum.calls, sum.usage.input_tokens)).collect::<Vec<_>>()
    };
    let row = |key: &str, calls, tokens| (key.to_owned(), calls, tokens);
    assert_eq!(grouped(usage_query(UsageBy::Model)).await, [row("x/z", 2, 3), row("x/y", 1, 4)]);
    assert_eq!(
        grouped(usage_query(UsageBy::Agent)).await,
        [row("general", 2, 3), row("general/search", 1, 4)]
    );
    assert_eq!(grouped(usage_query(UsageBy::Session)).await, [row("two", 1, 2), row("one", 2, 5)]);
    assert_eq!(grouped(usage_query(UsageBy::Run)).await, [row("run of n", 1, 2), row("run of m", 2, 5)]);
    assert_eq!(grouped(usage_query(UsageBy::Message)).await, [row("n", 1, 2), row("m", 2, 5)]);
    assert_eq!(grouped(usage_query(UsageBy::QuarterHour)).await, [row("4", 1, 2), row("0", 2, 5)]);
    let late = UsageQuery { from: Some(Timestamp(3_600_000)), ..usage_query(UsageBy::Session) };
    assert_eq!(grouped(late).await, [row("two", 1, 2)]);
    let early = UsageQuery { until: Some(Timestamp(3_600_000)), ..usage_query(UsageBy::Session) };
    assert_eq!(grouped(early).await, [row("one", 2, 5)]);
    let of_run = UsageQuery { run: Some(RunId::new("run of n")), ..usage_query(UsageBy::Session) };
    assert_eq!(grouped(of_run).await, [row("two", 1, 2)]);
    let of_message = UsageQuery { message: Some(id("m")), ..usage_query(UsageBy::Session) };
    assert_eq!(grouped(of_message).await, [row("one", 2, 5)]);
    let newest = UsageQuery { limit: 1, ..usage_query(UsageBy::Session) };
    assert_eq!(grouped(newest).await, [row("two", 1, 2)]);

    let by_agent = store.usage(&usage_query(UsageBy::Agent)).await.unwrap();
    assert_eq!((by_agent[1].failed, by_agent[1].cost, by_agent[1].unpriced), (1, Cost(1_500), 0));
    assert_eq!((by_agent[0].failed, by_agent[0].cost, by_agent[0].unpriced), (0, Cost(0), 2));
}

pub async fn facts_and_preface_are_kept_and_the_newest_preface_counts(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let facts = TurnFacts {
        date: "2026-01-05".to_owned(),
        weekday: "Monday".to_owned(),
        timezone: Some("Asia/Tokyo".to_owned()),
        page: None,
        tab: Some("t".to_owned()),
        project: None,
        file_tokens: None,
    };
    let preface = |agent: &str, text: &str| SessionEvent::PrefaceWritten {
        agent: agent.to_owned(),
        text: text.to_owned(),
    };
    let mut asked = accepted("u", 0, None);
    if let SessionEvent::MessageAccepted { facts: told, .. } = &mut asked {
        *told = Some(Box::new(facts.clone()));
    }
    let key = script.append(vec![asked, preface("general", "one")]).await;
    let stored = store.message(key, &id("u")).await.unwrap().unwrap();
    assert_eq!(stored.facts, Some(facts.clone()));
    assert!(!stored.body.contains("Tokyo"), "the message stays what the person sent");
    assert_eq!(store.branch(key, &first("u"), 1).await.unwrap()[0].facts, Some(facts));
    script.append(vec![preface("coder", "two")]).await;
    let session = store.session_by_key(key).await.unwrap().unwrap();
    assert_eq!(session.preface, Some(PrefaceRecord { agent: "coder".to_owned(), text: "two".to_owned() }));
}

pub async fn usage_is_added_up_and_notes_keep_the_newest(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    let spent = Usage {
        input_tokens: 10,
        output_tokens: 5,
        total_tokens: 15,
        cached_input_tokens: 3,
        cache_write_tokens: 2,
        reasoning_tokens: 1,
    };
    let called = || call("m", "x/y", spent);
    let pushed = |name: &str, data: i32, transient| SessionEvent::DataPushed {
        message: id("m"),
        name: name.to_owned(),
        id: None,
        data: json!({ "n": data }),
        transient,
    };
    let events = vec![
        called(),
        pushed("plan", 1, false),
        called(),
        pushed("plan", 2, false),
        pushed("other", 3, false),
    ];
    script.append(events).await;
    script.append(vec![pushed("plan", 9, true)]).await;
    let [total] = usage(&store, "s", UsageBy::Session).await.try_into().unwrap();
    assert_eq!((total.key.as_str(), total.calls, total.duration_ms, total.unpriced), ("s", 2, 14, 2));
    assert_eq!((total.usage.input_tokens, total.usage.reasoning_tokens), (20, 2));
    assert_eq!((total.usage.cached_input_tokens, total.usage.cache_write_tokens), (6, 4));
    assert_eq!(
        store.latest_data(key, "plan").await.unwrap(),
        Some(json!({ "n": 2 })),
        "transient is not kept"
    );
    assert_eq!(store.latest_data(key, "other").await.unwrap(), Some(json!({ "n": 3 })));
    assert_eq!(store.latest_data(key, "none").await.unwrap(), None);
    let mut empty = Script::new(&store, "t");
    let empty = empty.ask("u", None, "m").await;
    assert_eq!(usage(&store, "t", UsageBy::Session).await, []);
    assert_eq!(store.latest_data(empty, "plan").await.unwrap(), None);
}

// --- approvals
