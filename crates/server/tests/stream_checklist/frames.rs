//! Items 121–124: headers, frames, the strict schema, the one start.

use super::*;

#[tokio::test]
async fn item_121_the_response_has_the_headers_of_an_event_stream() {
    let app = TestApp::scripted([says("Hi.")]).await;
    let turn = app.send("hello").await;
    let header = |name: &str| turn.headers.get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(turn.status, 200);
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(header("cache-control"), "no-cache");
    assert_eq!(header("x-accel-buffering"), "no");
    assert_eq!(header("x-vercel-ai-ui-message-stream"), "v1");
}

#[tokio::test]
async fn item_122_frames_are_one_json_object_each_done_is_last_and_silence_is_filled_with_comments() {
    assert!(ServerSettings::default().heartbeat <= Duration::from_secs(30));
    let gate = Gate::new();
    let app = TestApp::builder()
        .replies([waits(&gate).then(says("Line one.\nLine two."))])
        .server(|settings| settings.heartbeat = Duration::from_millis(5))
        .start()
        .await;
    app.main.add_user("hello");
    let body = app.main.body(json!({}), json!({}));
    let mut events = SseEvents::of(app.main.open(&body).await);
    let first = events.next().await.unwrap();
    assert!(matches!(first, SseEvent::Comment(_)), "a comment opens the stream at once: {first:?}");
    while events.next().await.unwrap() != SseEvent::Comment("keep-alive".to_owned()) {}
    gate.open();
    let mut last = None;
    while let Some(frame) = events.next().await {
        last = Some(frame);
    }
    assert_eq!(last, Some(SseEvent::Done));
}

#[tokio::test]
async fn item_123_every_chunk_is_valid_for_the_strictest_client() {
    for (name, transcript) in transcripts().await {
        for chunk in &transcript.chunks {
            let json = serde_json::to_value(chunk).unwrap();
            assert_eq!(strict::problem(&json), None, "{name}: {json}");
        }
    }
    for refused in [
        json!({ "type": "text-delta", "id": "s0", "delta": "x", "extra": 1 }),
        json!({ "type": "finish", "finishReason": "unknown" }),
        json!({ "type": "finish", "finishReason": "stop", "messageMetadata": null }),
        json!({ "type": "tool-output-available", "toolCallId": "c" }),
        json!({ "type": "text-start", "id": 1 }),
        json!({ "type": "dance" }),
    ] {
        assert!(strict::problem(&refused).is_some(), "{refused}");
    }
}

#[tokio::test]
async fn item_124_the_first_chunk_is_start_with_the_message_id_and_there_is_one() {
    for (name, transcript) in transcripts().await {
        for response in &transcript.responses {
            let starts = response.iter().filter(|chunk| matches!(chunk, Chunk::Start { .. })).count();
            assert_eq!(starts, 1, "{name}");
            let Chunk::Start { message_id, .. } = &response[0] else { panic!("{name}: {:?}", response[0]) };
            assert_eq!(**message_id, *transcript.message.id.as_str(), "{name}");
        }
    }
}
