//! Who calls: by a token, or by the sign-in of a browser. Who may see and revoke which of them: everybody their own
//! token and its sign-ins, the owner all of their workspace.

mod streams;

use protocol::{
    PrincipalId, Timestamp, WorkspaceId,
    wire::access::{SignInInfo, SignInList, TokenInfo, TokenList},
};
use store::{NewSignIn, SignInRecord, StoreError, TokenRecord};

pub use streams::OpenStream;
pub(crate) use streams::OpenStreams;

use crate::{Engine, EngineError};

/// A sign-in that is not used ends after so long.
const UNUSED_FOR: i64 = 90 * 24 * 60 * 60 * 1000;
/// How exactly the last use is noted.
const NOTED_EVERY: i64 = 60 * 1000;

/// Who asks, and for which workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub id: PrincipalId,
    pub workspace: WorkspaceId,
    pub credential: Credential,
    /// Came with the owner's token, or signed in with it.
    pub is_owner: bool,
    /// How far revocations had been looked at when the credential was found valid.
    seen: i64,
}

/// What a caller showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// Nothing: authentication is off.
    None,
    Token(i64),
    SignIn {
        id: i64,
        token: i64,
    },
}

impl Credential {
    fn token(self) -> Option<i64> {
        match self {
            Self::None => None,
            Self::Token(token) | Self::SignIn { token, .. } => Some(token),
        }
    }

    fn sign_in(self) -> Option<i64> {
        match self {
            Self::None | Self::Token(_) => None,
            Self::SignIn { id, .. } => Some(id),
        }
    }
}

impl Principal {
    /// Everybody, while authentication is off.
    pub fn anyone() -> Self {
        Self {
            id: PrincipalId::new("anyone"),
            workspace: WorkspaceId::default_workspace(),
            credential: Credential::None,
            is_owner: false,
            seen: 0,
        }
    }

    /// Whether this is a token, or the sign-ins of one, that the caller may see and revoke.
    fn reaches(&self, token: i64, workspace: &WorkspaceId) -> bool {
        self.credential.token() == Some(token) || (self.is_owner && self.workspace == *workspace)
    }
}

impl Engine {
    /// Whose token this is, by its SHA-256.
    pub async fn principal(&self, sha256: &[u8; 32]) -> Result<Option<Principal>, EngineError> {
        let seen = self.open_streams.seen();
        let token = self.services.store.token(sha256).await?;
        Ok(token.map(|token| Principal {
            id: token.principal,
            workspace: token.workspace,
            credential: Credential::Token(token.id),
            is_owner: token.is_owner,
            seen,
        }))
    }

    /// Whose sign-in this is, by its SHA-256. Notes the use, without having the caller wait for it.
    pub async fn signed_in(&self, sha256: &[u8; 32]) -> Result<Option<Principal>, EngineError> {
        let seen = self.open_streams.seen();
        let now = self.services.clock.now();
        let Some(found) = self.services.store.sign_in(sha256, now).await? else { return Ok(None) };
        if now.0.saturating_sub(found.last_used_at.0) >= NOTED_EVERY {
            let store = std::sync::Arc::clone(&self.services.store);
            self.services.tasks.tracker.spawn(async move {
                if let Err(error) = store.use_sign_in(found.id, now, unused_until(now)).await {
                    tracing::debug!(%error, "the use of a sign-in was not noted");
                }
            });
        }
        Ok(Some(Principal {
            id: found.principal,
            workspace: found.workspace,
            credential: Credential::SignIn { id: found.id, token: found.token },
            is_owner: found.is_owner,
            seen,
        }))
    }

    /// A new secret for a browser; `None` when the system gives no random numbers.
    pub fn secret(&self) -> Option<String> {
        self.services.ids.secret()
    }

