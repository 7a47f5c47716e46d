//! What a stream says when it ends because its token or its sign-in was revoked.

use engine::{OpenStream, Principal};

use crate::state::ServerState;

pub(crate) const REVOKED: &str = "This access was revoked, so the answer is no longer shown here. It goes on and is kept; sign in again to see it.";

/// The stream is followed until it ends or its caller is revoked.
pub(crate) fn watch(state: &ServerState, caller: &Principal) -> OpenStream {
    state.engine.open_stream(caller)
}
