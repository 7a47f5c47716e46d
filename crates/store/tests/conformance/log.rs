//! Cases about the log: reading from any number, holes, texts of every kind.

use protocol::{SegmentKind, SessionEvent, SessionId};

use crate::{StoreLocation, script::*};

pub async fn the_log_is_read_from_every_cursor(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    let segment = |opens: bool, segment| {
        let (message, kind) = (id("m"), SegmentKind::Text);
        match opens {
            true => SessionEvent::SegmentOpened { message, segment, kind },
            false => SessionEvent::SegmentClosed { message, segment, kind, provider: None },
        }
    };
    script.append(vec![segment(true, 0), delta("m", 0, "äb"), delta("m", 0, "会"), delta("m", 0, "!")]).await;
    script.append(vec![delta("m", 0, "more"), delta("m", 0, "🦀"), segment(false, 0)]).await;
    let inputs =
        vec![input_delta("m", "c", "{\"a"), input_delta("m", "c", "\":1}"), input_delta("m", "d", "{}")];
    script.append(inputs).await;
    script.append(vec![segment(true, 1), delta("m", 1, "x"), segment(false, 1), segment(true, 2)]).await;
    script.append(vec![delta("m", 2, "y")]).await;
    script.finish("m", "done").await;

    for cursor in 0..=script.last + 1 {
        let read = store.read_log(script.key(), cursor, usize::MAX).await.unwrap();
        let expected = script.written.iter().filter(|entry| entry.seq > cursor).cloned();
        assert_eq!(joined(read), joined(expected), "after {cursor}");
    }
}

pub async fn a_read_is_bounded_and_never_empty_while_there_is_more(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    for number in 0..50 {
        script.append(vec![delta("m", number, &"x".repeat(1000))]).await;
    }
    let mut cursor = 0;
    let mut all = Vec::new();
    let mut reads = 0;
    loop {
        let entries = store.read_log(script.key(), cursor, 4000).await.unwrap();
        let Some(last) = entries.last() else { break };
        assert!(entries.len() < 20, "about as much as was asked for: {}", entries.len());
        assert!(last.seq > cursor, "a read goes forward");
        cursor = last.seq;
        reads += 1;
        all.extend(entries);
    }
    assert!(reads > 5);
    assert_eq!(joined(all), joined(script.written.clone()));
}

pub async fn numbers_in_a_hole_were_never_stored(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    script.ask("u", None, "m").await;
    script.append(vec![delta("m", 0, "a"), delta("m", 0, "b")]).await;
    let (last, key) = (script.last, script.key());
    script.last += 65_536;
    script.append(vec![resumed("m")]).await;
    for seq in 1..=last {
        assert!(store.is_stored(key, seq).await.unwrap(), "{seq}");
    }
    for seq in [0, last + 1, last + 65_536, script.last + 1] {
        assert!(!store.is_stored(key, seq).await.unwrap(), "{seq}");
    }
    assert!(store.is_stored(key, script.last).await.unwrap());
    let after_hole = store.read_log(key, last + 7, usize::MAX).await.unwrap();
    assert_eq!(after_hole.len(), 1);
    assert_eq!(after_hole[0].seq, script.last);
}

pub async fn text_of_every_kind_survives(location: &StoreLocation) {
    let store = location.open();
    let odd = "quote \" back \\ nul \u{0} line\u{2028} bell \u{7} 会话 🦀\r\n{\"type\":\"deltas\"";
    let mut script = Script::new(&store, odd);
    let message = user("ü/'; DROP TABLE messages; --", odd);
    let accepted =
        SessionEvent::MessageAccepted { message: message.clone(), revision: 0, parent: None, facts: None };
    let key = script.append(vec![accepted, delta("m", 0, odd), delta("m", 0, &"x".repeat(300_000))]).await;
    let read = store.read_log(key, 0, usize::MAX).await.unwrap();
    assert_eq!(joined(read), joined(script.written.clone()));
    let kept = store.message(key, &message.id).await.unwrap().unwrap();
    assert_eq!(kept.message().unwrap(), message);
    let found = store.session(&workspace(), &SessionId::new(odd)).await.unwrap().unwrap();
    assert_eq!(found.key, key);
}
