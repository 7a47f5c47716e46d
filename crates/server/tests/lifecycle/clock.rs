//! A clock whose time cannot be written as a date.

use testkit::FixedClock;

use super::*;

#[tokio::test]
async fn a_chat_is_answered_whatever_the_clock_shows() {
    for now in [-1, -62_135_596_800_001, 253_402_300_800_000, 9_000_000_000_000_000] {
        let app = TestApp::scripted([calls("c", "time-now", json!({})), says("It is late.")]).await;
        app.clock.advance(now - FixedClock::START);
        let fields = json!({ "timezone": "Pacific/Kiritimati" });
        assert_eq!(app.main.send_with("what time is it?", fields).await.text().await, "It is late.", "{now}");
        for path in ["/api/usage?by=day", "/api/sessions", "/api/chat/chat/messages"] {
            assert_eq!(app.get(path).await.status, 200, "{path} at {now}");
        }
    }
}
