//! The fixed script of a rich session, its model, and the expected state at each point.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::{
    Gate, Scripted, TestApp, calls, calls_many,
    faults::Faults,
    models::{ModelMessage, ModelRequest, Purpose, UserContent},
    protocol::{Chunk, ErrorCode, SessionId, ToolState, UiMessage, WorkspaceId},
    reasons, says, says_in_pieces,
    store::{Messages, Sessions, SqliteStore},
    user, waits,
};

use crate::{
    bounded,
    checks::{self, without_answers},
    person::{Heard, Person, up_to},
};

/// More than a message may hold of a tool's output.
const LONG: usize = 60_000;

pub struct Stage {
    pub app: TestApp,
    pub person: Person,
    pub faults: Faults,
    /// What the model waits at when it is asked for `half`.
    gate: Gate,
}

impl Stage {
    pub async fn new() -> Self {
        let (faults, gate) = (Faults::new(), Gate::new());
        let app = TestApp::builder().with_auth().script(model(&gate)).faults(&faults).start().await;
        let person = Person::new(app.chat("chat"));
        Self { app, person, faults, gate }
    }

    /// Everything a person does in a chat, once.
    pub async fn play(&mut self) {
        self.says("talk", "Hello there.").await;
        let again = self.person.send_as("u1", "talk").await;
        self.is_right(&again, "Hello there.").await;
        self.says("tools", "Both done.").await;
        self.asks("approve", true, "Settled.").await;
        self.asks("approve", false, "Settled.").await;
        self.asks("client", true, "Thank you.").await;
        self.says("plan", "Planned.").await;
        let message = self.person.regenerate().await;
        self.is_right(&message, "Planned.").await;
        let message = self.person.edit("u1", "talk again").await;
        self.is_right(&message, "Hello there.").await;
        self.other_branch().await;
        self.stop().await;
        self.stop_a_question().await;
        self.queue().await;
        self.resume().await;
        self.long_output().await;
        self.answer_from_elsewhere().await;
        self.look_around().await;
        self.plant().await;
        self.delete().await;
    }

    pub async fn says(&mut self, text: &str, end: &str) {
        let message = self.person.send(text).await;
        self.is_right(&message, end).await;
    }

    /// A run that pauses, is answered and continues.
    pub async fn asks(&mut self, text: &str, approved: bool, end: &str) {
        let asked = self.person.send(text).await;
        if asked.tool_parts().any(|tool| !tool.state.is_settled()) {
            let message = self.person.answer(&asked, approved).await;
            self.is_right(&message, end).await;
        }
    }

    /// What the client shows is what is kept, and it says what it should.
    pub async fn is_right(&self, message: &UiMessage, end: &str) {
        assert!(message.text().ends_with(end), "{:?} does not end with {end:?}", message.text());
        let kept = stored(&self.app.store, &self.person.chat.id, message).await;
        assert_eq!(json!(without_answers(message)), json!(without_answers(&kept)));
    }

    /// Back to the first version of the first question, and forth again.
    async fn other_branch(&mut self) {
        let history = self.person.chat.messages();
        let newest = history.last().unwrap().id.clone();
        let path = self.person.chat.path("branch");
        for at in ["msg_1", newest.as_str()] {
            let body = json!({ "messageId": at });
            self.person.ask("POST", &path, Some(body), &[]).await;
        }
        self.person.reload().await;
    }

    /// A run that says a word and waits forever is stopped.
    pub async fn stop(&mut self) {
        let id = self.person.next_id();
        for _ in 0..100 {
            let body = up_to(&self.person.chat, &id, "wait");
            let response = bounded("a run to stop", self.person.chat.open(&body)).await;
            let chat = self.person.chat.clone();
            let Ok(mut stream) = self.person.open(response).await else {
                self.halt().await;
                self.person.reload().await;
                continue;
            };
            let mut more = true;
            while more && !stream.text().contains("Working") {
                more = bounded("the first word", stream.next(&chat, false)).await;
            }
            self.halt().await;
            while more {
                more = bounded("the end after a stop", stream.next(&chat, false)).await;
            }
            let heard = self.person.conclude(stream);
            self.person.reload().await;
            if matches!(heard, Heard::Stream { end: Chunk::Abort, .. }) {
                return;
            }
        }
        panic!("nothing could be stopped");
    }

    async fn halt(&mut self) {
        let path = self.person.chat.path("stop");
        self.person.ask("POST", &path, None, &[ErrorCode::SessionNotFound]).await;
    }

