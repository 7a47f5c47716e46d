//! Tokens that are replaced and revoked, and the sign-ins of browsers.

use protocol::{PrincipalId, Timestamp, WorkspaceId};
use store::{NewSignIn, NewToken, OwnerToken, Store, StoreError, TokenRecord, access::MAX_SIGN_INS};

use crate::{StoreLocation, script::AT};

const LATER: Timestamp = Timestamp(AT.0 + 1_000);

async fn guest(store: &dyn Store, byte: u8) -> TokenRecord {
    let (principal, workspace) = (PrincipalId::new("guest"), WorkspaceId::default_workspace());
    store.add_token(NewToken { sha256: [byte; 32], principal, workspace, created_at: AT }).await.unwrap()
}

fn sign_in(byte: u8, token: i64) -> NewSignIn {
    NewSignIn { sha256: [byte; 32], token, created_at: AT, expires_at: LATER, user_agent: "b".to_owned() }
}

pub async fn the_owner_has_one_token_and_one_that_was_replaced_never_comes_back(location: &StoreLocation) {
    let store = location.open();
    let set = |byte: u8| {
        let store = location.open();
        async move { store.set_owner_token(&[byte; 32], AT).await.unwrap() }
    };
    assert_eq!(set(1).await, OwnerToken::Set { replaced: 0 });
    assert_eq!(set(1).await, OwnerToken::Set { replaced: 0 }, "another start");
    assert_eq!(set(2).await, OwnerToken::Set { replaced: 1 });
    let owner = store.token(&[2; 32]).await.unwrap().unwrap();
    assert!(owner.is_owner && owner.workspace == WorkspaceId::default_workspace());
    assert_eq!(store.token(&[1; 32]).await.unwrap(), None);
    assert!(store.was_revoked(&[1; 32]).await.unwrap() && !store.was_revoked(&[2; 32]).await.unwrap());
    assert_eq!(set(1).await, OwnerToken::Revoked);
    guest(&*store, 3).await;
    assert_eq!(set(3).await, OwnerToken::Taken);
    assert!(matches!(store.revoke_token(owner.id, AT).await, Err(StoreError::Conflict)));
    assert_eq!(store.token(&[2; 32]).await.unwrap(), Some(owner), "what is refused changes nothing");
}

pub async fn a_sign_in_is_found_by_its_digest_until_it_ends(location: &StoreLocation) {
    let store = location.open();
    let token = guest(&*store, 1).await;
    assert!(store.add_sign_in(sign_in(7, token.id)).await.unwrap());
    let found = store.sign_in(&[7; 32], AT).await.unwrap().unwrap();
    assert_eq!((found.token, &found.principal, found.is_owner), (token.id, &token.principal, false));
    assert_eq!((found.last_used_at, found.expires_at, found.user_agent.as_str()), (AT, LATER, "b"));
    assert_eq!(store.sign_in(&[8; 32], AT).await.unwrap(), None);
    assert_eq!(store.sign_in(&[7; 32], LATER).await.unwrap(), None, "expired");
    assert_eq!(store.sign_ins(LATER).await.unwrap(), []);
    store.use_sign_in(found.id, LATER, Timestamp(LATER.0 + 5)).await.unwrap();
    let used = location.open().sign_in(&[7; 32], LATER).await.unwrap().unwrap();
    assert_eq!((used.last_used_at, used.expires_at.0), (LATER, LATER.0 + 5));
    assert!(store.revoke_sign_in(found.id).await.unwrap() && !store.revoke_sign_in(found.id).await.unwrap());
    store.use_sign_in(found.id, LATER, Timestamp(i64::MAX)).await.unwrap();
    assert_eq!(store.sign_in(&[7; 32], AT).await.unwrap(), None, "a use that comes late brings nothing back");
    assert!(store.add_sign_in(sign_in(9, token.id)).await.unwrap());
    assert_ne!(store.sign_ins(AT).await.unwrap()[0].id, found.id, "no number is given twice");
}

pub async fn sign_ins_end_with_their_token_and_every_end_is_counted(location: &StoreLocation) {
    let store = location.open();
    let (one, two) = (guest(&*store, 1).await, guest(&*store, 2).await);
    for (byte, token) in [(11, one.id), (12, one.id), (21, two.id)] {
        assert!(store.add_sign_in(sign_in(byte, token)).await.unwrap());
    }
    let before = store.revocations().await.unwrap();
    // By another process.
    assert!(location.open().revoke_token(one.id, AT).await.unwrap());
    let after = store.revocations().await.unwrap();
    assert_ne!(before, after);
    let left = store.sign_ins(AT).await.unwrap();
    assert_eq!(left.iter().map(|sign_in| sign_in.token).collect::<Vec<_>>(), [two.id]);
    assert!(!store.add_sign_in(sign_in(13, one.id)).await.unwrap(), "the token is revoked");
    assert!(store.revoke_sign_in(left[0].id).await.unwrap());
    assert_ne!(store.revocations().await.unwrap(), after);
}

pub async fn a_token_has_a_bounded_number_of_sign_ins(location: &StoreLocation) {
    let store = location.open();
    let (one, two) = (guest(&*store, 1).await, guest(&*store, 2).await);
    assert!(store.add_sign_in(sign_in(255, two.id)).await.unwrap());
    for byte in 0..u8::try_from(MAX_SIGN_INS).unwrap() + 5 {
        assert!(store.add_sign_in(sign_in(byte, one.id)).await.unwrap());
    }
    let left = store.sign_ins(AT).await.unwrap();
    assert_eq!(left.len(), MAX_SIGN_INS as usize + 1);
    assert_eq!(store.sign_in(&[4; 32], AT).await.unwrap(), None);
    assert!(store.sign_in(&[5; 32], AT).await.unwrap().is_some());
    assert!(store.sign_in(&[255; 32], AT).await.unwrap().is_some());
}
