//! What readers are told: one who comes at any moment, and the client of a whole conversation, pause by pause.
//!
//! An answer that arrives while a stream is open (from another surface, or because the question was withdrawn)
//! cannot be told in the common profile; [`message_after`] leaves out exactly that and nothing else.

use protocol::{
    Chunk, LogEntry, MessageFold, SessionEvent, UiMessage,
    project::chat::{Reading, View, chunk_of, ends_stream},
    wire::chat::Profile,
};

use crate::log::message_of;

/// One HTTP response: the chunks in order, and the part of the log that it covers.
pub struct Told<'a> {
    pub chunks: Vec<Chunk<'a>>,
    pub start: usize,
    pub end: usize,
}

/// A reader of the whole message that comes when `known` entries are written, and stays to the end of its stream.
pub fn whole_message(log: &[LogEntry], known: usize, profile: Profile) -> Told<'_> {
    let reading = Reading {
        view: View::WholeMessage,
        last_resume: last_resume(&log[..known]),
        edge: log[..known].last().map_or(0, |entry| entry.seq),
    };
    told(log, 0, &reading, profile)
}

/// Everything that is ever told about the message to a reader who comes at its very end.
pub fn replay(log: &[LogEntry], profile: Profile) -> Vec<Chunk<'_>> {
    let edge = log.first().map_or(0, |entry| entry.seq);
    let reading = Reading { view: View::WholeMessage, last_resume: last_resume(log), edge };
    let told = log.iter().filter(|entry| reading.tells(entry.seq, &entry.event));
    told.filter(|entry| profile.shows(&entry.event)).filter_map(|entry| chunk_of(&entry.event)).collect()
}

/// One request of a client that stays with the conversation: what it recorded itself before, and what it is told.
pub struct Turn<'a> {
    /// Approvals it answered and outputs of its own tools.
    pub answers: Vec<&'a SessionEvent>,
    pub told: Told<'a>,
}

pub fn turns(log: &[LogEntry], profile: Profile) -> Vec<Turn<'_>> {
    let mut turns = vec![Turn { answers: Vec::new(), told: whole_message(log, 0, profile) }];
    loop {
        let from = turns.last().map_or(0, |turn| turn.told.end);
        let resumed =
            log[from..].iter().position(|entry| matches!(entry.event, SessionEvent::RunResumed { .. }));
        let Some(resumed) = resumed.map(|place| place + from) else { return turns };
        let answers = log[from..resumed].iter().map(|entry| &entry.event).filter(|event| {
            matches!(event, SessionEvent::ApprovalAnswered { .. } | SessionEvent::ToolSettled { .. })
        });
        let seq = log[resumed].seq;
        let reading = Reading { view: View::Continuation, last_resume: seq, edge: seq };
        let told = told(log, resumed, &reading, profile);
        turns.push(Turn { answers: answers.collect(), told });
    }
}

/// The message as the client has it after its turns.
pub fn client_message(start: UiMessage, turns: &[Turn<'_>]) -> UiMessage {
    let mut fold = MessageFold::continuing(start);
    for turn in turns {
        let recorded = turn.answers.iter().filter_map(|event| chunk_of(event));
        for chunk in recorded.chain(turn.told.chunks.iter().cloned()) {
            fold.apply(&chunk).expect("the client accepts what it is told");
        }
        // Each response is read by a new reducer that knows only the message.
        fold = MessageFold::continuing(fold.into_message());
    }
    fold.into_message()
}

/// What we store after those turns, as far as the profile can tell it.
pub fn message_after(log: &[LogEntry], turns: &[Turn<'_>], profile: Profile) -> UiMessage {
    let told_in = |place: usize| turns.iter().any(|turn| (turn.told.start..turn.told.end).contains(&place));
    let end = turns.last().map_or(0, |turn| turn.told.end);
    let mut fold = MessageFold::new(message_of(log));
    for (place, entry) in log[..end].iter().enumerate() {
        let answer = matches!(entry.event, SessionEvent::ApprovalAnswered { .. });
        if !(answer && profile == Profile::Common && told_in(place)) {
            fold.event(&entry.event).expect("a legal log");
        }
    }
    fold.into_message()
}

fn told<'a>(log: &'a [LogEntry], from: usize, reading: &Reading, profile: Profile) -> Told<'a> {
    let mut chunks = Vec::new();
    for (place, entry) in log.iter().enumerate().skip(from) {
        if reading.tells(entry.seq, &entry.event) {
            chunks.extend(chunk_of(&entry.event).filter(|_| profile.shows(&entry.event)));
            if ends_stream(&entry.event) {
                return Told { chunks, start: from, end: place + 1 };
            }
        }
    }
    panic!("a stream without an end");
}

fn last_resume(log: &[LogEntry]) -> u64 {
    let resumed = |entry: &&LogEntry| matches!(entry.event, SessionEvent::RunResumed { .. });
    log.iter().rfind(resumed).map_or(0, |entry| entry.seq)
}
