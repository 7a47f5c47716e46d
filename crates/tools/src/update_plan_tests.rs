//! The plan as the model, the person and a later request see it.

use std::sync::Arc;

use super::*;
use crate::{
    Family, erase,
    testing::{self, Recorder},
};

async fn call(session: &Arc<Recorder>, input: Value) -> Result<Value, String> {
    testing::call_in(testing::ctx(session), erase(UpdatePlan, Family::Host), input).await
}

fn step(step: &str, status: &str) -> Value {
    json!({ "step": step, "status": status })
}

/// A session that an earlier request left with a plan of two steps.
fn with_plan() -> Arc<Recorder> {
    let session = Arc::<Recorder>::default();
    session.keep(
        "plan",
        json!({ "steps": [step("read", "in_progress"), step("write", "pending")], "updatedAt": "" }),
    );
    session
}

#[tokio::test]
async fn a_full_plan_is_kept_and_returned() {
    let session = Arc::default();
    let plan = json!([step("read", "in_progress"), step("write", "pending")]);
    let input = json!({ "actionName": "plan", "explanation": "two steps", "plan": plan });
    assert_eq!(call(&session, input).await, Ok(json!({ "ok": true, "plan": plan })));
    assert_eq!(
        session.all(),
        [json!({
            "data": "plan",
            "id": "plan",
            "value": { "explanation": "two steps", "steps": plan, "updatedAt": "2026-03-01T12:15:07.089Z" },
        })]
    );
}

#[tokio::test]
async fn a_patch_in_a_later_request_finds_the_plan() {
    let session = with_plan();
    let patch = json!({
        "mode": "patch",
        "plan": [
            { "index": 1, "status": "completed" },
            { "index": 2, "status": "in_progress", "step": "write it down" },
        ],
    });
    let plan = json!([step("read", "completed"), step("write it down", "in_progress")]);
    for _ in ["once", "and again: the same call leaves the same plan"] {
        assert_eq!(call(&session, patch.clone()).await, Ok(json!({ "ok": true, "plan": plan })));
    }
    assert_eq!(session.all()[1]["value"], json!({ "steps": plan, "updatedAt": "2026-03-01T12:15:07.089Z" }));
}

#[tokio::test]
async fn a_patch_without_a_base_is_an_honest_error() {
    let patch = json!({ "mode": "patch", "plan": [{ "index": 1, "status": "completed" }] });
    let planted = Arc::<Recorder>::default();
    planted.keep("plan", json!("not a plan"));
    for session in [Arc::default(), planted] {
        let error = call(&session, patch.clone()).await.unwrap_err();
        assert_eq!(error, "there is no plan yet that could be patched; write one with mode `full`");
        assert!(session.all().is_empty());
    }
}

#[tokio::test]
async fn a_patch_that_does_not_fit_tells_the_current_plan() {
    let current = "the current plan is: 1. read (in_progress); 2. write (pending)";
    for (changes, reason) in [
        (
            json!([{ "index": 3, "status": "completed" }]),
            "field `plan[0].index`: there is no step 3, the steps are counted from 1 to 2",
        ),
        (json!([{ "status": "completed" }]), "field `plan[0].index`: is required in mode `patch`"),
        (
            json!([{ "index": 1, "status": "completed" }, { "index": 1, "status": "pending" }]),
            "field `plan[1].index`: step 1 is changed twice in one call",
        ),
    ] {
        let session = with_plan();
        let error = call(&session, json!({ "mode": "patch", "plan": changes })).await.unwrap_err();
        assert_eq!(error, format!("{reason}; {current}"));
        assert!(session.all().is_empty());
    }
}

#[tokio::test]
async fn only_one_step_is_in_progress() {
    let session = with_plan();
    let two = json!({ "mode": "patch", "plan": [{ "index": 2, "status": "in_progress" }] });
    let error = call(&session, two).await.unwrap_err();
    assert!(
        error.starts_with(
            "at most one step may be `in_progress`, but steps 1, 2 would be; nothing was changed"
        )
    );
    let full = json!({ "plan": [step("a", "in_progress"), step("b", "in_progress")] });
    assert!(call(&session, full).await.is_err());
    assert!(session.all().is_empty());
}

#[tokio::test]
async fn wrong_entries_are_named() {
    let session = Arc::default();
    for (plan, expected) in [
        (json!([]), "field `plan`: expected at least 1 entries, got 0"),
        (json!(vec![step("s", "pending"); 51]), "field `plan`: expected at most 50 entries, got 51"),
        (
            json!([step("a", "pending"), step("b", "pending"), step("c", "done")]),
            "field `plan[2].status`: expected one of `pending`, `in_progress`, `completed`, got \"done\"",
        ),
        (json!([{ "index": 0, "status": "pending" }]), "field `plan[0].index`: expected at least 1, got 0"),
        (
            json!([step(" ", "pending")]),
            "field `plan[0].step`: is required in mode `full`; to change the status of a step of the current plan use mode `patch`",
        ),
    ] {
        assert_eq!(call(&session, json!({ "plan": plan })).await.unwrap_err(), expected);
    }
    assert_eq!(call(&session, json!({})).await.unwrap_err(), "field `plan`: is required and missing");
}

#[test]
fn its_schema_is_stable() {
    let tool = erase(UpdatePlan, Family::Host);
    insta::assert_snapshot!(serde_json::to_string_pretty(&tool.spec().input_schema).unwrap(), @r#"
    {
      "type": "object",
      "properties": {
        "actionName": {
          "type": "string",
          "description": "A short purpose of this call, shown to the person."
        },
        "mode": {
          "type": "string",
          "enum": [
            "full",
            "patch"
          ],
          "description": "`full` replaces the whole plan, every entry with its `step`; `patch` changes single steps of the current plan by their `index`. Default: `full`."
        },
        "explanation": {
          "type": "string",
          "description": "Why the plan is as it is or what changed, in a sentence.",
          "maxLength": 2000
        },
        "plan": {
          "type": "array",
          "items": {
            "type": "object",
            "properties": {
              "step": {
                "description": "What is to be done, in a few words. Needed in mode `full`; in mode `patch` it rewords the step.",
                "type": "string",
                "maxLength": 500
              },
              "index": {
                "description": "Which step of the current plan, counted from 1. Needed in mode `patch`.",
                "type": "integer",
                "minimum": 1
              },
              "status": {
                "description": "How far the step is.",
                "type": "string",
                "enum": [
                  "pending",
                  "in_progress",
                  "completed"
                ]
              }
            },
            "required": [
              "status"
            ]
          },
          "description": "The steps, or the changes to steps.",
          "minItems": 1,
          "maxItems": 50
        }
      },
      "required": [
        "actionName",
        "plan"
      ]
    }
    "#);
}
