//! Access tokens, and the browsers that signed in with one.

use async_trait::async_trait;
use protocol::{PrincipalId, Timestamp, WorkspaceId};

use crate::StoreError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    pub id: i64,
    pub principal: PrincipalId,
    pub workspace: WorkspaceId,
    pub created_at: Timestamp,
    /// Whether this is the token in the data folder or in `CONCERTINO_TOKEN`.
    pub is_owner: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    pub sha256: [u8; 32],
    pub principal: PrincipalId,
    pub workspace: WorkspaceId,
    pub created_at: Timestamp,
}

/// The result of setting the owner's token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerToken {
    /// It is the owner's token now; this many earlier ones were revoked.
    Set { replaced: usize },
    /// Nothing was changed, because the token was revoked before.
    Revoked,
    /// Nothing was changed, because the token belongs to somebody else.
    Taken,
}

/// A browser that opened the sign-in link of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignInRecord {
    pub id: i64,
    /// The token that it signed in with; principal, workspace and owner are those of the token.
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
    /// Finds a token by its SHA-256, unless it was revoked.
    async fn token(&self, sha256: &[u8; 32]) -> Result<Option<TokenRecord>, StoreError>;

    /// Returns all tokens that are not revoked.
    async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError>;

    /// Adds a token. A conflict when it was ever added before, even if it was revoked since.
    async fn add_token(&self, token: NewToken) -> Result<TokenRecord, StoreError>;

    /// Makes this the owner's token and revokes the earlier ones.
    async fn set_owner_token(&self, sha256: &[u8; 32], at: Timestamp) -> Result<OwnerToken, StoreError>;

    /// Revokes a token with its sign-ins; returns `false` when there is no such token. A conflict for the owner's token,
    /// which can only be replaced.
    async fn revoke_token(&self, id: i64, at: Timestamp) -> Result<bool, StoreError>;

    /// Whether the token with this SHA-256 was revoked.
    async fn was_revoked(&self, sha256: &[u8; 32]) -> Result<bool, StoreError>;
}

#[async_trait]
pub trait SignIns {
    /// Finds a sign-in by its SHA-256, unless it has expired.
    async fn sign_in(&self, sha256: &[u8; 32], now: Timestamp) -> Result<Option<SignInRecord>, StoreError>;

    /// Returns all sign-ins that have not expired, the last used first.
    async fn sign_ins(&self, now: Timestamp) -> Result<Vec<SignInRecord>, StoreError>;

    /// Adds a sign-in; returns `false` when its token is revoked. Also removes expired sign-ins, and those of the same
    /// token beyond the [`MAX_SIGN_INS`] that were used last.
    async fn add_sign_in(&self, new: NewSignIn) -> Result<bool, StoreError>;

    /// Stores when a sign-in was used and when it expires. A revoked sign-in stays revoked.
    async fn use_sign_in(&self, id: i64, at: Timestamp, expires_at: Timestamp) -> Result<(), StoreError>;

    /// Revokes a sign-in; returns whether it existed.
    async fn revoke_sign_in(&self, id: i64) -> Result<bool, StoreError>;

    /// Returns a number that changes whenever any process revokes a token or a sign-in.
    async fn revocations(&self) -> Result<i64, StoreError>;
}

/// How many browsers may be signed in with one token.
pub const MAX_SIGN_INS: u32 = 100;
