//! Cases about what the events of a run mean to the tables.

use protocol::{ApprovalId, RunEnd, SessionId, Timestamp, interaction::InteractionStatus};
use serde_json::json;
use store::{ActiveRun, RunStatus, SessionInteraction, StoreError};

use crate::{StoreLocation, script::*};

pub async fn a_user_message_makes_the_session_and_is_its_leaf(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.append(vec![accepted("u", 0, None)]).await;
    let found = store.session(&workspace(), &SessionId::new("s")).await.unwrap().unwrap();
    assert_eq!(found, record(&store, key).await);
    assert_eq!((found.key, found.workspace, found.id), (key, workspace(), SessionId::new("s")));
    assert_eq!((found.created_at, found.updated_at), (AT, AT));
    assert_eq!((found.message_count, found.active_leaf), (1, Some(first("u"))));
    assert_eq!((found.high_water, found.last_run), (1, None));
    let message = store.message(key, &id("u")).await.unwrap().unwrap();
    assert_eq!(
        (message.reference.clone(), message.parent.clone(), message.created_at),
        (first("u"), None, AT)
    );
    assert_eq!(message.message().unwrap(), user("u", "u in version 0"));
    assert_eq!(store.message(key, &id("other")).await.unwrap(), None);
    script.at = Timestamp(2_000);
    script.append(vec![accepted("v", 0, Some(first("u")))]).await;
    let later = record(&store, key).await;
    assert_eq!((later.created_at, later.updated_at, later.message_count), (AT, Timestamp(2_000), 2));
}

pub async fn a_run_is_running_parked_running_and_ended(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    let run = store.run_of_message(key, &id("m")).await.unwrap().unwrap();
    assert_eq!(
        (run.id.clone(), run.message.clone(), run.answers.clone()),
        (run_of("m"), id("m"), first("u"))
    );
    assert_eq!((run.status, run.first_seq, run.last_resume), (RunStatus::Running, 2, 0));
    assert_eq!(run.options.timezone.as_deref(), Some("Europe/Berlin"));
    assert_eq!(store.active_runs().await.unwrap(), [ActiveRun { session: key, run: run.clone() }]);
    assert_eq!(store.run_answering(key, &first("u")).await.unwrap(), Some(run));
    assert_eq!(store.run_of_message(key, &id("u")).await.unwrap(), None);
    assert_eq!(record(&store, key).await.last_run, last_run("m", RunStatus::Running));

    script.append_with(vec![parked("m")], vec![assistant("m", "may I?")]).await;
    assert_eq!(record(&store, key).await.last_run, last_run("m", RunStatus::Parked));
    assert_eq!(store.active_runs().await.unwrap(), []);

    script.append(vec![resumed("m")]).await;
    let run = store.run_of_message(key, &id("m")).await.unwrap().unwrap();
    assert_eq!((run.status, run.first_seq, run.last_resume), (RunStatus::Running, 2, script.last));

    for end in [RunEnd::Finished, RunEnd::Cancelled, RunEnd::Failed, RunEnd::Withdrawn] {
        let events = vec![closed("m"), ended("m", end)];
        script.append_with(events, vec![assistant("m", "done")]).await;
        assert_eq!(record(&store, key).await.last_run, last_run("m", RunStatus::Ended(end)));
        assert_eq!(store.active_runs().await.unwrap(), []);
    }
}

pub async fn the_answer_replaces_itself_when_the_run_goes_on(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    assert_eq!(store.message(key, &id("m")).await.unwrap(), None, "not before the run pauses or ends");
    assert_eq!(record(&store, key).await.active_leaf, Some(first("u")));
    script.append_with(vec![parked("m")], vec![assistant("m", "half")]).await;
    let half = store.message(key, &id("m")).await.unwrap().unwrap();
    assert_eq!((half.message().unwrap(), half.parent), (assistant("m", "half"), Some(first("u"))));
    script.append(vec![resumed("m")]).await;
    script.finish("m", "whole").await;
    let whole = store.message(key, &id("m")).await.unwrap().unwrap();
    assert_eq!(whole.message().unwrap(), assistant("m", "whole"));
    let session = record(&store, key).await;
    assert_eq!((session.message_count, session.active_leaf), (2, Some(first("m"))));
    assert_eq!(branch_ids(&store, key, &first("m")).await, ["u.0", "m.0"]);
}

pub async fn an_approval_is_asked_and_answered_once(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    script.append(vec![asked("m", "p1"), asked("m", "p2"), asked("m", "p3")]).await;
    let found = store.interaction(&workspace(), &ApprovalId::new("p1")).await.unwrap().unwrap();
    let SessionInteraction { session, interaction: question, .. } = found;
    assert_eq!(session, SessionId::new("s"));
    assert_eq!((question.run.clone(), question.message.clone()), (run_of("m"), id("m")));
    assert_eq!((question.tool.as_str(), &question.input), ("tool", &json!({ "b": 1, "a": [null, 2.5] })));
    assert_eq!(
        (question.status, question.asked_at, question.answered_at),
        (InteractionStatus::Pending, AT, None)
    );

    script.at = Timestamp(5_000);
    script.append(vec![answered("m", "p1", true, false)]).await;
    script.append(vec![answered("m", "p2", false, false)]).await;
    script.append(vec![answered("m", "p3", false, true)]).await;
    let all = store.interactions_of_message(key, &id("m")).await.unwrap();
    let states: Vec<_> = all.iter().map(|question| (question.id.as_str(), question.status)).collect();
    assert_eq!(
        states,
        [
            ("p1", InteractionStatus::Approved),
            ("p2", InteractionStatus::Denied),
            ("p3", InteractionStatus::Withdrawn)
        ]
    );
    assert_eq!(all[0].answered_at, Some(Timestamp(5_000)));
    assert_eq!(all[1].reason.as_deref(), Some("because"));
    for approved in [true, false] {
        is_conflict(script.try_append(vec![answered("m", "p1", approved, false)], vec![]).await);
    }
    assert_eq!(store.interactions_of_message(key, &id("m")).await.unwrap(), all);
    is_conflict(script.try_append(vec![answered("m", "never", true, false)], vec![]).await);
    is_conflict(script.try_append(vec![asked("m", "p1")], vec![]).await);
}

pub async fn a_second_answer_leaves_nothing_behind(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    script.append_with(vec![asked("m", "p"), parked("m")], vec![assistant("m", "?")]).await;
    script.append(vec![answered("m", "p", true, false)]).await;
    let before = record(&store, key).await;
    script.at = Timestamp(9_000);
    let late = vec![resumed("m"), answered("m", "p", false, false), delta("m", 0, "x")];
    is_conflict(script.try_append(late, vec![]).await);
    assert_eq!(record(&store, key).await, before);
    assert_eq!(store.read_log(key, script.last, usize::MAX).await.unwrap(), []);
    script.append(vec![resumed("m")]).await;
}

pub async fn an_append_without_its_message_leaves_nothing_behind(location: &StoreLocation) {
    let store = location.open();
    let mut script = Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    let before = record(&store, key).await;
    let failed = script.try_append(vec![closed("m"), ended("m", RunEnd::Finished)], vec![]).await;
    assert!(matches!(failed, Err(StoreError::Corrupt(_))), "{failed:?}");
    assert_eq!(record(&store, key).await, before);
    let mut orphan = Script::new(&store, "t");
    is_conflict(orphan.try_append(vec![accepted("v", 0, Some(first("nowhere")))], vec![]).await);
    assert_eq!(store.session(&workspace(), &SessionId::new("t")).await.unwrap(), None);
    script.finish("m", "done").await;
}