    /// A message waits behind a run, which is stopped by its name; then it begins.
    async fn queue(&mut self) {
        let chat = self.person.chat.clone();
        for _ in 0..100 {
            // Not the same again: what was stored although it was told as failed may have begun, and been stopped.
            let (id, later) = (self.person.next_id(), self.person.next_id());
            let response = bounded("a run to wait behind", chat.open(&up_to(&chat, &id, "wait"))).await;
            let Ok(mut first) = self.person.open(response).await else {
                self.halt().await;
                self.person.reload().await;
                continue;
            };
            let mut more = true;
            while more && !first.text().contains("Working") {
                more = bounded("the first word", first.next(&chat, false)).await;
            }
            let mut body = up_to(&chat, &later, "talk");
            body["whenBusy"] = json!("queue");
            let waiting = bounded("a place to wait", chat.open(&body)).await;
            let stop = Some(json!({ "messageId": id }));
            self.person.ask("POST", &chat.path("stop"), stop, &[ErrorCode::SessionNotFound]).await;
            while more {
                more = bounded("the end after a stop", first.next(&chat, false)).await;
            }
            self.person.conclude(first);
            let heard = self.person.hear(waiting, false).await;
            if let Heard::Stream { message, end: Chunk::Finish { .. }, .. } = heard {
                self.is_right(&message, "Hello there.").await;
                return self.person.reload().await;
            }
            self.halt().await;
            self.person.reload().await;
        }
        panic!("nothing could wait");
    }

