//! Why the engine refuses: each error has a code and a sentence for the person.

use ::files::FileError;
use models::ChoiceError;
use protocol::{
    ErrorCode, FailureCode,
    wire::agents::{AgentInfo, FieldProblem},
};
use store::StoreError;

use crate::secrets::SecretError;

#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error("{0}")]
    InvalidMessage(String),
    #[error("{0}")]
    UnknownModel(String),
    #[error("{0}")]
    ModelNotReady(String),
    #[error("{0}")]
    UnsupportedAttachment(String),
    #[error("There is no such chat.")]
    SessionNotFound,
    #[error("There is no message {0} in this chat.")]
    MessageNotFound(protocol::MessageId),
    #[error("This approval was never asked for, or belongs to another chat.")]
    ApprovalNotFound,
    #[error(
        "This chat is still working on an answer. Stop it or wait, or send with whenBusy \"queue\" or \"interrupt\"."
    )]
    Busy,
    #[error(
        "A question waits for an answer in this chat, and it stays. Answer it first, then send the command again."
    )]
    Waiting,
    #[error("The chat could not be named: {0}.")]
    NoTitle(String),
    #[error("Too many messages are waiting in this chat; at most {0} can wait.")]
    QueueFull(usize),
    #[error(
        "A message with this id was sent before with other content. Use a new id, or edit it by naming it in messageId."
    )]
    IdConflict,
    #[error("This approval was answered before, otherwise.")]
    ApprovalSettled,
    #[error("The answer carries another input than the one that was asked about. Nothing was run.")]
    ApprovalAltered,
    #[error("{}", wrong(.0))]
    InvalidAnswer(Vec<FieldProblem>),
    #[error("A secret could not be stored or read: {0}. Nothing was answered; send it again.")]
    Secret(#[source] SecretError),
    #[error("{0}")]
    NothingToContinue(&'static str),
    #[error("This message was taken back, or the chat was stopped, before it began.")]
    QueueWithdrawn,
    #[error("There is no such file, or it belongs to another workspace.")]
    ArtifactNotFound,
    #[error("There is no such agent in this workspace.")]
    AgentNotFound,
    /// A main agent that was chosen for a session and does not exist.
    #[error("Invalid agent ID: {}", .0.chars().take(128).collect::<String>())]
    UnknownAgent(String),
    #[error("This session is at work. Abort what it is doing, then switch the agent.")]
    AgentBusy,
    #[error("{}", wrong(.0))]
    InvalidAgent(Vec<FieldProblem>),
    #[error(
        "The definition of \"{}\" was changed by someone else and has version {} now. Look at it, and send your change \
         with that version.", .0.fields.name, .0.version
    )]
    AgentChanged(Box<AgentInfo>),
    #[error(
        "The agent \"{0}\" comes with the program or from a file and cannot be changed here. Define an agent of your own instead; a \
         main agent of the same name takes its place."
    )]
    AgentReadOnly(String),
    #[error("The definition could not be stored. Send it again in a moment; it is not stored twice.")]
    AgentNotStored(#[source] StoreError),
    #[error("There is no such rule in this workspace or chat.")]
    RuleNotFound,
    #[error("{}", wrong(.0))]
    InvalidRule(Vec<FieldProblem>),
    #[error(
        "This rule comes with the program or from the settings of the server and cannot be revoked here. Rules of the \
         server are in its settings file."
    )]
    RuleReadOnly,
    #[error("There is no such sign-in, or it is not yours to revoke.")]
    SignInNotFound,
    #[error("There is no such token, or it is not yours to revoke.")]
    TokenNotFound,
    #[error(
        "The owner's token cannot be removed, or nobody could sign in any more. To replace it, run `concertino token \
         rotate` on the machine where the server runs."
    )]
    OwnerToken,
    #[error("{}", file_sentence(.0))]
    File(#[from] FileError),
    #[error("This chat did not change {0}, or the change was reverted.")]
    NoChange(String),
    #[error("The content of {0} before or after the change was removed because the limit was reached.")]
    ContentRemoved(String),
    #[error("There is no such command in this workspace, or it ended some time ago.")]
    JobNotFound,
    #[error("This command has ended, or does not read its input.")]
    JobEnded,
    #[error("The server is shutting down. Send again in a moment.")]
    ShuttingDown,
    #[error("{}", not_stored(.0))]
    Store(#[from] StoreError),
}

impl EngineError {
    /// `whose` is "workspace" or "chat".
    pub(crate) fn too_many_rules(most: usize, whose: &str) -> Self {
        Self::InvalidRule(vec![FieldProblem {
            path: String::new(),
            code: "too_many_rules".to_owned(),
            line: None,
            message: format!("This {whose} has {most} rules, which is the most it can have."),
            fix: "Revoke rules that you no longer need.".to_owned(),
        }])
    }

    /// Exhaustive on purpose: a new error does not compile until it has a code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidMessage(_) | Self::InvalidAnswer(_) => ErrorCode::InvalidMessage,
            Self::Secret(_) => ErrorCode::StoreUnavailable,
            Self::UnknownModel(_) => ErrorCode::UnknownModel,
            Self::ModelNotReady(_) => ErrorCode::ModelNotReady,
            Self::UnsupportedAttachment(_) => ErrorCode::UnsupportedAttachment,
            Self::SessionNotFound => ErrorCode::SessionNotFound,
            Self::MessageNotFound(_) => ErrorCode::MessageNotFound,
            Self::ApprovalNotFound => ErrorCode::ApprovalNotFound,
            Self::Busy | Self::Waiting => ErrorCode::SessionBusy,
            Self::NoTitle(_) => ErrorCode::ModelUnavailable,
            Self::QueueFull(_) => ErrorCode::TooManyRequests,
            Self::IdConflict => ErrorCode::IdConflict,
            Self::ApprovalSettled => ErrorCode::ApprovalSettled,
            Self::ApprovalAltered => ErrorCode::ApprovalAltered,
            Self::ArtifactNotFound => ErrorCode::ArtifactNotFound,
            Self::AgentNotFound | Self::UnknownAgent(_) => ErrorCode::AgentNotFound,
            Self::AgentBusy => ErrorCode::AgentBusy,
            Self::InvalidAgent(_) => ErrorCode::InvalidAgent,
            Self::AgentChanged(_) => ErrorCode::AgentChanged,
            Self::AgentReadOnly(_) => ErrorCode::AgentReadOnly,
            Self::RuleNotFound => ErrorCode::RuleNotFound,
            Self::InvalidRule(_) => ErrorCode::InvalidRule,
            Self::RuleReadOnly => ErrorCode::RuleReadOnly,
            Self::SignInNotFound | Self::TokenNotFound => ErrorCode::NotFound,
            Self::OwnerToken => ErrorCode::OwnerToken,
            Self::NothingToContinue(_) | Self::QueueWithdrawn => ErrorCode::NothingToContinue,
            Self::File(error) => file_code(error.code),
            Self::NoChange(_) => ErrorCode::NotFound,
            Self::ContentRemoved(_) => ErrorCode::ContentRemoved,
            Self::JobNotFound => ErrorCode::JobNotFound,
            Self::JobEnded => ErrorCode::JobEnded,
            Self::ShuttingDown => ErrorCode::ShuttingDown,
            Self::Store(error) | Self::AgentNotStored(error) => match error {
                StoreError::Conflict | StoreError::Unavailable(_) => ErrorCode::StoreUnavailable,
                StoreError::Corrupt(_) => ErrorCode::StoreDamaged,
            },
        }
    }
}

