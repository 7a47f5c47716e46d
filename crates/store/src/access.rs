//! Who may call: tokens, and the browsers that signed in with one.

use async_trait::async_trait;
use protocol::{PrincipalId, Timestamp, WorkspaceId};

use crate::StoreError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    pub id: i64,
    pub principal: PrincipalId,
    pub workspace: WorkspaceId,
    pub created_at: Timestamp,
    /// The one of the data folder or of `CONCERTINO_TOKEN`.
    pub is_owner: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    pub sha256: [u8; 32],
    pub principal: PrincipalId,
    pub workspace: WorkspaceId,
    pub created_at: Timestamp,
}

/// What came of setting the owner's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerToken {
    /// It is the owner's; so many others were revoked for it.
    Set { replaced: usize },
    /// It was revoked before: nothing was changed.
    Revoked,
    /// It was given to somebody else: nothing was changed.
    Taken,
}

/// A browser that opened the sign-in link of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInRecord {
    pub id: i64,
    /// The token it came from, and whose that is.
    pub token: i64,
    pub principal: PrincipalId,
    pub workspace: WorkspaceId,
    pub is_owner: bool,
    pub created_at: Timestamp,
    pub last_used_at: Timestamp,
    pub expires_at: Timestamp,
    pub user_agent: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSignIn {
    pub sha256: [u8; 32],
    pub token: i64,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub user_agent: String,
}

#[async_trait]
pub trait Tokens {
    /// The token whose SHA-256 this is, unless it was revoked.
    async fn token(&self, sha256: &[u8; 32]) -> Result<Option<TokenRecord>, StoreError>;

    /// Those that are not revoked.
    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError>;

    /// A conflict when it was ever added before, also if it was revoked since.
    async fn add_token(&self, token: NewToken) -> Result<TokenRecord, StoreError>;

    /// Makes this the owner's token and revokes the ones before it.
    async fn set_owner_token(&self, sha256: &[u8; 32], at: Timestamp) -> Result<OwnerToken, StoreError>;

    /// Revokes a token with its sign-ins; `false` when there is none. A conflict for the owner's, which can only be
    /// replaced.
    async fn revoke_token(&self, id: i64, at: Timestamp) -> Result<bool, StoreError>;

    async fn was_revoked(&self, sha256: &[u8; 32]) -> Result<bool, StoreError>;
}

#[async_trait]
pub trait SignIns {
    /// The sign-in whose SHA-256 this is, unless it has expired.
    async fn sign_in(&self, sha256: &[u8; 32], now: Timestamp) -> Result<Option<SignInRecord>, StoreError>;

    /// Those that have not expired, the last used first.
    async fn sign_ins(&self, now: Timestamp) -> Result<Vec<SignInRecord>, StoreError>;

    /// `false` when the token is revoked. Removes what has expired, and of this token all but the
    /// [`MOST_SIGN_INS`] that were used last.
    async fn add_sign_in(&self, new: NewSignIn) -> Result<bool, StoreError>;

    /// Notes a use. One that was revoked stays revoked.
    async fn use_sign_in(&self, id: i64, at: Timestamp, expires_at: Timestamp) -> Result<(), StoreError>;

    /// Whether there was such a sign-in.
    async fn revoke_sign_in(&self, id: i64) -> Result<bool, StoreError>;

    /// A number that changes whenever a token or a sign-in ends, by whichever process.
    async fn revocations(&self) -> Result<i64, StoreError>;
}

/// How many browsers may be signed in with one token.
pub const MOST_SIGN_INS: u32 = 100;
