//! Tests that every backend must pass. A behaviour that only one backend has is a bug. A new backend adds one line per
//! list of cases.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

#[path = "conformance/access.rs"]
mod access;
#[path = "conformance/definitions.rs"]
mod definitions;
#[path = "conformance/derived.rs"]
mod derived;
#[path = "conformance/file_changes.rs"]
mod file_changes;
#[path = "conformance/log.rs"]
mod log;
#[path = "conformance/messages.rs"]
mod messages;
#[path = "conformance/planted.rs"]
mod planted;
#[path = "conformance/recovery.rs"]
mod recovery;
#[path = "conformance/rules.rs"]
mod rules;
#[path = "conformance/runs.rs"]
mod runs;
#[path = "conformance/script.rs"]
mod script;
#[path = "conformance/sessions.rs"]
mod sessions;
#[path = "conformance/usage.rs"]
mod usage;

use std::{io::Read, path::Path, sync::Arc};

use protocol::{MessageId, event::LogEntry};
use store::{Append, Durability, RecoveryStage, Row, SessionTarget, SqliteStore, Store};
use tempfile::TempDir;

/// The folder of a store. Opening it again finds what was stored.
struct StoreLocation {
    folder: TempDir,
    open: fn(&Path) -> Arc<dyn Store>,
}

impl StoreLocation {
    fn open(&self) -> Arc<dyn Store> {
        (self.open)(self.folder.path())
    }

    /// Another, empty location of the same backend.
    fn another(&self) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), open: self.open }
    }
}

mod all {
    pub use crate::{log::*, messages::*, planted::*, recovery::*, runs::*, sessions::*, usage::*};
}

macro_rules! conformance {
    ($backend:ident, $open:expr, $cases:ident; $($case:ident)*) => {
        mod $backend {
            $(
                #[tokio::test]
                async fn $case() {
                    let folder = tempfile::tempdir().unwrap();
                    crate::$cases::$case(&crate::StoreLocation { folder, open: $open }).await;
                }
            )*
        }
    };
}

fn sqlite_at(folder: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open_with(&folder.join("test.db"), Durability::Process).unwrap())
}

macro_rules! all_cases {
    ($backend:ident, $open:expr) => {
        conformance! { $backend, $open, all;
            the_log_is_read_from_every_cursor
            crashes_in_a_row_are_counted_for_the_runs_that_were_active
            a_run_that_was_not_being_recovered_is_not_blamed_for_a_crash
            a_queued_message_that_begins_is_counted_like_a_run
            a_read_is_bounded_and_never_empty_while_there_is_more
            numbers_in_a_hole_were_never_stored
            text_of_every_kind_survives
            a_user_message_makes_the_session_and_is_its_leaf
            a_planted_history_is_a_branch
            a_long_planted_history_is_a_branch_for_every_reader
            a_long_planted_history_is_whole_after_another_start
            a_message_may_follow_a_planted_one_that_nobody_has_read
            a_run_is_running_parked_running_and_ended
            the_answer_replaces_itself_when_the_run_goes_on
            usage_is_grouped_filtered_and_kept_apart_by_workspace
            facts_and_preface_are_kept_and_the_newest_preface_counts
            usage_is_added_up_and_notes_keep_the_newest
            an_approval_is_asked_and_answered_once
            a_second_answer_leaves_nothing_behind
            an_append_without_its_message_leaves_nothing_behind
            retries_and_edits_are_branches
            a_branch_is_read_from_its_leaf_with_a_limit
            a_branch_is_read_from_a_known_message_on
            message_ids_are_unique_in_a_session_only
            a_session_is_made_once
            sessions_come_in_pages_without_gap_or_repetition
            a_title_is_given_and_taken_away
            a_session_is_made_before_its_first_message_and_keeps_its_main_agent
            pins_and_pages_by_number
            a_deleted_session_leaves_nothing
            a_deleted_session_takes_no_append_and_its_key_is_not_used_again
            two_processes_may_begin_sessions_in_turn
            the_high_water_mark_is_the_last_one_that_was_set
            tokens_are_found_by_their_digest
            what_belongs_to_another_workspace_is_not_found
            many_tasks_append_at_once
            only_one_of_many_concurrent_creations_of_a_session_succeeds
            a_store_opened_again_has_everything
        }
    };
}

all_cases!(sqlite, crate::sqlite_at);

macro_rules! derived_cases {
    ($backend:ident, $open:expr) => {
        conformance! { $backend, $open, derived;
            messages_are_queued_in_order_until_they_leave
            files_are_listed_by_session_and_workspace_and_go_with_their_session
            files_that_nobody_refers_to_are_swept_at_the_next_start
            the_end_of_a_branch_is_where_the_newest_children_lead
            past_events_keep_their_times
            what_a_person_allowed_and_changed_is_kept_with_their_answer
        }
    };
}

