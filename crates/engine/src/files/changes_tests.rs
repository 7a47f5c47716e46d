//! Change sets are folded into what became of each file, and refusals have the right reason.

use protocol::{ChangeId, FileChange, file_change::ChangeSet};

use super::*;

const A: &str = "/workspace/a";

fn state(content: &str) -> Option<FileState> {
    (!content.is_empty()).then(|| FileState {
        content: content.to_owned(),
        bytes: content.len() as u64,
        mode: 0o644,
    })
}

/// A change set of this run; `""` stands for a file that does not exist.
fn set(run: &str, tool: &str, files: &[(&str, &str, &str)]) -> ChangeRecord {
    let change = |(path, before, after): &(&str, &str, &str)| FileChange {
        path: (*path).to_owned(),
        before: state(before),
        after: state(after),
    };
    let set = ChangeSet {
        id: ChangeId::new("chg"),
        message_id: MessageId::new(run),
        tool_call_id: None,
        tool: tool.to_owned(),
        agent: Vec::new(),
        at: Timestamp(1),
        status: ChangeStatus::Applied,
        files: files.iter().map(change).collect(),
    };
    ChangeRecord { set, root: MessageId::new(run) }
}

fn edit(run: &str, before: &str, after: &str) -> ChangeRecord {
    set(run, "edit-file", &[(A, before, after)])
}

fn revert(run: &str, before: &str, after: &str) -> ChangeRecord {
    set(run, REVERT, &[(A, before, after)])
}

/// What became of the file in the chat: before, after, obstacle. `None` if it is as before.
fn chat(records: &[ChangeRecord]) -> Option<(Option<FileState>, Option<FileState>, Option<NotRevertible>)> {
    let net = Changes::of(records).net(Scope::Chat);
    assert!(net.len() <= 1, "{net:?}");
    net.into_iter().next().map(|net| (net.before, net.after, net.obstacle))
}

fn run(
    records: &[ChangeRecord],
    name: &str,
) -> Option<(Option<FileState>, Option<FileState>, Option<NotRevertible>)> {
    let id = MessageId::new(name);
    let net = Changes::of(records).net(Scope::Run(&id));
    net.into_iter().next().map(|net| (net.before, net.after, net.obstacle))
}

#[test]
fn the_net_change_is_from_the_first_state_to_the_last() {
    let records = [edit("r1", "", "1"), edit("r1", "1", "2"), edit("r2", "2", "3")];
    assert_eq!(chat(&records), Some((None, state("3"), None)));
    assert_eq!(run(&records, "r2"), Some((state("2"), state("3"), None)));
    assert_eq!(run(&records, "r1"), Some((None, state("2"), Some(NotRevertible::LaterRun))));
    assert_eq!(run(&records, "r3"), None);
    let changes = Changes::of(&records);
    assert_eq!(changes.runs().map(|(root, _)| root.as_str()).collect::<Vec<_>>(), ["r2", "r1"]);
}

#[test]
fn a_file_that_is_as_before_is_not_listed() {
    assert_eq!(chat(&[edit("r1", "", "1"), edit("r1", "1", "")]), None);
    let records = [edit("r1", "1", "2"), edit("r2", "2", "1")];
    assert_eq!(chat(&records), None);
    assert_eq!(run(&records, "r2"), Some((state("2"), state("1"), None)), "but the run changed it");
}

#[test]
fn failed_change_sets_do_not_count_and_unfinished_ones_are_in_the_way() {
    let mut failed = edit("r1", "1", "2");
    failed.set.status = ChangeStatus::Failed;
    assert_eq!(chat(std::slice::from_ref(&failed)), None);
    let mut applying = edit("r1", "2", "3");
    applying.set.status = ChangeStatus::Applying;
    let records = [edit("r1", "1", "2"), failed, applying];
    assert_eq!(chat(&records), Some((state("1"), state("2"), Some(NotRevertible::Unfinished))));
}

#[test]
fn a_change_of_somebody_else_in_between_is_in_the_way_of_the_chat_but_not_of_the_later_run() {
    let records = [edit("r1", "1", "2"), edit("r2", "x", "3")];
    assert_eq!(chat(&records), Some((state("1"), state("3"), Some(NotRevertible::ChangedBetween))));
    assert_eq!(run(&records, "r2"), Some((state("x"), state("3"), None)));
}

