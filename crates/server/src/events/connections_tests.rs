//! Tickets and remembered replies at the end of their time.

use serde_json::json;

use super::*;

fn principal(name: &str) -> Principal {
    let mut principal = Principal::anyone();
    principal.id = PrincipalId::new(name);
    principal
}

#[test]
fn a_ticket_is_used_once_and_not_after_its_time() {
    let connections = Connections::new(ConnectionLimits::default());
    assert!(connections.add_ticket([1; 32], principal("one")));
    assert!(connections.add_ticket([2; 32], principal("two")));
    assert_eq!(connections.use_ticket(&[2; 32]).map(|found| found.id), Some(PrincipalId::new("two")));
    assert!(connections.use_ticket(&[2; 32]).is_none(), "used");
    assert!(connections.use_ticket(&[3; 32]).is_none(), "never made");
    for ticket in connections.inner.lock().tickets.values_mut() {
        ticket.until = Instant::now();
    }
    assert!(connections.use_ticket(&[1; 32]).is_none(), "expired");
}

#[test]
fn a_reply_is_remembered_for_its_own_caller() {
    let connections = Connections::new(ConnectionLimits::default());
    let (one, two) = (principal("one"), principal("two"));
    connections.remember(&one, "r".to_owned(), json!(1));
    assert_eq!(connections.reply(&one, "r"), Some(json!(1)));
    assert_eq!((connections.reply(&two, "r"), connections.reply(&one, "other")), (None, None));
}
