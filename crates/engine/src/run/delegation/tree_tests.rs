//! Tests of what the agents of one run share: slots, activity, results of background agents.

use super::*;
use crate::{services::for_tests::TemporaryStore, session::rules::SessionRules};

fn tree(running: usize, queued: usize) -> Arc<AgentTree> {
    let (relayed, _) = mpsc::channel(1);
    let limits = SubAgentLimits { running, queued };
    let store = TemporaryStore::new();
    let rules = SessionRules::empty(&store.services().tools.rules);
    AgentTree::new(MessageId::new("main"), limits, Arc::new(rules), Hub::default(), relayed)
}

fn done() -> ToolOutcome {
    ToolOutcome::Done { output: serde_json::Value::Null }
}

#[test]
fn slots_are_taken_first_then_places_in_the_queue_and_a_full_queue_refuses_only_new_agents() {
    let tree = tree(1, 1);
    let slot = tree.queue(false);
    assert!(matches!(slot, Ok(Place::Slot(_))));
    let queued = tree.queue(false);
    assert!(matches!(queued, Ok(Place::Queued(_))));
    assert_eq!(tree.queue(false).err(), Some(1));
    assert!(matches!(tree.queue(true), Ok(Place::Queued(_))), "a resumed agent always finds a place");
    drop(queued);
    assert!(matches!(tree.queue(false), Ok(Place::Queued(_))), "a place that is given back is free");
    drop(slot);
    assert!(matches!(tree.queue(false), Ok(Place::Slot(_))));
}

#[test]
fn the_result_of_a_background_agent_keeps_the_run_active_only_while_its_caller_listens() {
    let tree = tree(1, 1);
    let (chat, main) = (|name: &str| SessionId::new(name), MessageId::new("main"));
    let caller = tree.activity.begin();
    tree.start_background(&main);
    tree.end_background(chat("a"), main.clone(), done(), Some(tree.activity.begin()));
    assert!(tree.take_ended("a").unwrap().activity.is_none(), "nobody listened");
    tree.start_background(&main);
    assert!(tree.has_background(&main));
    let listening = tree.listen(&main);
    tree.end_background(chat("b"), main.clone(), done(), Some(tree.activity.begin()));
    assert!(!tree.has_background(&main));
    drop(caller);
    assert!(tree.activity.begin_unless_parking().is_some(), "the result is on its way");
    drop(listening);
    assert!(tree.activity.begin_unless_parking().is_none(), "nobody waits for the result any more");
    assert!(tree.take_ended("b").is_some(), "the result itself is kept");
}

#[test]
fn unreported_results_are_taken_once_in_the_order_of_their_ids() {
    let tree = tree(1, 1);
    let (main, other) = (MessageId::new("main"), MessageId::new("other"));
    for (chat, parent) in [("c", &main), ("a", &main), ("b", &other)] {
        tree.end_background(SessionId::new(chat), parent.clone(), done(), None);
    }
    let chats = |ended: Vec<EndedAgent>| -> Vec<String> {
        ended.iter().map(|ended| ended.chat.to_string()).collect()
    };
    assert_eq!(chats(tree.take_unreported(&main)), ["a", "c"]);
    assert!(tree.take_unreported(&main).is_empty());
    assert_eq!(chats(tree.take_unreported(&other)), ["b"]);
}

#[test]
fn guards_of_ended_agents_can_be_taken_except_for_those_that_are_waited_for_by_name() {
    let tree = tree(1, 1);
    let main = MessageId::new("main");
    let _listening = tree.listen(&main);
    for chat in ["a", "b"] {
        tree.end_background(SessionId::new(chat), main.clone(), done(), Some(tree.activity.begin()));
    }
    assert_eq!(tree.take_activity(&main, &["a".to_owned()]).len(), 1);
    assert!(tree.take_ended("a").unwrap().activity.is_some());
    assert!(tree.take_ended("b").unwrap().activity.is_none());
}
