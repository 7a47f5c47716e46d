//! Records one run that is paused at every point, with clients that reconnect at each of them.

use axum::{
    body::{Body, to_bytes},
    http::{Request, StatusCode},
    response::Response,
};
use futures::StreamExt;
use serde_json::{Value, json};
use testkit::{
    Gate, Reply, Scripted, TestApp, call_in_pieces, calls,
    protocol::{Chunk, UiMessage, wire::chat::Profile},
    reasons, says,
    test_tools::{ToolGate, gated},
    user, waits,
};
use tokio::task::JoinSet;

use crate::{
    bounded,
    sse::{Recorded, fold},
};

/// Where the run was when somebody came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    pub place: usize,
    pub continuation: bool,
}

/// Somebody who had read `read` of the stream `post`, lost the connection and came back.
#[derive(Clone, Debug)]
pub struct Resume {
    pub post: usize,
    pub read: u64,
    pub at: Point,
    /// The whole replay, or else what follows `read`.
    pub whole: bool,
    /// `None`: 204, there was nothing more.
    pub stream: Option<Recorded>,
    /// What the history route returned at that moment.
    pub history: Vec<Value>,
}

pub struct Recording {
    /// The first part, to the question; and the continuation after the answer.
    pub posts: Vec<Recorded>,
    /// Others that followed each part from its start.
    pub twins: Vec<Vec<String>>,
    pub resumes: Vec<Resume>,
    /// The message as it ended.
    pub stored: UiMessage,
    pub approval: String,
}

/// What holds the run at a point, and what the stream shows last before it.
enum Hold {
    Model(Gate, &'static str),
    Tool(ToolGate, &'static str),
}

impl Hold {
    fn shows(&self) -> &'static str {
        match self {
            Self::Model(_, shows) | Self::Tool(_, shows) => shows,
        }
    }

    fn open(&self) {
        match self {
            Self::Model(gate, _) => gate.open(),
            Self::Tool(gate, _) => gate.open(),
        }
    }
}

/// Says it and waits until the test has looked.
fn held(reply: Reply, shows: &'static str, holds: &mut Vec<Hold>) -> Reply {
    let gate = Gate::new();
    holds.push(Hold::Model(gate.clone(), shows));
    reply.then(waits(&gate))
}

struct Script {
    app: TestApp,
    first: Vec<Hold>,
    second: Vec<Hold>,
}

async fn script(profile: Profile) -> Script {
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let (a, b, write) = (ToolGate::new(), ToolGate::new(), ToolGate::new());
    let look = held(Reply::default(), "\"start\"", &mut first)
        .then(held(reasons("Let me "), "Let me ", &mut first))
        .then(held(reasons("think. 会"), "think. 会", &mut first))
        .then(held(says("I will "), "I will ", &mut first))
        .then(held(says("look. "), "look. ", &mut first))
        .then(held(call_in_pieces("a", "read_a", &["{\"n\":", "1}"]), "\"1}\"", &mut first))
        .then(held(calls("b", "read_b", json!({ "m": 2 })), "{\\\"m\\\":2}", &mut first));
    first.push(Hold::Tool(a.clone(), "\"tool-input-available\",\"toolCallId\":\"b\""));
    first.push(Hold::Tool(b.clone(), "\"tool-output-available\",\"toolCallId\":\"a\""));
    let ask = held(reasons("Now write."), "Now write.", &mut first)
        .then(held(says("May I? "), "May I? ", &mut first))
        .then(held(calls("w", "write", json!({ "k": 3 })), "{\\\"k\\\":3}", &mut first));
    second.push(Hold::Tool(write.clone(), "\"start\""));
    let done = held(Reply::default(), "\"tool-output-available\",\"toolCallId\":\"w\"", &mut second)
        .then(held(says("It is "), "It is ", &mut second))
        .then(held(says("written. "), "written. ", &mut second))
        .then(says("The end."));
    let app = TestApp::builder()
        .script(Scripted::new([look, ask, done]))
        .tool(gated("read_a", &a).any())
        .tool(gated("read_b", &b).any())
        .tool(gated("write", &write).that_asks().any())
        .profile(profile)
        .start()
        .await;
    Script { app, first, second }
}

pub async fn record(profile: Profile) -> Recording {
    let Script { app, first, second } = script(profile).await;
    let mut scene = Scene { app, posts: Vec::new(), twins: Vec::new(), coming: JoinSet::new() };
    let body = json!({ "id": "chat", "messages": [user("u1", "go")], "trigger": "submit-message" });
    scene.play(&body, &first).await;
    let parked = scene.last_message().await;
    let mut answered = json!(parked);
    let mut part = answered["parts"].as_array_mut().unwrap().iter_mut();
    let part = part.rfind(|part| part["state"] == "approval-requested").expect("a question waits");
    let approval = part["approval"]["id"].as_str().unwrap().to_owned();
    part["state"] = json!("approval-responded");
    part["approval"]["approved"] = json!(true);
    let id = &answered["id"];
    let body = json!({ "id": "chat", "messages": [user("u1", "go"), answered], "messageId": id,
        "trigger": "submit-message" });
    scene.play(&body, &second).await;
    let stored = scene.last_message().await;
    let mut resumes = Vec::new();
    while let Some(resume) = bounded("a resumed stream", scene.coming.join_next()).await {
        resumes.push(resume.unwrap());
    }
    resumes.sort_by_key(|resume| (resume.at.continuation, resume.at.place, resume.post, resume.read));
    Recording { posts: scene.posts, twins: scene.twins, resumes, stored, approval }
}

struct Scene {
    app: TestApp,
    posts: Vec<Recorded>,
    twins: Vec<Vec<String>>,
    coming: JoinSet<Resume>,
}

impl Scene {
    /// One part of the run: held at each point until everybody has come back there.
    async fn play(&mut self, body: &Value, holds: &[Hold]) {
        let continuation = !self.posts.is_empty();
        let response = bounded("the request", self.app.main.open(body)).await;
        // The same request again joins the run from the same point.
        let mut twins = JoinSet::new();
        for _ in 0..2 {
            let response = bounded("the same request", self.app.main.open(body)).await;
            assert_eq!(response.status(), StatusCode::OK);
            twins.spawn(whole_body(response));
        }
        let mut stream = response.into_body().into_data_stream();
        let mut bytes = String::new();
        for (place, hold) in holds.iter().enumerate() {
            while !bytes.contains(hold.shows()) {
                let piece = bounded(hold.shows(), stream.next()).await;
                let piece = piece.unwrap_or_else(|| panic!("{:?} never came in {bytes}", hold.shows()));
                bytes.push_str(std::str::from_utf8(&piece.unwrap()).unwrap());
            }
            self.posts.push(Recorded::of(bytes.clone()));
            self.come_back(Point { place, continuation }, true).await;
            self.posts.pop();
            hold.open();
        }
        while let Some(piece) = bounded("the end", stream.next()).await {
            bytes.push_str(std::str::from_utf8(&piece.unwrap()).unwrap());
        }
        let recorded = Recorded::of(bytes);
        assert!(recorded.is_done);
        self.posts.push(recorded);
        let twins = twins.join_all();
        self.twins.push(bounded("the twins", twins).await);
        self.come_back(Point { place: holds.len(), continuation }, false).await;
    }

