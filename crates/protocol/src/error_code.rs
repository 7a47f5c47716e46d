//! Every error that a client can receive: one stable code with its HTTP status.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $status:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum ErrorCode { $($(#[$doc])* $name,)* }

        impl ErrorCode {
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The spelling on the wire: lower snake case, never changed.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            pub const fn status(self) -> u16 {
                match self { $(Self::$name => $status,)* }
            }
        }
    };
}

codes! {
    /// The body is not JSON.
    InvalidJson = "invalid_json", 400;
    /// The body is JSON, but not in the form that the route accepts.
    InvalidMessage = "invalid_message", 400;
    /// An id of wrong shape or length.
    InvalidId = "invalid_id", 400;
    /// A user message without text or file.
    EmptyMessage = "empty_message", 400;
    /// The chosen model is unknown.
    UnknownModel = "unknown_model", 400;
    /// A path that no file of a workspace can have, or of another kind than the route needs.
    InvalidPath = "invalid_path", 400;
    Unauthorized = "unauthorized", 401;
    /// A Host or Origin that is not on the list.
    ForbiddenOrigin = "forbidden_origin", 403;
    /// A file that nobody may reach, such as one of the server's own.
    AccessDenied = "access_denied", 403;
    NotFound = "not_found", 404;
    FileNotFound = "file_not_found", 404;
    SessionNotFound = "session_not_found", 404;
    MessageNotFound = "message_not_found", 404;
    ApprovalNotFound = "approval_not_found", 404;
    ArtifactNotFound = "artifact_not_found", 404;
    AgentNotFound = "agent_not_found", 404;
    RuleNotFound = "rule_not_found", 404;
    JobNotFound = "job_not_found", 404;
    JobEnded = "job_ended", 409;
    /// The session is at work; abort it before its main agent is changed.
    AgentBusy = "agent_busy", 409;
    MethodNotAllowed = "method_not_allowed", 405;
    /// The body did not arrive in time.
    RequestTimeout = "request_timeout", 408;
    /// A run is active; stop it, wait, or set `whenBusy`.
    SessionBusy = "session_busy", 409;
    /// The same message id was sent before with other content.
    IdConflict = "id_conflict", 409;
    /// The approval already has another answer.
    ApprovalSettled = "approval_settled", 409;
    /// The input in the answer is not the one that the question was about.
    ApprovalAltered = "approval_altered", 409;
    /// The chosen model has no key or no address.
    ModelNotReady = "model_not_ready", 409;
    /// The named message is not waiting for anything.
    NothingToContinue = "nothing_to_continue", 409;
    /// Someone else changed the definition; the response holds the current one.
    AgentChanged = "agent_changed", 409;
    /// The agent comes with the program or from a file.
    AgentReadOnly = "agent_read_only", 409;
    /// The rule comes with the program or from the settings of the server.
    RuleReadOnly = "rule_read_only", 409;
    /// A file is not in the expected state any more.
    FileConflict = "file_conflict", 409;
    /// No work directory is configured, or it cannot be opened.
    FilesNotConfigured = "files_not_configured", 409;
    /// The owner's token can be rotated, not removed.
    OwnerToken = "owner_token", 409;
    /// The content of a file before or after a change is not kept any more.
    ContentRemoved = "content_removed", 410;
    BodyTooLarge = "body_too_large", 413;
    /// The file is too large to be shown; download it.
    FileTooLarge = "file_too_large", 413;
    /// The new message has more text or parts than allowed.
    MessageTooLarge = "message_too_large", 413;
    /// The requested range of a file does not exist.
    RangeNotSatisfiable = "range_not_satisfiable", 416;
    UnsupportedMediaType = "unsupported_media_type", 415;
    /// A file that the answering model cannot read.
    UnsupportedAttachment = "unsupported_attachment", 422;
    /// The definition of an agent is wrong; the response lists all problems.
    InvalidAgent = "invalid_agent", 422;
    /// The rule is wrong; the response lists all problems.
    InvalidRule = "invalid_rule", 422;
    TooManyRequests = "too_many_requests", 429;
    Internal = "internal", 500;
    /// The requested data is damaged in the database; other data can be used.
    StoreDamaged = "store_damaged", 500;
    /// The model's server refused, failed or went away.
    ModelUnavailable = "model_unavailable", 502;
    /// The model's server did not answer in time.
    UpstreamTimeout = "upstream_timeout", 504;
    /// The model's server is over its rate limit.
    UpstreamRateLimited = "upstream_rate_limited", 429;
    /// The server is shutting down; send again in a moment.
    ShuttingDown = "shutting_down", 503;
    StoreUnavailable = "store_unavailable", 503;
    /// Too many connections or large bodies at once; send again in a moment.
    ServerBusy = "server_busy", 503;
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wire_spelling_is_the_serde_spelling() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.as_str());
            assert!((400..600).contains(&code.status()));
        }
    }
}
