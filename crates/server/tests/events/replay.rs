//! Replay: a client that comes back with `Last-Event-ID` gets exactly what it has not seen, wherever it was cut off.

use std::{collections::HashMap, time::Duration};

use serde_json::{Value, json};
use testkit::{Event, EventsClient, Gate, Reply, TestApp, calls, reasons, says, waits};
use tokio::task::JoinSet;

use crate::{AGENTS, asks, define, scripted};

/// Longer than the time between two states of a growing text.
const PAUSE: Duration = Duration::from_millis(70);

/// Reasoning, text in pieces, a call that asks, a sub-agent with a call of its own, and a last word.
fn script(gates: &[Gate; 4]) -> Vec<Reply> {
    let [thought, one, two, last] = gates.each_ref().map(waits);
    let first = reasons("Let me ")
        .then(thought)
        .then(reasons("think."))
        .then(says("One "))
        .then(one)
        .then(says("two "))
        .then(two)
        .then(says("three."))
        .then(asks("c"));
    let task = json!({ "name": "dynamic", "task": "sub", "options": { "tools": ["conf_echo"] } });
    let sub = says("I do it. ").then(calls("s", "conf_echo", json!({ "text": "x" })));
    let end = says("The ").then(last).then(says("end."));
    vec![first, says("Next: ").then(calls("d", "sub-agent", task)), sub, says("Done below."), end]
}

/// Opens each gate a moment after it is reached, so that the text before it is told.
fn open_slowly(gates: &[Gate; 4]) -> JoinSet<()> {
    let gates = gates.clone();
    let mut opening = JoinSet::new();
    opening.spawn(async move {
        for gate in gates {
            gate.reached().await;
            tokio::time::sleep(PAUSE).await;
            gate.open();
        }
    });
    opening
}

async fn started(gates: &[Gate; 4]) -> (TestApp, JoinSet<()>) {
    (scripted(script(gates)).await, open_slowly(gates))
}

struct Recording {
    app: TestApp,
    session: String,
    /// The events of the session.
    events: Vec<Event>,
}

/// A whole run, seen by one client from the beginning.
async fn record(query: &str) -> Recording {
    let (app, _opening) = started(&Default::default()).await;
    let mut client = app.caller.events_with(query, &[]).await;
    let session = client.create().await;
    client.switch("operator").await;
    client.chat("go").await;
    let asked = client.until_kind("tool_confirmation_request").await;
    assert_eq!(client.confirm(asked.request_id(), json!("approve")).await.status, 200);
    client.until_kind("complete").await;
    let events: Vec<Event> = client.seen[2..].to_vec();
    check(&events);
    Recording { app, session, events }
}

/// The recording is what it is meant to be.
fn check(events: &[Event]) {
    let has = |kind: &str| events.iter().any(|event| event.kind() == kind);
    for kind in [
        "agent_switched",
        "message",
        "thinking",
        "tool_call",
        "tool_confirmation_request",
        "interaction_resolved",
        "tool_result",
        "sub_agent_message",
        "usage",
        "complete",
    ] {
        assert!(has(kind), "no {kind} in {:?}", events.iter().map(Event::kind).collect::<Vec<_>>());
    }
    let growing = events.iter().filter(|event| event.is_growing()).count();
    assert!(growing >= 4, "{growing} states of growing texts");
    let types: Vec<&str> =
        events.iter().filter_map(|event| event.data()["message"]["type"].as_str()).collect();
    assert_eq!(
        types,
        ["agent_spawned", "tool_calls", "tool_result", "subagent_result", "spawned_agent_completed", "done"]
    );
}

fn finished(events: &[Event]) -> Vec<Event> {
    events.iter().filter(|event| !event.is_growing()).cloned().collect()
}

/// Checks that the states of every growing text are prefixes of what it became.
fn check_growth(events: &[Event]) {
    let mut texts: HashMap<String, String> = HashMap::new();
    for event in events.iter().filter(|event| event.data()["segment"].is_u64()) {
        let data = event.data();
        let text =
            texts.entry(format!("{} {} {}", event.kind(), data["messageId"], data["segment"])).or_default();
        let (before, content) = (text.clone(), event.text("content"));
        match data["delta"].as_str() {
            Some(delta) => {
                assert!(event.is_growing() && data["content"].is_null(), "{event:?}");
                text.push_str(delta);
            }
            None => *text = content.to_owned(),
        }
        assert!(text.starts_with(&before), "{before:?}, then {event:?}");
    }
}