fn file_code(code: FailureCode) -> ErrorCode {
    match code {
        FailureCode::InvalidPath
        | FailureCode::InvalidArgument
        | FailureCode::ValidationFailed
        | FailureCode::UnsupportedMediaType => ErrorCode::InvalidPath,
        FailureCode::AccessDenied => ErrorCode::AccessDenied,
        FailureCode::NotFound => ErrorCode::FileNotFound,
        FailureCode::Conflict => ErrorCode::FileConflict,
        FailureCode::TooLarge => ErrorCode::FileTooLarge,
        FailureCode::NotConfigured => ErrorCode::FilesNotConfigured,
        FailureCode::UpstreamUnavailable
        | FailureCode::Timeout
        | FailureCode::Cancelled
        | FailureCode::ModelUnavailable
        | FailureCode::Internal => ErrorCode::Internal,
    }
}

/// The message of a file error as a sentence.
fn file_sentence(error: &FileError) -> String {
    // Many begin with the path.
    if error.message.starts_with('/') {
        return file_sentence(&FileError::new(error.code, format!("the path {}", error.message)));
    }
    let mut letters = error.message.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    let end = if error.message.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

fn not_stored(error: &StoreError) -> String {
    match error {
        StoreError::Corrupt(what) => format!(
            "The database is damaged ({what}). Restore a backup with \"concertino restore\"; what is not damaged can still \
             be used. \"concertino doctor\" lists what is."
        ),
        StoreError::Conflict | StoreError::Unavailable(_) => {
            "The chat could not be stored. Nothing was lost; send again in a moment.".to_owned()
        }
    }
}

/// The first problem, and how many more there are.
fn wrong(problems: &[FieldProblem]) -> String {
    let Some(first) = problems.first() else { return "It cannot be used.".to_owned() };
    let place = if first.path.is_empty() { String::new() } else { format!("{}: ", first.path) };
    let more = match problems.len() {
        1 => String::new(),
        2 => " There is one more problem.".to_owned(),
        count => format!(" There are {} more problems.", count - 1),
    };
    format!("{place}{}{more}", first.message)
}

impl From<ChoiceError> for EngineError {
    fn from(error: ChoiceError) -> Self {
        match error {
            ChoiceError::Unknown(text) => Self::UnknownModel(text),
            ChoiceError::NotReady(text) => Self::ModelNotReady(text),
        }
    }
}
