//! Definitions over REST: stored, shown, changed with a version, refused with everything that is wrong, and in force
//! with the next message.

use serde_json::{Value, json};
use testkit::{Scripted, TestApp, protocol::ErrorCode, says};

fn reviewer() -> Value {
    json!({
        "name": "reviewer", "displayName": "Reviewer", "description": "Reads code.",
        "systemPrompt": "You review code of {{ project }}.", "toolKeys": ["time-now"], "maxSteps": 7,
        "pageIds": ["editor"],
    })
}

async fn app() -> TestApp {
    TestApp::builder().script(Scripted::choosing(|_| says("Done."))).start().await
}

#[tokio::test]
async fn a_definition_is_stored_shown_changed_and_removed() {
    let app = app().await;
    let made = app.caller.post_json("/api/agents", &reviewer()).await;
    assert_eq!(made.status, 201, "{}", made.body);
    let made = made.json();
    let id = made["id"].as_str().unwrap().to_owned();
    assert_eq!(made["source"], "database");
    assert_eq!(made["type"], "default");
    assert_eq!(made["workspaceId"], "default");
    assert_eq!((&made["version"], &made["available"]), (&json!(1), &json!(true)));
    assert_eq!(
        (&made["maxSteps"], &made["maxDepth"], &made["enabled"]),
        (&json!(7), &json!(4), &json!(true))
    );
    assert_eq!(made["effectiveTools"], json!(["time-now"]));
    assert_eq!(app.get(&format!("/api/agents/{id}")).await.json(), made);
    assert_eq!(app.get("/api/agents/reviewer").await.json(), made);

    app.clock.advance(1_000);
    let path = format!("/api/agents/{id}");
    let changed = app.caller.patch_json(&path, &json!({ "version": 1, "description": "New." })).await.json();
    assert_eq!((&changed["version"], &changed["description"]), (&json!(2), &json!("New.")));
    assert_eq!((&changed["maxSteps"], &changed["createdAt"]), (&json!(7), &made["createdAt"]));
    assert_eq!(changed["updatedAt"], json!(made["updatedAt"].as_i64().unwrap() + 1_000));

    let whole = json!({ "version": 2, "name": "reviewer", "systemPrompt": "Short." });
    let replaced = app.caller.put_json(&path, &whole).await.json();
    assert_eq!((&replaced["version"], &replaced["maxSteps"]), (&json!(3), &json!(20)));
    assert_eq!(replaced["pageIds"], json!([]));

    assert_eq!(app.caller.delete(&path).await.status, 204);
    app.caller.delete(&path).await.assert_problem(ErrorCode::AgentNotFound);
    app.get("/api/agents/reviewer").await.assert_problem(ErrorCode::AgentNotFound);
}
