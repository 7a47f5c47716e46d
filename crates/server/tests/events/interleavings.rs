//! Random interleavings of two events clients and a chat tab on one session: answers, aborts, messages, take-overs and
//! reconnections. Whatever the order, every run has one end, every question one answer, no event is lost or told twice,
//! and both surfaces have the same history.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use testkit::{Event, EventsClient, Rng, Scripted, TestApp, calls, models::ModelMessage, says};

use super::surfaces::agreed;
use crate::started;

const SEEDS_PER_TEST: u64 = 25;
const STEPS: usize = 14;

/// Each run asks once, then says something.
fn model() -> Scripted {
    let mut count = 0;
    Scripted::choosing(move |request| {
        count += 1;
        match request.messages.last().map(|message| &**message) {
            Some(ModelMessage::User { .. }) => {
                says("May I? ").then(calls(&format!("call{count}"), "conf_approve", json!({ "text": "x" })))
            }
            _ => says("Done."),
        }
    })
}

struct World {
    app: TestApp,
    rng: Rng,
    session: String,
    /// Everything that each of two people saw, over all their connections.
    people: [Person; 2],
    /// Whose connection the session is at.
    holder: usize,
    /// How many messages were accepted, on either surface.
    accepted: usize,
    /// The questions that were seen.
    questions: BTreeSet<String>,
    trace: Vec<String>,
}

struct Person {
    client: EventsClient,
    earlier: Vec<Event>,
    /// The last event that the person has, from the stream or from a loaded history.
    has: u64,
}

impl Person {
    fn seen(&self) -> impl Iterator<Item = &Event> {
        self.earlier.iter().chain(&self.client.seen)
    }
}

impl World {
    async fn new(seed: u64) -> Self {
        let app = started(TestApp::builder().script(model())).await;
        let people = [app.caller.events().await, app.caller.events().await];
        let session = people[0].create().await;
        let people = people.map(|client| Person { client, earlier: Vec::new(), has: 0 });
        let (questions, trace) = (BTreeSet::new(), Vec::new());
        Self { app, rng: Rng::new(seed), session, people, holder: 0, accepted: 0, questions, trace }
    }

    fn holder(&mut self) -> &mut EventsClient {
        &mut self.people[self.holder].client
    }

    async fn status(&self) -> String {
        let list = self.app.caller.get("/session/list").await.json();
        list["sessions"][0]["status"].as_str().unwrap().to_owned()
    }

    /// Waits until nothing moves without a person; returns whether a question waits.
    async fn settled(&self) -> bool {
        loop {
            match self.status().await.as_str() {
                "idle" => return false,
                "awaiting_interaction" => return true,
                _ => tokio::task::yield_now().await,
            }
        }
    }

    /// The newest question, if any was asked.
    async fn question(&mut self) -> Option<String> {
        let list = self.app.get_pending().await;
        self.questions.extend(list.iter().cloned());
        match self.rng.percent(80) {
            true => list.into_iter().next_back(),
            // An old one, which may be answered already.
            false => self.questions.iter().next().cloned(),
        }
    }

    async fn step(&mut self) {
        let waits = match self.rng.percent(60) {
            true => Some(self.settled().await),
            false => None,
        };
        let choice = self.rng.below(100);
        let done = match choice {
            0..20 => self.message_here(waits).await,
            20..35 => self.message_on_chat(waits).await,
            35..52 => self.answer_here().await,
            52..65 => self.answer_on_chat().await,
            65..73 => self.abort(waits).await,
            73..78 => self.stop_on_chat().await,
            78..88 => self.take_over().await,
            _ => self.reconnect().await,
        };
        self.trace.push(format!("{choice}: {done} (waits: {waits:?})"));
    }

    async fn message_here(&mut self, waits: Option<bool>) -> String {
        let session = self.session.clone();
        let body = json!({ "type": "chat", "content": "go", "sessionId": session });
        let other = 1 - self.holder;
        let stolen = self.people[other].client.send(body.clone()).await;
        assert_eq!(stolen.status, 404, "of another connection: {stolen:?}");
        let answer = self.holder().send(body).await;
        self.accepted += usize::from(answer.status == 200);
        match waits {
            Some(true) => assert_eq!(answer.status, 409, "{answer:?}"),
            Some(false) => assert_eq!(answer.status, 200, "{answer:?}"),
            None => assert!([200, 409].contains(&answer.status), "{answer:?}"),
        }
        format!("message here {}", answer.status)
    }

    async fn message_on_chat(&mut self, waits: Option<bool>) -> String {
        let chat = self.app.chat(&self.session);
        chat.reload().await;
        let id = format!("u{}", self.trace.len());
        chat.set_messages(|messages| messages.push(testkit::user(&id, "go on")));
        let answer = chat.post(&chat.body(json!({ "trigger": "submit-message" }), json!({}))).await;
        self.accepted += usize::from(answer.status == 200);
        match waits {
            Some(_) => assert_eq!(answer.status, 200, "a question is withdrawn: {answer:?}"),
            None => assert!([200, 409].contains(&answer.status), "{answer:?}"),
        }
        format!("message on chat {}", answer.status)
    }

    async fn answer_here(&mut self) -> String {
        let Some(question) = self.question().await else { return "no question".to_owned() };
        let reply = json!({ "type": "reject_with_reply", "reason": "no" });
        let response = self.rng.pick(&[json!("approve"), json!("reject"), reply, json!("approve")]).clone();
        let answer = self.holder().confirm(&question, response.clone()).await;
        assert!([200, 409].contains(&answer.status), "{answer:?}");
        format!("{response} here {}", answer.status)
    }