    /// A tool's output that is too long for a message, and the file it is kept in.
    async fn long_output(&mut self) {
        self.says("long", "That was long.").await;
        let path = format!("/api/artifacts?chatId={}", self.person.chat.id);
        let list = self.person.ask("GET", &path, None, &[]).await.json();
        // A file that could not be written is none; the preview was shown all the same.
        if let Some(id) = list["artifacts"][0]["id"].as_str() {
            let file = self.person.ask("GET", &format!("/api/artifacts/{id}"), None, &[]).await;
            assert_eq!(file.body.len(), LONG + r#"{"echoed":""}"#.len());
        }
    }

    /// A stop takes a question back that waits.
    async fn stop_a_question(&mut self) {
        self.person.send("approve").await;
        self.halt().await;
        self.person.reload().await;
        let last = self.person.chat.messages().pop().unwrap();
        assert!(last.tool_parts().all(|tool| tool.state.is_settled()), "{last:?}");
    }

    /// Two tabs follow one run: one from its start, one that comes in the middle; and the rest after a number.
    pub async fn resume(&mut self) {
        let id = self.person.next_id();
        let mut other = Person::new(self.app.chat(&self.person.chat.id));
        for _ in 0..100 {
            let body = up_to(&self.person.chat, &id, "half");
            let response = bounded("a run to follow", self.person.chat.open(&body)).await;
            let path = other.chat.path("stream");
            let resumed = bounded("a second tab", other.get(&path, None)).await;
            self.gate.open();
            let first = self.person.hear(response, false).await;
            let second = other.hear(resumed, true).await;
            let Heard::Stream { message, end: Chunk::Finish { .. }, seqs } = first else {
                self.person.follow().await;
                continue;
            };
            if let Heard::Stream { message: seen, end: Chunk::Finish { .. }, .. } = second {
                assert_eq!(json!(without_answers(&seen)), json!(without_answers(&message)));
            }
            self.is_right(&message, "One. Two.").await;
            let rest = bounded("the rest", other.get(&path, seqs.first().copied())).await;
            other.hear(rest, true).await;
            self.person.tally += other.tally;
            return;
        }
        panic!("nothing could be followed");
    }

    /// A question is answered by its own route, as another surface does.
    async fn answer_from_elsewhere(&mut self) {
        let asked = self.person.send("approve").await;
        let waiting = asked.tool_parts().find_map(|tool| match &tool.state {
            ToolState::ApprovalRequested { approval, .. } => Some(approval.clone()),
            _ => None,
        });
        let Some(approval) = waiting else { return };
        let path = format!("/api/approvals/{approval}");
        self.person.ask("GET", &path, None, &[]).await;
        self.person
            .ask("POST", &path, Some(json!({ "approved": true })), &[ErrorCode::ApprovalSettled])
            .await;
        self.person.follow().await;
    }

    async fn look_around(&mut self) {
        let chat = self.person.chat.clone();
        let last = chat.messages().pop().unwrap();
        for path in [
            chat.path("messages"),
            format!("{}?limit=2&before={}", chat.path("messages"), last.id),
            "/api/sessions?limit=5".to_owned(),
            format!("/api/sessions/{}", chat.id),
            "/api/diagnostics".to_owned(),
        ] {
            self.person.ask("GET", &path, None, &[]).await;
        }
        let path = format!("/api/sessions/{}", chat.id);
        let renamed = self.person.ask("PATCH", &path, Some(json!({ "title": "A title" })), &[]).await;
        assert_eq!(renamed.json()["title"], "A title");
        let named = self.person.ask("POST", &chat.path("title"), Some(json!({})), &[]).await;
        assert_eq!(named.json()["title"], "Named");
    }

    /// A chat that comes with a long history of its own.
    async fn plant(&mut self) {
        let mut person = Person::new(self.app.chat("planted"));
        let earlier = |messages: &mut Vec<UiMessage>| {
            *messages = (0..300).map(|n| user(&format!("old{n}"), "before")).collect();
        };
        person.chat.set_messages(earlier);
        let message = person.send("talk").await;
        assert!(message.text().ends_with("Hello there."));
        person.reload().await;
        assert_eq!(person.chat.messages().len(), 302);
        self.person.tally += person.tally;
    }

    async fn delete(&mut self) {
        self.person.ask("DELETE", "/api/sessions/planted", None, &[ErrorCode::SessionNotFound]).await;
        let gone = self.app.store.session(&workspace(), &SessionId::new("planted")).await.unwrap();
        assert_eq!(gone, None);
    }

    /// The store works again: the chat is usable, and what is kept is what its log says.
    pub async fn is_in_order(&mut self) {
        self.person.reload().await;
        self.says("talk", "Hello there.").await;
        checks::session(&self.app, &self.person.chat).await;
    }
}

pub fn workspace() -> WorkspaceId {
    WorkspaceId::default_workspace()
}

async fn stored(store: &Arc<SqliteStore>, chat: &str, message: &UiMessage) -> UiMessage {
    let session = store.session(&workspace(), &SessionId::new(chat)).await.unwrap().unwrap();
    let kept = store.message(session.key, &message.id).await.unwrap();
    kept.expect("the message is kept").message().unwrap()
}

/// What to say depends on the last question and on what tools said since; so the same request has the same answer.
pub fn model(gate: &Gate) -> Scripted {
    let gate = gate.clone();
    Scripted::choosing(move |request| {
        if request.purpose == Purpose::Title {
            return says("Named.");
        }
        let (asked, results) = last_question(request);
        let word = asked.split(' ').next().unwrap_or_default();
        match (word, results) {
            ("talk", _) => reasons("Let me think.").then(says_in_pieces(&["Hello ", "there."])),
            ("tools", 0) => says("Looking. ").then(calls_many([
                ("t1", "conf_echo", json!({ "text": "one" })),
                ("t2", "conf_echo", json!({ "text": "two" })),
            ])),
            ("tools", _) => says("Both done."),
            ("approve", 0) => says("May I? ").then(calls("t1", "conf_approve", json!({ "text": "x" }))),
            ("approve", _) => says("Settled."),
            ("client", 0) => calls("t1", "conf_client", json!({ "question": "Which colour?" })),
            ("client", _) => says("Thank you."),
            ("long", 0) => calls("t1", "conf_echo", json!({ "text": "x".repeat(LONG) })),
            ("long", _) => says("That was long."),
            ("plan", 0) => calls("t1", "update-plan", plan("full")),
            ("plan", 1) => calls("t2", "update-plan", plan("patch")),
            ("plan", _) => says("Planned."),
            ("wait", _) => says("Working").then(waits(&Gate::new())),
            ("half", _) => says("One. ").then(waits(&gate)).then(says("Two.")),
            other => panic!("nobody asks {other:?}"),
        }
    })
}

fn plan(mode: &str) -> Value {
    json!({ "mode": mode, "plan": [{ "index": 1, "step": "Tune", "status": "in_progress" }] })
}

fn last_question(request: &ModelRequest) -> (String, usize) {
    let place = request.messages.iter().rposition(|message| matches!(**message, ModelMessage::User { .. }));
    let place = place.expect("somebody asked");
    let ModelMessage::User { content } = &*request.messages[place] else { unreachable!() };
    let text = content.iter().find_map(|content| match content {
        UserContent::Text(text) => Some(text.clone()),
        UserContent::Facts(_) | UserContent::Attached(_) | UserContent::File { .. } => None,
    });
    let since = request.messages[place..].iter();
    let results = since.filter(|message| matches!(***message, ModelMessage::Tool { .. })).count();
    (text.unwrap_or_default(), results)
}
