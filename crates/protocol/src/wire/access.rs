//! Responses of the routes for tokens and sign-ins. They never contain a secret.

use serde::{Deserialize, Serialize};

use crate::{
    id::{PrincipalId, WorkspaceId},
    source::Timestamp,
};

/// A browser that is signed in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignInInfo {
    pub id: i64,
    /// The token whose link was opened.
    pub token: i64,
    /// The holder of that token.
    pub principal: PrincipalId,
    pub workspace: WorkspaceId,
    pub created_at: Timestamp,
    /// To the minute.
    pub last_used_at: Timestamp,
    /// When it expires if it is not used again.
    pub expires_at: Timestamp,
    /// The browser's `User-Agent`; empty when it sent none.
    pub user_agent: String,
    /// Whether it is the caller's own.
    pub current: bool,
}

/// The sign-ins that the caller may revoke, last used first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignInList {
    pub sign_ins: Vec<SignInInfo>,
}

/// A token, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TokenInfo {
    pub id: i64,
    /// The holder of the token.
    pub principal: PrincipalId,
    pub workspace: WorkspaceId,
    pub created_at: Timestamp,
    /// The owner's: it can be rotated, not removed.
    pub owner: bool,
    /// Whether the caller uses it or signed in with it.
    pub current: bool,
    /// How many browsers are signed in with it.
    pub sign_ins: usize,
}

/// The tokens that the caller may revoke, and the owner's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenList {
    pub tokens: Vec<TokenInfo>,
}