    async fn answer_on_chat(&mut self) -> String {
        let Some(question) = self.question().await else { return "no question".to_owned() };
        let approved = self.rng.percent(50);
        let path = format!("/api/approvals/{question}");
        let answer = self.app.caller.post_json(&path, &json!({ "approved": approved })).await;
        assert!([200, 409].contains(&answer.status), "{answer:?}");
        format!("{approved} on chat {}", answer.status)
    }

    async fn abort(&mut self, waits: Option<bool>) -> String {
        let aborted = self.holder().abort().await;
        if let Some(waits) = waits {
            assert_eq!(aborted["aborted"], waits);
        }
        let idle = self.status().await;
        assert_eq!(idle, "idle", "after the reply");
        format!("abort {}", aborted["aborted"])
    }

    async fn stop_on_chat(&mut self) -> String {
        let stopped = self.app.chat(&self.session).stop().await;
        assert_eq!(stopped.status, 200, "{stopped:?}");
        "stop on chat".to_owned()
    }

    async fn take_over(&mut self) -> String {
        let loser = self.holder;
        self.holder = 1 - loser;
        let session = self.session.clone();
        let loaded = self.holder().load(&session).await;
        self.people[self.holder].has = loaded["lastSeq"].as_u64().unwrap();
        // The loser reads to the end: what it would leave unread is in nobody's stream.
        self.people[loser].client.until_kind("session_unbound").await;
        format!("take-over by {}", self.holder)
    }

    /// The holder's connection breaks; it comes back with the last event that it has.
    async fn reconnect(&mut self) -> String {
        for _ in 0..self.rng.below(4) {
            self.holder().rest_of(1).await;
        }
        let person = &mut self.people[self.holder];
        let seen = person.client.seen.iter().filter_map(Event::seq).max().unwrap_or_default();
        person.has = person.has.max(seen);
        let last = format!("{}.{}", self.session, person.has);
        let next = self.app.caller.events_after(&last, "").await;
        let before = std::mem::replace(&mut person.client, next);
        person.earlier.extend(before.seen.iter().cloned());
        format!("reconnect after {last}")
    }

    async fn check(mut self) {
        self.settled().await;
        self.holder().abort().await;
        for person in &mut self.people {
            person.client.rest().await;
        }
        let whole = {
            let from = format!("{}.0", self.session);
            let mut client = self.app.caller.events_after(&from, "").await;
            client.rest().await
        };
        let count = |kind: &str| whole.iter().filter(|event| event.kind() == kind).count();
        let users = whole.iter().filter(|event| event.text("role") == "user").count();
        assert_eq!(users, self.accepted, "every accepted message is a run");
        let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
        for event in whole.iter().filter(|event| event.kind() == "complete") {
            *ends.entry(event.run().unwrap()).or_default() += 1;
        }
        assert_eq!(ends.len(), users, "every run ends");
        assert!(ends.values().all(|ends| *ends == 1), "once: {ends:?}");
        assert_eq!(count("tool_call"), count("tool_result"));
        let asked: Vec<&str> = whole
            .iter()
            .filter(|event| event.kind() == "tool_confirmation_request")
            .map(Event::request_id)
            .collect();
        let resolved: Vec<&str> = whole
            .iter()
            .filter(|event| event.kind() == "interaction_resolved")
            .map(|event| event.text("requestId"))
            .collect();
        assert_eq!(asked.iter().collect::<BTreeSet<_>>().len(), asked.len());
        assert_eq!(resolved.iter().collect::<BTreeSet<_>>(), asked.iter().collect::<BTreeSet<_>>());
        assert_eq!(resolved.len(), asked.len(), "every question is resolved once");

        // What the two saw, together, is the whole log; no event reached both.
        let told = |person: &Person| -> Vec<u64> {
            let finished = person.seen().filter(|event| !event.is_growing() && event.session().is_some());
            finished.filter_map(Event::seq).collect()
        };
        let [one, two] = [told(&self.people[0]), told(&self.people[1])];
        let both: Vec<_> = one.iter().filter(|seq| two.contains(seq)).collect();
        assert!(both.is_empty(), "told on two connections: {both:?}");
        let all: BTreeSet<u64> = one.iter().chain(&two).copied().collect();
        assert_eq!(all.len(), one.len() + two.len(), "an event was told twice");
        for event in &whole {
            assert!(all.contains(&event.seq().unwrap()), "nobody saw {event:?}");
        }
        let client = self.app.caller.events().await;
        agreed(&self.app, &client, &self.session).await;
    }
}

trait Pending {
    async fn get_pending(&self) -> Vec<String>;
}

impl Pending for TestApp {
    async fn get_pending(&self) -> Vec<String> {
        let list = self.get("/api/approvals").await.json();
        let approvals = list["approvals"].as_array().unwrap();
        approvals.iter().map(|asked| asked["approval"]["id"].as_str().unwrap().to_owned()).collect()
    }
}

async fn run(first: u64) {
    for seed in first..first + SEEDS_PER_TEST {
        println!("seed {seed}");
        let mut world = World::new(seed).await;
        for _ in 0..STEPS {
            world.step().await;
            println!("  {}", world.trace.last().unwrap());
        }
        world.check().await;
    }
}

#[tokio::test]
async fn a_hundred_interleavings_part_1() {
    run(0).await;
}

#[tokio::test]
async fn a_hundred_interleavings_part_2() {
    run(SEEDS_PER_TEST).await;
}

#[tokio::test]
async fn a_hundred_interleavings_part_3() {
    run(2 * SEEDS_PER_TEST).await;
}

#[tokio::test]
async fn a_hundred_interleavings_part_4() {
    run(3 * SEEDS_PER_TEST).await;
}