#[test]
fn a_reverted_run_is_gone_and_the_one_before_it_can_be_reverted() {
    let mut records = vec![edit("r1", "1", "2"), edit("r2", "2", "3"), revert("r2", "3", "2")];
    assert_eq!(run(&records, "r2"), None);
    assert_eq!(run(&records, "r1"), Some((state("1"), state("2"), None)));
    records.push(revert("r1", "2", "1"));
    assert_eq!((chat(&records), run(&records, "r1")), (None, None));
    let changes = Changes::of(&records);
    assert_eq!(changes.touched_files(Scope::Chat).collect::<Vec<_>>(), [A]);
    assert!(changes.touched(Scope::Run(&MessageId::new("r2")), A));
    records.push(edit("r3", "1", "4"));
    assert_eq!(chat(&records), Some((state("1"), state("4"), None)));
}

#[test]
fn a_revert_of_the_chat_takes_back_everything_also_where_a_state_occurs_twice() {
    let mut records = vec![edit("r1", "1", "2"), edit("r2", "2", "1"), edit("r3", "1", "2")];
    let oldest = Changes::of(&records).oldest_run(Scope::Chat).cloned();
    assert_eq!(oldest, Some(MessageId::new("r1")));
    let mut only_last = records.clone();
    only_last.push(revert("r3", "2", "1"));
    assert_eq!(run(&only_last, "r2"), Some((state("2"), state("1"), None)), "only the last run");
    records.push(revert("r1", "2", "1"));
    for name in ["r1", "r2", "r3"] {
        assert_eq!(run(&records, name), None, "{name}");
    }
}

#[test]
fn a_revert_that_fits_no_change_is_a_change_like_any_other() {
    let records = [edit("r1", "1", "2"), revert("r1", "2", "x")];
    assert_eq!(chat(&records), Some((state("1"), state("x"), None)));
}

#[test]
fn only_the_state_that_the_chat_left_is_reverted() {
    let file = |content| OnDisk::File(state(content).unwrap());
    let net = |before, after, obstacle| NetChange {
        path: A.to_owned(),
        before: state(before),
        after: state(after),
        obstacle,
    };
    let modified = net("1", "2", None);
    assert_eq!(modified.judge(&file("2"), true), Ok(()));
    assert_eq!(modified.judge(&file("2"), false), Err(NotRevertible::ContentRemoved));
    let unknown = Some(FileState { content: String::new(), bytes: 1, mode: 0o644 });
    let not_kept = NetChange { before: unknown.clone(), ..modified.clone() };
    assert_eq!(not_kept.judge(&file("2"), true), Err(NotRevertible::NotKept));
    let not_kept = NetChange { after: unknown, ..modified.clone() };
    assert_eq!(not_kept.judge(&file("2"), true), Err(NotRevertible::NotKept));
    assert_eq!(modified.judge(&file("1"), true), Err(NotRevertible::ChangedSince));
    assert_eq!(modified.judge(&OnDisk::OtherFile, true), Err(NotRevertible::ChangedSince));
    assert_eq!(modified.judge(&OnDisk::Folder, true), Err(NotRevertible::ChangedSince));
    assert_eq!(modified.judge(&OnDisk::Nothing, true), Err(NotRevertible::DeletedSince));
    assert_eq!(modified.judge(&OnDisk::Unknown, true), Err(NotRevertible::NotReadable));
    let other_mode = OnDisk::File(FileState { mode: 0o755, ..state("2").unwrap() });
    assert_eq!(modified.judge(&other_mode, true), Err(NotRevertible::ChangedSince));
    let deleted = net("1", "", None);
    assert_eq!(deleted.judge(&OnDisk::Nothing, true), Ok(()));
    assert_eq!(deleted.judge(&OnDisk::OtherFile, true), Err(NotRevertible::ChangedSince));
    let later = net("1", "2", Some(NotRevertible::LaterRun));
    assert_eq!(later.judge(&file("2"), true), Err(NotRevertible::LaterRun));
    assert_eq!(
        [modified.kind(), deleted.kind(), net("", "1", None).kind()],
        [ChangeKind::Modified, ChangeKind::Deleted, ChangeKind::Created]
    );
}