#[tokio::test]
async fn what_follows_any_event_is_the_rest_of_the_recording() {
    for query in ["", "?deltas=1"] {
        let Recording { app, session, events } = record(query).await;
        check_growth(&events);
        let cuts = events.iter().enumerate().map(|(place, event)| (place + 1, event.id.clone().unwrap()));
        for (place, id) in [(0, format!("{session}.0"))].into_iter().chain(cuts) {
            let mut client = app.caller.events_after(&id, query).await;
            assert_eq!(client.agent_list()["currentAgentId"], "operator");
            let told = client.rest().await;
            assert_eq!(finished(&told), finished(&events[place..]), "after {id}, {query}");
            assert_eq!(
                told.iter().filter(|event| event.is_growing()).count(),
                0,
                "finished segments come once"
            );
        }
        let query = if query.is_empty() { "?" } else { "?deltas=1&" };
        let in_query = format!("{query}lastEventId={}", events[0].id.as_ref().unwrap());
        let told = app.caller.events_with(&in_query, &[]).await.rest().await;
        assert_eq!(finished(&told), finished(&events[1..]), "as a parameter");
    }
}

#[tokio::test]
async fn a_restart_changes_nothing_about_the_rest() {
    let Recording { app, session, events } = record("").await;
    let app = app.restart([]).await;
    define(&app, AGENTS);
    let cuts = events.iter().enumerate().map(|(place, event)| (place + 1, event.id.clone().unwrap()));
    for (place, id) in [(0, format!("{session}.0"))].into_iter().chain(cuts) {
        let told = app.caller.events_after(&id, "").await.rest().await;
        assert_eq!(finished(&told), finished(&events[place..]), "after {id}");
    }
}

/// The finished events without what depends on how often a client came back.
fn comparable(events: &[Event], session: &str) -> Vec<String> {
    let instance = events.iter().find_map(|event| event.data()["instanceId"].as_str()).unwrap();
    let text = |event: &Event| {
        let text = json!([event.kind(), event.data(), event.run()]).to_string();
        text.replace(session, "SESSION").replace(instance, "INSTANCE")
    };
    finished(events).iter().map(text).collect()
}

/// Runs the script with a client that goes away after every `every` events and comes back.
async fn hop(every: usize, query: &str) -> (Vec<Event>, String) {
    let (app, _opening) = started(&Default::default()).await;
    let first = app.caller.events_with(query, &[]).await;
    let session = first.create().await;
    first.switch("operator").await;
    first.chat("go").await;
    let mut client = first;
    let mut all: Vec<Event> = Vec::new();
    let mut answered = false;
    loop {
        for _ in 0..every {
            let event = client.next().await;
            if event.kind() == "tool_confirmation_request" {
                if !answered && every > 1 {
                    assert_eq!(client.confirm(event.request_id(), json!("approve")).await.status, 200);
                    answered = true;
                }
                if all.iter().any(|seen| seen.request_id() == event.request_id()) {
                    if !answered {
                        // Announced again after the client came back: answered now.
                        assert_eq!(client.confirm(event.request_id(), json!("approve")).await.status, 200);
                        answered = true;
                    }
                    let before = all.iter().find(|seen| seen.request_id() == event.request_id()).unwrap();
                    assert_eq!(before.data(), event.data());
                    all.retain(|seen| seen.request_id() != event.request_id());
                }
            }
            let ended = event.kind() == "complete";
            all.push(event);
            if ended {
                return (all, session);
            }
        }
        let last = all.last().unwrap().id.clone().unwrap();
        drop(client);
        client = app.caller.events_after(&last, query).await;
    }
}

