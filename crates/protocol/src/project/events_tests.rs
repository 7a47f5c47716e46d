//! Single events of the events surface. Generated logs are in `tests/fold/events.rs`.

use serde_json::json;

use super::*;
use crate::{
    agent::MainAgent, event::FinishReason, id::MessageRef, interaction::InteractionKind, message::Role,
};

fn text(id: &str) -> UiMessage {
    let parts = vec![Part::Text { text: "hello".to_owned(), state: None }];
    UiMessage { id: MessageId::new(id), role: Role::User, metadata: None, parts }
}

struct Log {
    fold: EventsFold,
    seq: Seq,
}

impl Log {
    /// A log with a run that has just begun.
    fn new() -> Self {
        let mut log = Self { fold: EventsFold::new(SessionId::new("s"), "c1".to_owned()), seq: 0 };
        let message = text("u1");
        log.take(SessionEvent::MessageAccepted { message, revision: 0, parent: None, facts: None });
        log.take(SessionEvent::RunStarted {
            run: RunId::new("r1"),
            answers: MessageRef::first(MessageId::new("u1")),
            message: MessageId::new("m1"),
            options: Box::default(),
        });
        log
    }

    fn take(&mut self, event: SessionEvent) -> Vec<ServerEvent> {
        self.seq += 1;
        self.fold.take(&LogEntry { seq: self.seq, at: Timestamp(self.seq as i64), event }, true)
    }

    fn announce(&mut self, announcement: Announcement) -> Vec<ServerEvent> {
        self.take(SessionEvent::Announced { announcement: Box::new(announcement) })
    }

    fn says(&mut self, delta: &str) -> Vec<ServerEvent> {
        self.take(SessionEvent::SegmentDelta {
            message: MessageId::new("m1"),
            segment: 0,
            kind: SegmentKind::Text,
            delta: delta.to_owned(),
        })
    }

    fn asks(&mut self) -> Vec<ServerEvent> {
        let call = ToolCall { id: ToolCallId::new("c"), name: "shell-command".to_owned(), input: json!({}) };
        self.take(SessionEvent::ApprovalAsked {
            message: MessageId::new("m1"),
            approval: ApprovalId::new("apr_1"),
            call,
            question: None,
            kind: InteractionKind::Approval,
            raised: false,
        })
    }
}

fn kinds(events: &[ServerEvent]) -> Vec<&str> {
    events.iter().map(|event| event.kind).collect()
}

#[test]
fn the_number_of_a_growing_text_follows_what_was_told_before_it() {
    let mut log = Log::new();
    log.says("One ");
    let agents = vec![MainAgent { id: "a".to_owned(), name: "A".to_owned(), description: String::new() }];
    let refused = log.announce(Announcement::SwitchRefused {
        connection: "c1".to_owned(),
        code: "agent_busy".to_owned(),
        text: "Busy.".to_owned(),
        agents,
        request: Some("r".to_owned()),
    });
    assert_eq!(kinds(&refused), ["error"]);
    let grown = log.fold.growing(Growth::Whole).unwrap();
    assert!(grown.seq > refused[0].seq, "{:?} after {:?}", grown.seq, refused[0].seq);
    log.says("two");
    let next = log.fold.growing(Growth::Deltas).unwrap();
    assert_eq!((&next.data["delta"], &next.data["content"]), (&json!("two"), &Value::Null));
    assert!(next.seq > grown.seq);
    assert_eq!(log.fold.growing(Growth::Whole), None, "nothing is new");
}

#[test]
fn a_refusal_and_a_leave_are_told_to_their_own_connection_only() {
    for (connection, told) in [("c1", 1), ("c2", 0)] {
        let mut log = Log::new();
        let left =
            Announcement::Unbound { connection: connection.to_owned(), reason: UnboundReason::TakenOver };
        let event = SessionEvent::Announced { announcement: Box::new(left.clone()) };
        assert_eq!(log.fold.leaves(&event), told == 1);
        assert_eq!(log.announce(left).len(), told);
        let refused = Announcement::SwitchRefused {
            connection: connection.to_owned(),
            code: "agent_not_found".to_owned(),
            text: String::new(),
            agents: Vec::new(),
            request: None,
        };
        assert_eq!(log.announce(refused).len(), told);
    }
}

#[test]
fn a_question_is_told_again_with_its_id_until_it_is_answered() {
    let mut log = Log::new();
    log.says("May I?");
    let asked = log.asks();
    assert_eq!(kinds(&asked), ["message", "tool_confirmation_request"], "the text ends at the question");
    let still =
        || Announcement::StillPending { requests: vec![ApprovalId::new("apr_1"), ApprovalId::new("apr_9")] };
    let again = log.announce(still());
    assert_eq!(
        (again.len(), &again[0].data, &again[0].request_id),
        (1, &asked[1].data, &asked[1].request_id)
    );
    assert!(again[0].seq > asked[1].seq);
    let resolved = log.take(SessionEvent::ApprovalAnswered {
        message: MessageId::new("m1"),
        approval: ApprovalId::new("apr_1"),
        approved: false,
        reason: None,
        withdrawn: true,
        kind: InteractionKind::Approval,
        answers: None,
        by: Some(AnsweredBy::Events),
        raised: false,
    });
    assert_eq!(
        resolved[0].data,
        json!({ "requestId": "apr_1", "kind": "tool_confirmation", "outcome": "aborted", "by": "events" })
    );
    assert_eq!(log.announce(still()), [], "no longer pending");
}

#[test]
fn an_announcement_from_before_the_client_came_is_not_told() {
    let mut log = Log::new();
    log.asks();
    let still = Announcement::StillPending { requests: vec![ApprovalId::new("apr_1")] };
    let event = SessionEvent::Announced { announcement: Box::new(still) };
    assert_eq!(log.fold.take(&LogEntry { seq: 9, at: Timestamp(9), event }, false), []);
}

#[test]
fn a_run_that_fails_has_an_error_before_its_complete() {
    let mut log = Log::new();
    log.says("Half");
    let message = MessageId::new("m1");
    let end = FrameEnd::Failed { message: "The model does not answer.".to_owned() };
    let closed =
        log.take(SessionEvent::FrameClosed { message: message.clone(), end, metadata: Box::default() });
    assert_eq!(kinds(&closed), ["message", "error"]);
    assert_eq!(closed[1].data["errorCode"], "run_failed");
    let ended = log.take(SessionEvent::RunEnded { run: RunId::new("r1"), message, end: RunEnd::Failed });
    assert_eq!(kinds(&ended), ["complete"]);
    assert_eq!((&ended[0].data["status"], &ended[0].data["cancelled"]), (&json!("failed"), &json!(false)));
    assert_eq!(ended[0].run_id, Some(RunId::new("r1")));
}

#[test]
fn an_empty_segment_is_not_told() {
    let mut log = Log::new();
    let (message, kind) = (MessageId::new("m1"), SegmentKind::Text);
    assert_eq!(log.take(SessionEvent::SegmentOpened { message: message.clone(), segment: 0, kind }), []);
    assert_eq!(log.says(""), []);
    assert_eq!(log.fold.growing(Growth::Whole), None);
    let end = FrameEnd::Finished { reason: FinishReason::Stop };
    assert_eq!(log.take(SessionEvent::FrameClosed { message, end, metadata: Box::default() }), []);
}
