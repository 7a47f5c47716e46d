//! Generated sessions: branches, edits, sub-agents below sub-agents, approvals in every state, files, errors, Chinese.

use std::collections::BTreeMap;

use testkit::{Rng, TestApp, protocol::Part};

use super::world::{export_to, files, import_from, reload, settle, start, turn};

fn task(rng: &mut Rng, depth: usize) -> String {
    let count = 1 + rng.below(3);
    let words = (0..count).map(|_| match rng.below(if depth < 3 { 11 } else { 8 }) {
        0 => "echo".to_owned(),
        1 => "fail".to_owned(),
        2 => "ask".to_owned(),
        3 => "long".to_owned(),
        4 => "think".to_owned(),
        5 => "zh".to_owned(),
        6 => "err".to_owned(),
        7 => "echo".to_owned(),
        8 => format!("spawn({})", task(rng, depth + 1)),
        _ => format!("nest({})", task(rng, depth + 1)),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Lives through a random session; returns what occurred in it.
async fn live(app: &TestApp, rng: &mut Rng) -> Vec<&'static str> {
    let mut occurred = Vec::new();
    let turns = 1 + rng.below(4);
    for number in 0..turns {
        app.clock.advance(1_000 + rng.below(5_000));
        let text = task(rng, 0);
        let answer = match rng.below(4) {
            0 => Some(false),
            1 if number + 1 == turns => None,
            _ => Some(true),
        };
        for (word, name) in [
            ("nest", "agents"),
            ("spawn", "background"),
            ("ask", "approvals"),
            ("long", "files"),
            ("err", "errors"),
        ] {
            occurred.extend(text.contains(word).then_some(name));
        }
        match rng.below(5) {
            0 if number > 0 => {
                occurred.push("edits");
                reload(app).await;
                app.main.edit("u1", &format!("do: {text}")).await.end().await;
                settle(app, answer.or(Some(true))).await;
            }
            1 if number > 0 => {
                occurred.push("retries");
                reload(app).await;
                app.main.regenerate().await.end().await;
                settle(app, answer.or(Some(true))).await;
            }
            2 => {
                occurred.push("attachments");
                let url = "data:text/plain;base64,5L2g5aW9".to_owned();
                let file = Part::File {
                    media_type: "text/plain".to_owned(),
                    url,
                    filename: Some("附件.txt".to_owned()),
                };
                reload(app).await;
                app.main.send_files(&format!("do: {text}"), vec![file]).await.end().await;
                settle(app, answer).await;
            }
            _ => turn(app, &text, answer).await,
        }
        if answer.is_none() {
            occurred.push("open questions");
        }
    }
    if rng.below(3) == 0 {
        occurred.push("titles");
        app.caller
            .patch_json(
                "/api/sessions/chat",
                &serde_json::json!({ "title": "标题 “quoted”", "pinned": true }),
            )
            .await;
    }
    occurred
}

#[tokio::test]
async fn exported_imported_and_exported_again_a_session_is_the_same_byte_for_byte() {
    let count: u64 = std::env::var("TRANSCRIPTS").ok().and_then(|count| count.parse().ok()).unwrap_or(12);
    let mut mix: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 1..=count {
        let mut rng = Rng::new(seed);
        let app = start().await;
        let mut occurred = live(&app, &mut rng).await;
        occurred.sort_unstable();
        occurred.dedup();
        occurred.into_iter().for_each(|what| *mix.entry(what).or_default() += 1);
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("first"), folder.path().join("second"));
        let exported = export_to(&app, &first).await.unwrap_or_else(|error| panic!("{seed}: {error}"));
        let other = start().await;
        let imported =
            import_from(&other, &first, false).await.unwrap_or_else(|error| panic!("{seed}: {error}"));
        assert_eq!(exported, imported, "{seed}");
        assert_eq!(export_to(&other, &second).await.unwrap(), exported, "{seed}");
        let (one, two) = (files(&first), files(&second));
        assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>(), "{seed}");
        for (name, bytes) in &one {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            assert!(*bytes == two[name], "{seed}: {name}\n{}\n{}", text(bytes), text(&two[name]));
        }
        // And to the person it is the same chat.
        assert_eq!(app.main.history().await, other.main.history().await, "{seed}");
    }
    println!("{count} sessions, of which with: {mix:?}");
}