#[tokio::test]
async fn a_client_that_comes_back_again_and_again_misses_nothing_and_sees_nothing_twice() {
    for query in ["", "?deltas=1"] {
        let whole = record(query).await;
        let wanted = comparable(&whole.events, &whole.session);
        for every in [1, 2, 3, 5] {
            let (events, session) = hop(every, query).await;
            check_growth(&events);
            let told = comparable(&events, &session);
            for (place, (told, wanted)) in told.iter().zip(&wanted).enumerate() {
                assert_eq!(told, wanted, "event {place}, away after every {every} events, {query}");
            }
            assert_eq!(told.len(), wanted.len(), "{:?}", told.get(wanted.len()..));
        }
    }
}

#[tokio::test]
async fn a_pending_question_survives_a_restart_with_the_same_id() {
    let gates: [Gate; 4] = Default::default();
    let (app, _opening) = started(&gates).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.switch("operator").await;
    client.chat("go").await;
    let asked = client.until_kind("tool_confirmation_request").await;
    let seen = client.seen[2..].to_vec();
    drop(client);
    let app = app.restart(script(&gates).split_off(1)).await;
    define(&app, AGENTS);
    let resume = async |id: &str| app.caller.events_after(id, "").await;
    for (place, event) in seen.iter().enumerate() {
        let mut client = resume(event.id.as_ref().unwrap()).await;
        let told = finished(&client.rest().await);
        let again = told.last().unwrap();
        assert_eq!((again.kind(), again.request_id()), (asked.kind(), asked.request_id()), "after {event:?}");
        assert_eq!(again.data(), asked.data());
        assert_eq!(told[..told.len() - 1], finished(&seen[place + 1..]), "after {event:?}");
    }
    let mut client = resume(seen.last().unwrap().id.as_ref().unwrap()).await;
    let again = client.next().await;
    client.confirm(again.request_id(), json!("approve")).await;
    client.until_kind("complete").await;
    assert_eq!(client.of_kind("interaction_resolved").len(), 1);
    assert_eq!(client.load(&session).await["status"], "idle");
}

#[tokio::test]
async fn an_event_that_is_not_known_gives_a_resync() {
    let app = scripted([says("one"), says("two")]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.ask("hello").await;
    let last = client.seen.last().unwrap().seq().unwrap();
    drop(client);
    for (id, reason) in [
        (format!("{session}.{}", last + 1_000), "gap"),
        (format!("{session}.99999999999"), "gap"),
        ("ses_nobody.7".to_owned(), "unknown"),
        ("nonsense".to_owned(), "unknown"),
        (format!("{session}.-1"), "unknown"),
        (format!("{session}.x"), "unknown"),
    ] {
        let mut client = app.caller.events_after(&id, "").await;
        assert_eq!(client.agent_list()["currentAgentId"], "general");
        let resync = client.next().await;
        assert_eq!((resync.kind(), resync.text("reason")), ("resync", reason), "{id}");
        assert_eq!(client.rest().await, [], "{id}");
        assert_eq!(client.switch("debugger").await["errorCode"], "session_not_found", "bound to nothing");
    }
    let mut client = app.caller.events_after("ses_nobody.7", "").await;
    client.load(&session).await;
    assert_eq!(client.ask("more").await, "two", "the way back");
}

#[tokio::test]
async fn a_run_that_was_at_work_when_the_server_ended_still_has_one_complete() {
    let gate = Gate::new();
    let app = scripted([says("Half ").then(waits(&gate))]).await;
    let mut client = app.caller.events().await;
    let session = client.create().await;
    client.chat("go").await;
    client.until(|event| event.text("content") == "Half ").await;
    let last = client.seen.last().unwrap().id.clone().unwrap();
    drop(client);
    let app = app.restart([says("whole.")]).await;
    define(&app, AGENTS);
    let mut client: EventsClient = app.caller.events_after(&last, "").await;
    let told = match client.next().await {
        event if event.kind() == "resync" => {
            client.load(&session).await;
            let all = app.caller.events_after(&format!("{session}.0"), "").await.rest().await;
            all.last().unwrap().clone()
        }
        event if event.kind() == "complete" => event,
        _ => client.until_kind("complete").await,
    };
    assert_eq!(told.kind(), "complete");
    let all = app.caller.events_after(&format!("{session}.0"), "").await.rest().await;
    assert_eq!(all.iter().filter(|event| event.kind() == "complete").count(), 1);
    let status: Value = app.caller.get("/session/list").await.json()["sessions"][0]["status"].clone();
    assert_eq!(status, "idle");
}
