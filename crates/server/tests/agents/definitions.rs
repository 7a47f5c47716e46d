//! Definitions over REST: stored, shown, changed with a version, refused with all their problems, and used from the next
//! message on.

use serde_json::{Value, json};
use testkit::{
    HttpResponse, Scripted, TestApp,
    faults::{Effect, Faults, Method, When},
    protocol::ErrorCode,
    says,
};

fn reviewer() -> Value {
    json!({
        "name": "reviewer", "displayName": "Reviewer", "description": "Reads code.",
        "systemPrompt": "You review code of {{ project }}.", "toolKeys": ["time-now"], "maxSteps": 7,
        "pageIds": ["editor"],
    })
}

fn paths(answer: &HttpResponse) -> Vec<(String, String)> {
    let json = answer.json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let problems = json["problems"].as_array().unwrap();
    for problem in problems {
        assert!(!text(&problem["message"]).is_empty() && !text(&problem["fix"]).is_empty(), "{problem}");
    }
    problems.iter().map(|problem| (text(&problem["path"]), text(&problem["code"]))).collect()
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

#[tokio::test]
async fn the_list_shows_every_source_with_what_is_not_available_and_why() {
    let app = app().await;
    app.caller.post_json("/api/agents", &reviewer()).await;
    let off = json!({ "name": "asleep", "systemPrompt": "p", "enabled": false });
    app.caller.post_json("/api/agents", &off).await;
    let list = app.get("/api/agents").await.json();
    let agent = |name: &str| {
        let agents = list["agents"].as_array().unwrap();
        agents.iter().find(|agent| agent["name"] == name).unwrap().clone()
    };
    let general = agent("general");
    assert_eq!(
        (&general["source"], &general["kind"], &general["available"]),
        (&json!("system"), &json!("main"), &json!(true))
    );
    assert_eq!(general.get("id"), None);
    let calendar = agent("calendar");
    assert_eq!(calendar["available"], false);
    assert_eq!(calendar["reason"], "the tools calendar-query, calendar-mutate do not exist");
    assert_eq!(agent("test-approval")["type"], "test-approval");
    assert_eq!(agent("reviewer")["source"], "database");
    assert_eq!(agent("asleep")["reason"], "it is switched off");
    let groups = list["groups"].as_array().unwrap();
    assert!(groups.iter().any(|group| group["name"] == "file-read" && group["available"] == true));
    assert!(list["variables"].as_array().unwrap().iter().any(|variable| variable["name"] == "project"));
}

#[tokio::test]
async fn of_two_who_change_the_same_version_the_second_gets_what_the_first_made_of_it() {
    let app = app().await;
    let made = app.caller.post_json("/api/agents", &reviewer()).await.json();
    let path = format!("/api/agents/{}", made["id"].as_str().unwrap());
    let first = json!({ "version": 1, "description": "First." });
    let second = json!({ "version": 1, "description": "Second." });
    let (one, other) =
        tokio::join!(app.caller.patch_json(&path, &first), app.caller.patch_json(&path, &second));
    let (won, lost) = if one.status == 200 { (one, other) } else { (other, one) };
    assert_eq!(won.json()["version"], 2);
    lost.assert_problem(ErrorCode::AgentChanged);
    assert_eq!(lost.json()["current"], won.json());
    for answer in [
        app.caller.put_json(&path, &json!({ "version": 1, "name": "reviewer", "systemPrompt": "p" })).await,
        app.caller.delete(&format!("{path}?version=1")).await,
    ] {
        answer.assert_problem(ErrorCode::AgentChanged);
        assert_eq!(answer.json()["current"]["version"], 2);
    }
    let unversioned = app.caller.patch_json(&path, &json!({ "description": "x" })).await;
    unversioned.assert_problem(ErrorCode::InvalidAgent);
    assert_eq!(paths(&unversioned), [("version".to_owned(), "missing".to_owned())]);
    app.caller.delete(&format!("{path}?version=x")).await.assert_problem(ErrorCode::InvalidMessage);
    assert_eq!(app.caller.delete(&format!("{path}?version=2")).await.status, 204);
}

#[tokio::test]
async fn a_request_whose_answer_was_lost_can_be_repeated() {
    let app = app().await;
    let mut body = reviewer();
    body["id"] = json!("my-own-id");
    let made = app.caller.post_json("/api/agents", &body).await;
    assert_eq!((made.status, &made.json()["id"]), (201, &json!("my-own-id")));
    let again = app.caller.post_json("/api/agents", &body).await;
    assert_eq!((again.status, again.json()), (200, made.json()));
    body["description"] = json!("Another one.");
    app.caller.post_json("/api/agents", &body).await.assert_problem(ErrorCode::AgentChanged);
    let change = json!({ "version": 1, "description": "Another one." });
    let changed = app.caller.patch_json("/api/agents/my-own-id", &change).await.json();
    let again = app.caller.patch_json("/api/agents/my-own-id", &change).await;
    assert_eq!((again.status, again.json()), (200, changed.clone()));
    // What a client got it may send back as it is.
    let same = app.caller.put_json("/api/agents/my-own-id", &changed).await;
    assert_eq!((same.status, same.json()), (200, changed));
    body["id"] = json!("a\nb");
    app.caller.post_json("/api/agents", &body).await.assert_problem(ErrorCode::InvalidId);
}

#[tokio::test]
async fn everything_that_is_wrong_is_told_at_once_and_nothing_is_stored() {
    let app = app().await;
    let body = json!({
        "name": "two words", "systemPrompt": "{{ weather }}", "toolKeys": ["time-now", "fly", 7], "maxSteps": "many",
        "maxDepth": 99, "colour": "red", "groups": ["nonsense"], "model": { "provider": "nobody", "modelId": "m" },
    });
    let refused = app.caller.post_json("/api/agents", &body).await;
    refused.assert_problem(ErrorCode::InvalidAgent);
    let found = paths(&refused);
    for (path, code) in [
        ("colour", "unknown_field"),
        ("toolKeys[2]", "wrong_type"),
        ("maxSteps", "wrong_type"),
        ("name", "bad_name"),
        ("systemPrompt", "unknown_variable"),
        ("model", "unknown_model"),
        ("groups[0]", "unknown_group"),
        ("maxDepth", "out_of_range"),
    ] {
        assert!(found.contains(&(path.to_owned(), code.to_owned())), "{path}: {found:?}");
    }
    assert_eq!(found.len(), 8, "{found:?}");
    assert!(refused.json()["detail"].as_str().unwrap().ends_with("There are 7 more problems."));
    let checked = app.caller.post_json("/api/agents?check=true", &body).await;
    assert_eq!((checked.status, paths(&checked)), (200, found));
    let fine = app.caller.post_json("/api/agents?check=true", &reviewer()).await.json();
    assert_eq!(fine, json!({ "problems": [], "warnings": [] }));
    let list = app.get("/api/agents").await.json();
    assert!(list["agents"].as_array().unwrap().iter().all(|agent| agent["source"] == "system"));
    let large = json!({ "name": "a", "systemPrompt": "x".repeat(300_000) });
    app.caller.post_json("/api/agents", &large).await.assert_problem(ErrorCode::BodyTooLarge);
    app.caller.post_json("/api/agents", &json!([])).await.assert_problem(ErrorCode::InvalidMessage);
}

#[tokio::test]
async fn rule_7_2_a_name_is_unique_in_its_workspace_and_unseen_in_others() {
    let app = TestApp::builder().with_auth().script(Scripted::new([])).start().await;
    let other = app.caller_of("other").await;
    let made = app.caller.post_json("/api/agents", &reviewer()).await.json();
    let taken = app.caller.post_json("/api/agents", &reviewer()).await;
    assert_eq!(paths(&taken), [("name".to_owned(), "name_taken".to_owned())]);
    let path = format!("/api/agents/{}", made["id"].as_str().unwrap());
    for answer in [
        other.get(&path).await,
        other.get("/api/agents/reviewer").await,
        other.patch_json(&path, &json!({ "version": 1, "description": "x" })).await,
        other.delete(&path).await,
    ] {
        answer.assert_problem(ErrorCode::AgentNotFound);
    }
    let theirs = other.post_json("/api/agents", &reviewer()).await;
    assert_eq!((theirs.status, &theirs.json()["workspaceId"]), (201, &json!("other")));
    app.stranger().get("/api/agents").await.assert_problem(ErrorCode::Unauthorized);
    let raced = json!({ "name": "raced", "systemPrompt": "p" });
    let many = futures::future::join_all((0..8).map(|_| app.caller.post_json("/api/agents", &raced))).await;
    assert_eq!(many.iter().filter(|answer| answer.status == 201).count(), 1, "of many one wins");
    assert!(many.iter().all(|answer| answer.status == 201 || answer.status == 422), "{many:?}");
}

#[tokio::test]
async fn what_comes_with_the_program_cannot_be_changed_here() {
    let app = app().await;
    let body = json!({ "version": 1, "description": "x" });
    app.caller.patch_json("/api/agents/general", &body).await.assert_problem(ErrorCode::AgentReadOnly);
    app.caller.delete("/api/agents/research").await.assert_problem(ErrorCode::AgentReadOnly);
    app.caller.delete("/api/agents/nobody").await.assert_problem(ErrorCode::AgentNotFound);
    app.caller
        .request("POST", "/api/agents/general", &[], "")
        .await
        .assert_problem(ErrorCode::MethodNotAllowed);
}

#[tokio::test]
async fn definitions_are_there_after_a_restart() {
    let app = app().await;
    let made = app.caller.post_json("/api/agents", &reviewer()).await.json();
    let app = app.restart([says("Reviewed.")]).await;
    assert_eq!(app.get("/api/agents/reviewer").await.json(), made);
    let mut turn = app.main.send_with("look", json!({ "agentId": "reviewer", "pageId": "editor" })).await;
    assert_eq!(turn.text().await, "Reviewed.");
}

#[tokio::test]
async fn a_store_that_fails_is_told_and_the_request_can_be_sent_again() {
    for effect in [Effect::Fail, Effect::FailLate] {
        let faults = Faults::new();
        let script = Scripted::choosing(|_| says("Done."));
        let app = TestApp::builder().script(script).faults(&faults).start().await;
        let mut body = reviewer();
        body["id"] = json!("mine");
        body["pageIds"] = json!([]);
        faults.on(Method::AddDefinition, When::call(0), effect.clone());
        app.caller.post_json("/api/agents", &body).await.assert_problem(ErrorCode::StoreUnavailable);
        let again = app.caller.post_json("/api/agents", &body).await;
        assert!(again.status == 201 || again.status == 200, "{again:?}");
        let change = json!({ "version": 1, "description": "New." });
        faults.on(Method::ChangeDefinition, When::call(0), effect.clone());
        app.caller.patch_json("/api/agents/mine", &change).await.assert_problem(ErrorCode::StoreUnavailable);
        let changed = app.caller.patch_json("/api/agents/mine", &change).await.json();
        assert_eq!((&changed["version"], &changed["description"]), (&json!(2), &json!("New.")));
        // Stored, but not read again: the next request sees to it.
        faults.on(Method::Definitions, When::call(0), Effect::Fail);
        let change = json!({ "version": 2, "systemPrompt": "You are new." });
        app.caller.patch_json("/api/agents/mine", &change).await.assert_problem(ErrorCode::StoreUnavailable);
        assert_eq!(app.caller.patch_json("/api/agents/mine", &change).await.json()["version"], 3);
        app.main.send_with("hi", json!({ "agentId": "reviewer" })).await.end().await;
        assert!(app.model.requests()[0].system.starts_with("You are new."));
        faults.on(Method::RemoveDefinition, When::call(0), effect);
        app.caller.delete("/api/agents/mine").await.assert_problem(ErrorCode::StoreUnavailable);
        let gone = app.caller.delete("/api/agents/mine").await.status;
        assert!(gone == 204 || gone == 404, "{gone}");
        app.get("/api/agents/mine").await.assert_problem(ErrorCode::AgentNotFound);
    }
}