derived_cases!(sqlite_derived, crate::sqlite_at);

macro_rules! file_change_cases {
    ($backend:ident, $open:expr) => {
        conformance! { $backend, $open, file_changes;
            change_sets_are_listed_with_the_run_that_they_belong_to
            a_session_knows_what_it_read_or_wrote_last
            contents_are_in_use_until_their_last_chat_is_deleted
        }
    };
}

file_change_cases!(sqlite_file_changes, crate::sqlite_at);

macro_rules! definition_cases {
    ($backend:ident, $open:expr) => {
        conformance! { $backend, $open, definitions;
            a_definition_is_kept_as_it_was_given_also_after_another_start
            an_id_and_a_name_are_given_once_in_a_workspace
            a_change_and_a_removal_need_the_present_version
            only_one_of_many_concurrent_changes_of_a_version_succeeds
        }
    };
}

definition_cases!(sqlite_definitions, crate::sqlite_at);

macro_rules! rule_cases {
    ($backend:ident, $open:expr) => {
        conformance! { $backend, $open, rules;
            rules_of_a_workspace_are_kept_until_they_are_removed
            a_workspace_has_a_bounded_number_of_rules
            what_is_allowed_for_the_workspace_is_a_rule_of_it_and_outlives_the_chat
            rules_of_a_session_are_added_replaced_and_revoked
            what_a_person_was_told_is_kept_with_the_question
        }
    };
}

rule_cases!(sqlite_rules, crate::sqlite_at);

macro_rules! access_cases {
    ($backend:ident, $open:expr) => {
        conformance! { $backend, $open, access;
            the_owner_has_one_token_and_one_that_was_replaced_never_comes_back
            a_sign_in_is_found_by_its_digest_until_it_ends
            sign_ins_end_with_their_token_and_every_end_is_counted
            a_token_has_a_bounded_number_of_sign_ins
        }
    };
}

access_cases!(sqlite_access, crate::sqlite_at);

#[tokio::test]
async fn sqlite_finds_its_file_sound_after_many_writes() {
    let folder = tempfile::tempdir().unwrap();
    let location = StoreLocation { folder, open: sqlite_at };
    sessions::many_tasks_append_at_once(&location).await;
    let store = SqliteStore::open(&location.folder.path().join("test.db")).unwrap();
    assert_eq!(store.integrity_check().await.unwrap(), "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_restarts_its_write_ahead_log_while_many_write_and_read() {
    const WRITERS: usize = 4;
    const AT_MOST: usize = 20_000;
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite_at(folder.path());
    let log = folder.path().join("test.db-wal");
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let (store, log) = (Arc::clone(&store), log.clone());
        writers.spawn(async move {
            let mut script = script::Script::new(&store, &format!("s{writer}"));
            let key = script.ask("u", None, "m").await;
            for _ in 0..AT_MOST {
                script.append(vec![script::delta("m", 0, &"x".repeat(60_000))]).await;
                store.session_by_key(key).await.unwrap();
                if restarts(&log) >= 3 {
                    return;
                }
            }
            panic!("{} restarts after {AT_MOST} appends", restarts(&log));
        });
    }
    while let Some(written) = writers.join_next().await {
        written.unwrap();
    }
}

/// How often the write-ahead log was restarted, according to its header.
fn restarts(log: &Path) -> u32 {
    let mut header = [0; 16];
    std::fs::File::open(log).unwrap().read_exact(&mut header).unwrap();
    u32::from_be_bytes(header[12..].try_into().unwrap())
}

#[tokio::test]
async fn sqlite_stores_a_write_whose_caller_stopped_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let store = sqlite_at(folder.path());
    let mut script = script::Script::new(&store, "s");
    let key = script.ask("u", None, "m").await;
    let polls = 3;
    for turn in 0..polls {
        // Polled this often and then dropped, in whichever state it is.
        let row = Row::Event(LogEntry {
            seq: script.last + 1 + turn,
            at: script::AT,
            event: script::opened(&format!("m{turn}")),
        });
        let target = SessionTarget::Known(key);
        let append =
            Append { target, at: script::AT, rows: vec![row], messages: Vec::new(), high_water: None };
        let mut append = store.append(Arc::new(append));
        for _ in 0..=turn {
            if poll_once(append.as_mut()).await {
                break;
            }
        }
        drop(append);
        // The queue is processed in order, so after this write the dropped one is stored.
        store.note_recovery(key, &MessageId::new("m"), RecoveryStage::Active).await.unwrap();
        assert!(
            store.is_stored(key, script.last + 1 + turn).await.unwrap(),
            "dropped after {turn} more polls"
        );
    }
}

/// Polls once; returns whether the future is done.
async fn poll_once<T>(mut future: std::pin::Pin<&mut (dyn Future<Output = T> + Send + '_)>) -> bool {
    std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}