    /// Signs a browser in that came with a token; `false` when the token was revoked meanwhile.
    pub async fn sign_in(
        &self,
        principal: &Principal,
        sha256: [u8; 32],
        user_agent: String,
    ) -> Result<bool, EngineError> {
        let Some(token) = principal.credential.token() else { return Ok(false) };
        let now = self.services.clock.now();
        let new = NewSignIn { sha256, token, created_at: now, expires_at: unused_until(now), user_agent };
        Ok(self.services.store.add_sign_in(new).await?)
    }

    /// The sign-ins that the caller may revoke.
    pub async fn sign_ins(&self, caller: &Principal) -> Result<SignInList, EngineError> {
        let mut sign_ins = self.services.store.sign_ins(self.services.clock.now()).await?;
        sign_ins.retain(|sign_in| caller.reaches(sign_in.token, &sign_in.workspace));
        let current = caller.credential.sign_in();
        Ok(SignInList {
            sign_ins: sign_ins.into_iter().map(|sign_in| sign_in_info(sign_in, current)).collect(),
        })
    }

    /// The tokens of the caller's reach.
    pub async fn tokens(&self, caller: &Principal) -> Result<TokenList, EngineError> {
        let mut tokens = self.services.store.tokens().await?;
        tokens.retain(|token| caller.reaches(token.id, &token.workspace));
        let sign_ins = self.services.store.sign_ins(self.services.clock.now()).await?;
        let current = caller.credential.token();
        Ok(TokenList {
            tokens: tokens.into_iter().map(|token| token_info(token, current, &sign_ins)).collect(),
        })
    }

    pub async fn revoke_sign_in(&self, caller: &Principal, id: i64) -> Result<(), EngineError> {
        let list = self.sign_ins(caller).await?;
        let known = list.sign_ins.iter().any(|sign_in| sign_in.id == id);
        if !known || !self.services.store.revoke_sign_in(id).await? {
            return Err(EngineError::SignInNotFound);
        }
        self.open_streams.check();
        Ok(())
    }

    /// Its sign-ins end with it.
    pub async fn revoke_token(&self, caller: &Principal, id: i64) -> Result<(), EngineError> {
        let list = self.tokens(caller).await?;
        let token = list.tokens.iter().find(|token| token.id == id).ok_or(EngineError::TokenNotFound)?;
        if token.owner {
            return Err(EngineError::OwnerToken);
        }
        match self.services.store.revoke_token(id, self.services.clock.now()).await {
            Ok(true) => {}
            Ok(false) => return Err(EngineError::TokenNotFound),
            Err(StoreError::Conflict) => return Err(EngineError::OwnerToken),
            Err(error) => return Err(error.into()),
        }
        self.open_streams.check();
        Ok(())
    }

    /// A stream of this caller is open, until what is returned is dropped.
    pub fn open_stream(&self, caller: &Principal) -> OpenStream {
        self.open_streams.add(caller.credential, caller.seen)
    }
}

/// A sign-in as lists show it; `current`: the caller's own.
pub fn sign_in_info(sign_in: SignInRecord, current: Option<i64>) -> SignInInfo {
    SignInInfo {
        id: sign_in.id,
        token: sign_in.token,
        principal: sign_in.principal,
        workspace: sign_in.workspace,
        created_at: sign_in.created_at,
        last_used_at: sign_in.last_used_at,
        expires_at: sign_in.expires_at,
        user_agent: sign_in.user_agent,
        current: current == Some(sign_in.id),
    }
}

/// A token as lists show it; `current`: the caller's own.
pub fn token_info(token: TokenRecord, current: Option<i64>, sign_ins: &[SignInRecord]) -> TokenInfo {
    TokenInfo {
        id: token.id,
        principal: token.principal,
        workspace: token.workspace,
        created_at: token.created_at,
        owner: token.is_owner,
        current: current == Some(token.id),
        sign_ins: sign_ins.iter().filter(|sign_in| sign_in.token == token.id).count(),
    }
}

fn unused_until(now: Timestamp) -> Timestamp {
    Timestamp(now.0.saturating_add(UNUSED_FOR))
}
