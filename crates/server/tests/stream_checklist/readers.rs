//! Items 142, 145, 147 and 150: every reader gets the same, however late, on any route, at its own pace.

use super::*;

/// Several responses of one message as one: the pauses between them are not told again.
fn without_pauses(responses: &[Vec<Chunk<'static>>]) -> Vec<Chunk<'static>> {
    let mut all = Vec::new();
    for (number, response) in responses.iter().enumerate() {
        let is_last = number + 1 == responses.len();
        let skip = usize::from(number > 0);
        let keep = response.len() - usize::from(!is_last);
        all.extend_from_slice(&response[skip..keep]);
    }
    all.retain(|chunk| !chunk.is_transient());
    all
}

#[tokio::test]
async fn item_142_a_reader_that_comes_back_at_any_point_has_the_same_parts() {
    let gates: Vec<Gate> = (0..6).map(|_| Gate::new()).collect();
    let first = waits(&gates[0])
        .then(reasons("Hm"))
        .then(waits(&gates[1]))
        .then(says("Let me "))
        .then(waits(&gates[2]))
        .then(says("look."))
        .then(call_in_pieces("c", "conf_echo", &["{\"text\":"]))
        .then(waits(&gates[3]));
    let app = TestApp::builder()
        .script(Scripted::new([
            first.then(echo("d", "y")),
            says("The call that broke off stays so."),
            waits(&gates[4]).then(says("Found")).then(waits(&gates[5])).then(says(" it.")),
        ]))
        .start()
        .await;
    let mut whole = app.send("go").await;
    let mut readers: Vec<(Chat, Turn)> = Vec::new();
    for gate in &gates {
        gate.reached().await;
        let tab = app.chat("chat");
        let mut turn = tab.resume().await.unwrap();
        turn.until(|chunk| matches!(chunk, Chunk::Start { .. })).await;
        readers.push((tab, turn));
        gate.open();
    }
    let message = whole.message().await;
    let order = ["reasoning Hm", "text Let me look.", "tool c", "tool d", "text Found it."];
    assert_eq!(shape(&message), order);
    for (_, turn) in &mut readers {
        assert_eq!(turn.message().await, message);
        assert_eq!(chunk_lines(&merge_deltas(&turn.chunks)), chunk_lines(&merge_deltas(&whole.chunks)));
    }
    app.main.assert_history_is_what_the_tab_shows().await;
}

#[tokio::test]
async fn item_145_the_same_log_gives_the_same_chunks_on_every_route() {
    for (name, transcript) in transcripts().await {
        let again = replay(&transcript.chat).await;
        let posted = without_pauses(&transcript.responses);
        assert_eq!(chunk_lines(&merge_deltas(&again.chunks)), chunk_lines(&merge_deltas(&posted)), "{name}");
    }
}

#[tokio::test]
async fn item_147_the_clients_fold_takes_every_transcript_and_agrees_with_the_history() {
    for (name, transcript) in transcripts().await {
        let kept = transcript.chat.history().await.pop().unwrap();
        assert_eq!(transcript.message, kept, "{name}");
        transcript.chat.assert_history_is_what_the_tab_shows().await;
    }
}

#[tokio::test]
async fn item_150_a_thousand_deltas_reach_a_slow_reader_in_order_and_do_not_hold_the_run() {
    const SIZE: usize = 4000;
    let piece = |number: usize| format!("<{number:04}>{}", "x".repeat(SIZE));
    let pieces = |from: usize, to: usize| {
        (from..to).fold(Reply::default(), |reply, number| reply.then(says(&piece(number))))
    };
    let app = TestApp::scripted([pieces(0, 500).then(echo("c", "x")), pieces(500, 1000)]).await;
    let listening = app.over_http().await;
    app.main.add_user("talk");
    let body = app.main.body(json!({}), json!({}));
    let mut connection = listening.request("POST", "/api/chat", &body.to_string()).await;
    connection.read_until("\"start\"").await;
    // Nobody reads, and the run ends all the same.
    app.model.idle().await;
    while app.main.info().await["status"] != "idle" {
        tokio::task::yield_now().await;
    }
    let received = connection.read_all().await;
    let numbers: Vec<usize> =
        received.split('<').skip(1).filter_map(|rest| rest.get(..4)?.parse().ok()).collect();
    assert_eq!(numbers, (0..1000).collect::<Vec<_>>());
    let message = app.main.history().await.pop().unwrap();
    let texts: Vec<_> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, .. } => Some(text.clone()),
            _ => None,
        })
        .collect();
    let expected = |from, to| (from..to).map(piece).collect::<String>();
    assert!(texts == [expected(0, 500), expected(500, 1000)], "two segments, each with its own deltas");
    let last_of_first = received.find("<0499>").unwrap();
    let first_of_second = received.find("<0500>").unwrap();
    assert!(received[last_of_first..first_of_second].contains("tool-output-available"));
}
