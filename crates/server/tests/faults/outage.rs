//! A store that blocks for a while, and one that fails for longer than clients retry.

use serde_json::json;
use testkit::{
    Gate, Scripted, TestApp, calls,
    faults::{Effect, Faults, Hold, Method, When},
    join_all,
    protocol::{Chunk, ErrorCode},
    says, waits,
};

use crate::{
    bounded, checks,
    person::{Heard, Person, up_to},
    script::Stage,
};

/// `hold` says a word and is paused at the gate, `tool` calls a tool, everything else is answered at once.
async fn app(faults: &Faults, gate: &Gate) -> TestApp {
    let gate = gate.clone();
    let script = Scripted::choosing(move |request| {
        let text = format!("{:?}", request.messages.last());
        if text.contains("hold") {
            says("One. ").then(waits(&gate)).then(says("Two."))
        } else if text.contains("tool") && text.contains("User") {
            calls("c", "conf_echo", json!({ "text": "x" }))
        } else {
            says("Fine.")
        }
    });
    TestApp::builder().script(script).faults(faults).start().await
}

async fn talk(app: &TestApp, id: &str) -> Person {
    let mut person = Person::new(app.chat(id));
    assert_eq!(person.send("hello").await.text(), "Fine.");
    person
}

#[tokio::test]
async fn while_one_write_is_blocked_other_chats_go_on() {
    for (method, text) in [
        (Method::Append, "hello"),
        (Method::Session, "hello"),
        (Method::Message, "hello"),
        (Method::BranchAfter, "hello"),
        (Method::Append, "tool"),
    ] {
        let (faults, gate) = (Faults::new(), Gate::new());
        let app = app(&faults, &gate).await;
        let mut blocked = talk(&app, "blocked").await;
        let hold = Hold::new();
        faults.on(method, When::call(0), Effect::Block(hold.clone()));
        let (mut finished, others) = tokio::join!(
            bounded("the blocked chat", async {
                let message = blocked.send(text).await;
                (blocked, message)
            }),
            async {
                bounded("the block", hold.reached()).await;
                let names: Vec<_> = (0..20).map(|n| format!("other{n}")).collect();
                let others = join_all(names.iter().map(|name| talk(&app, name))).await;
                let listed = bounded("the list", app.get("/api/sessions")).await;
                assert_eq!(listed.status, 200);
                hold.release();
                others.len()
            }
        );
        assert_eq!(finished.1.text(), "Fine.");
        assert_eq!(faults.total().blocked, 1, "{method:?}");
        println!("blocked at {method:?}: {others} other chats answered meanwhile, then the blocked one");
        finished.0.reload().await;
        checks::session(&app, &finished.0.chat).await;
    }
}

#[tokio::test]
async fn a_stop_while_the_store_blocks_works_when_it_is_back() {
    let (faults, gate) = (Faults::new(), Gate::new());
    let app = app(&faults, &gate).await;
    let mut person = talk(&app, "chat").await;
    let body = up_to(&person.chat, "x", "hold on");
    let response = bounded("the run", person.chat.open(&body)).await;
    let mut stream = person.open(response).await.ok().unwrap();
    let chat = person.chat.clone();
    while !stream.text().contains("One.") {
        assert!(bounded("the first word", stream.next(&chat, false)).await);
    }
    let hold = Hold::new();
    faults.on(Method::Append, When::Always, Effect::Block(hold.clone()));
    let (stopped, other) = tokio::join!(bounded("the stop", person.chat.stop()), async {
        bounded("the block", hold.reached()).await;
        let answer = bounded("a look at the list", app.get("/api/sessions")).await;
        hold.release();
        answer
    },);
    assert_eq!((stopped.status, &stopped.json()["stopped"]), (200, &json!(true)), "{stopped:?}");
    assert_eq!(other.status, 200);
    while bounded("the end", stream.next(&chat, false)).await {}
    assert!(matches!(person.conclude(stream), Heard::Stream { end: Chunk::Abort, .. }));
    faults.clear_rules();
    person.reload().await;
    assert_eq!(person.send("hello").await.text(), "Fine.");
    checks::session(&app, &person.chat).await;
    println!("blocked writes: the stop waited for them and the chat went on; {}", person.tally);
}

#[tokio::test]
async fn a_store_that_stays_away_ends_streams_with_an_error_and_the_chat_recovers() {
    for back in ["send", "stop", "resume", "delete"] {
        let (faults, gate) = (Faults::new(), Gate::new());
        let app = app(&faults, &gate).await;
        let mut person = talk(&app, "chat").await;
        let body = up_to(&person.chat, "x", "hold on");
        let response = bounded("the run", person.chat.open(&body)).await;
        let mut stream = person.open(response).await.ok().unwrap();
        let chat = person.chat.clone();
        while !stream.text().contains("One.") {
            assert!(bounded("the first word", stream.next(&chat, false)).await);
        }
        let viewer = bounded("a second tab", person.get(&chat.path("stream"), None)).await;
        faults.on_any(When::Always, Effect::Fail);
        gate.open();
        while bounded("the end", stream.next(&chat, false)).await {}
        assert!(matches!(person.conclude(stream), Heard::Stream { end: Chunk::Error { .. }, .. }));
        let second = person.hear(viewer, true).await;
        assert!(matches!(second, Heard::Stream { end: Chunk::Error { .. }, .. }));
        for (method, path) in [
            ("GET", chat.path("messages")),
            ("GET", "/api/sessions".to_owned()),
            ("GET", "/api/sessions/chat".to_owned()),
            ("DELETE", "/api/sessions/chat".to_owned()),
        ] {
            let answer = bounded(&path, app.caller.request(method, &path, &[], "")).await;
            assert_eq!(answer.header("x-error-code"), ErrorCode::StoreUnavailable.as_str(), "{path}");
        }
        bounded("a refusal", chat.post(&body)).await.assert_sentence(ErrorCode::StoreUnavailable);
        faults.clear_rules();
        match back {
            "send" => {}
            "stop" => {
                let stopped = bounded("the stop", chat.stop()).await;
                assert_eq!((stopped.status, &stopped.json()["stopped"]), (200, &json!(true)), "{stopped:?}");
                assert_eq!(chat.info().await["status"], "idle");
            }
            "resume" => {
                let response = bounded("the resumed stream", person.get(&chat.path("stream"), None)).await;
                let heard = person.hear(response, true).await;
                assert!(matches!(heard, Heard::Stream { end: Chunk::Finish { .. }, .. }));
            }
            _ => {
                let deleted = bounded("the deletion", app.caller.delete("/api/sessions/chat")).await;
                assert_eq!(deleted.status, 204, "{deleted:?}");
                chat.set_messages(Vec::clear);
            }
        }
        person.reload().await;
        assert_eq!(person.send("hello").await.text(), "Fine.", "{back}");
        checks::session(&app, &person.chat).await;
        println!("the store was away, then came a {back}: {}", person.tally);
    }
}

#[tokio::test]
async fn an_answer_sent_again_after_its_run_broke_off_gets_everything_since_the_question() {
    let mut stage = Stage::new().await;
    let asked = stage.person.send("approve").await;
    stage.faults.on(Method::Append, When::Calls { first: 2, count: 3 }, Effect::Fail);
    for time in ["after the run broke off", "after it ended"] {
        let message = stage.person.answer(&asked, true).await;
        println!("answered {time}: {}", stage.person.tally);
        stage.is_right(&message, "Settled.").await;
    }
    assert_eq!(stage.person.tally.broken, 1);
    stage.is_in_order().await;
}
