//! A browser tab with one chat open: it holds the messages that the stock client would, and sends its requests.

use std::sync::Arc;

use axum::response::Response;
use parking_lot::Mutex;
use protocol::{MessageId, Part, Role, UiMessage};
use serde_json::{Value, json};

use crate::{
    Caller, HttpResponse, Turn,
    caller::{JSON, request},
};

#[derive(Clone)]
pub struct Chat {
    pub caller: Caller,
    pub id: String,
    client: Arc<Mutex<Client>>,
}

#[derive(Default)]
struct Client {
    messages: Vec<UiMessage>,
    sent: usize,
}

impl Chat {
    pub(crate) fn new(caller: Caller, id: &str) -> Self {
        Self { caller, id: id.to_owned(), client: Arc::default() }
    }

    /// Sends a new user message with the id `u1`, `u2` … after the messages of this tab.
    pub async fn send(&self, text: &str) -> Turn {
        self.send_with(text, json!({})).await
    }

    /// Sends a new user message, with more fields in the body.
    pub async fn send_with(&self, text: &str, fields: Value) -> Turn {
        let id = self.add_user(text);
        let body = self.body(json!({ "trigger": "submit-message" }), fields);
        Turn::of(self.clone(), self.open(&body).await, Some(&id), false)
    }

    /// Adds a new user message and returns the body that would send it.
    pub fn body_of(&self, text: &str, fields: Value) -> Value {
        self.add_user(text);
        self.body(json!({ "trigger": "submit-message" }), fields)
    }

    /// Sends a new user message with files.
    pub async fn send_files(&self, text: &str, files: Vec<Part>) -> Turn {
        let id = self.add_user(text);
        self.set_messages(|messages| {
            messages.iter_mut().for_each(|it| {
                if it.id == id {
                    it.parts.extend(files.clone())
                }
            })
        });
        let body = self.body(json!({ "trigger": "submit-message" }), json!({}));
        Turn::of(self.clone(), self.open(&body).await, Some(&id), false)
    }

    /// Appends the next user message to this tab without sending it; returns its id.
    pub fn add_user(&self, text: &str) -> MessageId {
        let mut client = self.client.lock();
        client.sent += 1;
        let id = MessageId::new(format!("u{}", client.sent));
        client.messages.push(user(id.as_str(), text));
        id
    }

    /// Returns the body that the stock client would post now.
    pub fn body(&self, own: Value, fields: Value) -> Value {
        let mut body = fields;
        body["id"] = json!(self.id);
        body["messages"] = json!(self.messages());
        for (name, value) in own.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        body
    }

    /// Generates the last answer again; the old one is removed from this tab.
    pub async fn regenerate(&self) -> Turn {
        self.client.lock().messages.pop_if(|last| last.role == Role::Assistant);
        let body = self.body(json!({ "trigger": "regenerate-message" }), json!({}));
        Turn::of(self.clone(), self.open(&body).await, None, false)
    }

    /// Edits a user message; the messages after it are removed from this tab.
    pub async fn edit(&self, id: &str, text: &str) -> Turn {
        self.set_messages(|messages| {
            let place = messages.iter().position(|message| message.id.as_str() == id).unwrap();
            messages.truncate(place);
            messages.push(user(id, text));
        });
        let body = self.body(json!({ "trigger": "submit-message", "messageId": id }), json!({}));
        Turn::of(self.clone(), self.open(&body).await, None, false)
    }

    /// Posts the last message unchanged: `sendMessage()` without an argument.
    pub async fn resend_last(&self) -> Turn {
        let last = self.messages().pop().unwrap();
        let body = self.body(json!({ "trigger": "submit-message", "messageId": last.id }), json!({}));
        Turn::of(self.clone(), self.open(&body).await, None, false)
    }

    /// Subscribes to the active run; `None` when there is none.
    pub async fn resume(&self) -> Option<Turn> {
        let response = self.caller.open(request("GET", &self.path("stream"), &[], "")).await;
        match response.status().as_u16() {
            204 => None,
            _ => Some(Turn::of(self.clone(), response, None, true)),
        }
    }

    /// Waits for the pause or end of the active run; returns at once when there is none.
    pub async fn settled(&self) {
        if let Some(mut turn) = self.resume().await {
            turn.end().await;
        }
    }

    pub async fn stop(&self) -> HttpResponse {
        self.caller.request("POST", &self.path("stop"), &[], "").await
    }

    pub async fn branch(&self, message: &str) -> HttpResponse {
        self.caller.post_json(&self.path("branch"), &json!({ "messageId": message })).await
    }

    /// Reads all stored messages of the chat.
    pub async fn history(&self) -> Vec<UiMessage> {
        let mut all: Vec<UiMessage> = Vec::new();
        let mut page = Some(format!("{}?limit=1000", self.path("messages")));
        while let Some(path) = page {
            let answer = self.caller.get(&path).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            let older: Vec<UiMessage> = serde_json::from_str(&answer.body).unwrap();
            all.splice(0..0, older);
            let next = answer.header("link").strip_prefix('<');
            page = next.and_then(|next| next.strip_suffix(">; rel=\"next\"")).map(str::to_owned);
        }
        all
    }

    pub async fn info(&self) -> Value {
        self.caller.get(&format!("/api/sessions/{}", self.id)).await.json()
    }

    /// Loads the page again: this tab then holds the stored messages.
    pub async fn reload(&self) {
        let history = self.history().await;
        self.client.lock().messages = history;
    }

    /// Checks that the stream and the stored history have the same messages.
    pub async fn assert_history_is_what_the_tab_shows(&self) {
        let shown: Vec<Value> = self.messages().iter().map(|message| json!(message)).collect();
        let kept: Vec<Value> = self.history().await.iter().map(|message| json!(message)).collect();
        assert_eq!(shown, kept);
    }

    pub async fn open(&self, body: &Value) -> Response {
        self.caller.open(request("POST", "/api/chat", &[JSON], body.to_string())).await
    }

    /// Posts exactly this body and reads the stream of the response.
    pub async fn open_turn(&self, body: &Value) -> Turn {
        Turn::of(self.clone(), self.open(body).await, None, false)
    }

    /// Posts this body and reads the whole response.
    pub async fn post(&self, body: &Value) -> HttpResponse {
        self.caller.post_raw(body.to_string(), &[JSON]).await
    }

    pub fn path(&self, word: &str) -> String {
        format!("/api/chat/{}/{word}", self.id)
    }

    pub fn messages(&self) -> Vec<UiMessage> {
        self.client.lock().messages.clone()
    }

    pub fn set_messages(&self, change: impl FnOnce(&mut Vec<UiMessage>)) {
        change(&mut self.client.lock().messages);
    }

    /// The message with this id in this tab.
    pub fn message(&self, id: &str) -> Option<UiMessage> {
        self.client.lock().messages.iter().find(|message| message.id.as_str() == id).cloned()
    }

    pub(crate) fn put(&self, message: UiMessage) {
        let mut client = self.client.lock();
        match client.messages.iter_mut().find(|shown| shown.id == message.id) {
            Some(shown) => *shown = message,
            None => client.messages.push(message),
        }
    }
}

pub fn user(id: &str, text: &str) -> UiMessage {
    UiMessage {
        id: MessageId::new(id),
        role: Role::User,
        metadata: None,
        parts: vec![Part::Text { text: text.to_owned(), state: None }],
    }
}
