//! A run with reasoning, text, two parallel tools and an approval, dropped and resumed at every number.
//!
//! Gates hold the run at every point. At each of them, and at the pause and the end, a client that has read up to
//! any number before comes back: as a whole (`GET /stream`), after `Last-Event-ID`, and as a reloaded page. The
//! final message is the same each time: by our fold, and by the published clients (`tests/client/resume.mjs`).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "resume_everywhere/clients.rs"]
mod clients;
#[path = "resume_everywhere/long.rs"]
mod long;
#[path = "resume_everywhere/record.rs"]
mod record;
#[path = "resume_everywhere/sse.rs"]
mod sse;

use std::{collections::BTreeSet, future::Future, time::Duration};

use serde_json::{Value, json};
use testkit::protocol::{Part, ToolState, UiMessage, wire::chat::Profile};

use record::{Point, Recording, record};

/// Waits, but never forever.
async fn bounded<T>(what: &str, work: impl Future<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(30), work).await {
        Ok(done) => done,
        Err(_) => panic!("{what} hangs"),
    }
}

/// A message as it is compared. In the common profile a stream cannot say who answered; the history can.
fn comparable(message: &UiMessage, profile: Profile) -> Value {
    let mut message = message.clone();
    for part in &mut message.parts {
        if profile == Profile::Common
            && let Part::Tool(tool) = part
            && let ToolState::OutputAvailable { approval: Some(approval), .. } = &mut tool.state
        {
            approval.approved = None;
        }
    }
    json!(message)
}

#[tokio::test]
async fn a_run_resumed_at_every_number_gives_the_same_message() {
    for profile in [Profile::Common, Profile::V7] {
        let recording = record(profile).await;
        check_the_script(&recording);
        let kept = comparable(&recording.stored, profile);
        let mut resumes = 0;
        let mut seen = BTreeSet::new();
        for resume in &recording.resumes {
            let message = recording.fold(resume);
            assert_eq!(comparable(&message, profile), kept, "{}", resume.name());
            seen.insert((resume.post, resume.read));
            resumes += 1;
        }
        for (post, stream) in recording.posts.iter().enumerate() {
            for seq in &stream.seqs {
                assert!(seen.contains(&(post, *seq)), "nobody was dropped at {seq} of stream {post}");
            }
        }
        println!("{profile:?}: {resumes} resumes at {} numbers, 0 differences by our fold", seen.len());
        assert!(resumes > 600 && seen.len() > 40, "{resumes} at {}", seen.len());
    }
}

/// The run is what it is meant to be.
fn check_the_script(recording: &Recording) {
    let message = &recording.stored;
    assert!(message.parts.iter().any(|part| matches!(part, Part::Reasoning { .. })));
    assert_eq!(message.tool_parts().count(), 3);
    assert!(message.tool_parts().all(|tool| matches!(tool.state, ToolState::OutputAvailable { .. })));
    assert!(message.text().ends_with("The end."), "{}", message.text());
    assert_eq!(recording.posts.len(), 2);
}

#[tokio::test]
async fn viewers_from_the_start_get_identical_bytes_and_late_ones_the_same_message() {
    let recording = record(Profile::Common).await;
    for (post, stream) in recording.posts.iter().enumerate() {
        for (other, bytes) in recording.twins[post].iter().enumerate() {
            assert_eq!(*bytes, stream.bytes, "twin {other} of stream {post}");
        }
        assert!(!recording.twins[post].is_empty());
    }
    let during = recording.resumes.iter().filter(|resume| resume.whole && resume.at.continuation);
    let mut count = 0;
    for resume in during {
        let stream = resume.stream.as_ref().unwrap();
        let told = |kind: &str| stream.chunks.iter().filter(|chunk| json!(chunk)["type"] == kind).count();
        assert_eq!((told("start"), told("finish")), (1, 1), "{}", resume.name());
        assert_eq!(told("reasoning-start"), 2, "the whole message: {}", resume.name());
        count += 1;
    }
    assert!(count > 0);
    println!("{count} resumes of a continuation replayed the whole message");
}

#[tokio::test]
async fn the_published_clients_agree_at_every_number() {
    let mut lines = Vec::new();
    for (name, profile) in [("common", Profile::Common), ("v7", Profile::V7)] {
        let recording = record(profile).await;
        lines.extend(recording.cases(name, clients::everything()));
    }
    clients::compare("resume.mjs", &lines);
}

/// Where a resume happened.
impl std::fmt::Display for Point {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let part = if self.continuation { "the continuation" } else { "the first part" };
        write!(f, "{} of {part}", self.place)
    }
}