    /// Clients that had read up to each number that was sent so far come back now.
    async fn come_back(&mut self, at: Point, is_on: bool) {
        let history = self.app.main.history().await.iter().map(|message| json!(message)).collect::<Vec<_>>();
        for (post, stream) in self.posts.clone().iter().enumerate() {
            for read in &stream.seqs {
                let whole = is_on.then_some(true).into_iter();
                for whole in whole.chain([false]) {
                    let response = self.get((!whole).then_some(*read)).await;
                    let (read, history) = (*read, history.clone());
                    self.coming.spawn(async move {
                        let stream = match response.status() {
                            StatusCode::NO_CONTENT => None,
                            status => {
                                assert_eq!(status, StatusCode::OK);
                                Some(Recorded::of(whole_body(response).await))
                            }
                        };
                        Resume { post, read, at, whole, stream, history }
                    });
                }
            }
        }
    }

    async fn get(&self, after: Option<u64>) -> Response {
        let mut request = Request::get("/api/chat/chat/stream");
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        bounded("a resume", self.app.caller.open(request.body(Body::empty()).unwrap())).await
    }

    async fn last_message(&self) -> UiMessage {
        self.app.main.history().await.pop().unwrap()
    }
}

async fn whole_body(response: Response) -> String {
    let bytes = bounded("a stream", to_bytes(response.into_body(), usize::MAX)).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

impl Resume {
    pub fn name(&self) -> String {
        let how = if self.whole { "as a whole" } else { "after the number" };
        format!("read {} of stream {}, back {how} at {}", self.read, self.post, self.at)
    }
}

impl Recording {
    /// The message that a client has in the end, whoever answers the question.
    pub fn fold(&self, resume: &Resume) -> UiMessage {
        let told = |stream: &Option<Recorded>| stream.as_ref().map_or(Vec::new(), |it| it.chunks.clone());
        let message = if resume.whole {
            fold(None, &told(&resume.stream))
        } else {
            let prefix = self.posts[resume.post].chunks_up_to(resume.read);
            let before = (resume.post == 1).then(|| self.answered(fold(None, &self.posts[0].chunks)));
            fold_on(before, prefix, &told(&resume.stream))
        };
        if resume.at.continuation {
            return message;
        }
        fold(Some(self.answered(message)), &self.posts[1].chunks)
    }

    /// What the client itself does to the message when the person approves.
    fn answered(&self, message: UiMessage) -> UiMessage {
        let approval_id = self.approval.clone().into();
        fold(Some(message), &[Chunk::ToolApprovalResponse { approval_id, approved: true, reason: None }])
    }

    /// One line for the published clients for each resume, or for those at the first point after each number.
    pub fn cases(&self, profile: &str, everything: bool) -> Vec<Value> {
        let mut seen = std::collections::BTreeSet::new();
        let mut cases = Vec::new();
        for resume in &self.resumes {
            let is_new = seen.insert((resume.post, resume.read, resume.whole, resume.at.continuation));
            if !(is_new || everything) {
                continue;
            }
            let text = |stream: &Recorded| stream.bytes.clone();
            cases.push(json!({
                "name": format!("{profile}: {}", resume.name()),
                "profile": profile,
                "posts": self.posts.iter().map(text).collect::<Vec<_>>(),
                "post": resume.post,
                "prefix": self.posts[resume.post].up_to(resume.read),
                "whole": resume.whole,
                "resumed": resume.stream.as_ref().map(text),
                "inContinuation": resume.at.continuation,
                "history": resume.history,
                "approval": self.approval,
                "expected": self.stored,
            }));
        }
        cases
    }
}

/// The stream that was cut and what followed it, as one.
fn fold_on(before: Option<UiMessage>, prefix: &[Chunk<'static>], rest: &[Chunk<'static>]) -> UiMessage {
    fold(before, &[prefix, rest].concat())
}
