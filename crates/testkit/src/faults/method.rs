//! Every method of a store, by name.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Method {
    Session,
    SessionByKey,
    Sessions,
    NewestLeaf,
    DeleteSession,
    Message,
    Branch,
    BranchAfter,
    RunOfMessage,
    RunAnswering,
    RunAt,
    SessionsFrom,
    SessionCount,
    ActiveRuns,
    BeginRecovery,
    RecoveryAttempt,
    NoteRecovery,
    ForgetRecovery,
    NoteCleanEnd,
    FramesOfRuns,
    FrameOfChat,
    Interaction,
    InteractionsOfMessage,
    Queued,
    SessionsWithQueue,
    PutFile,
    BeginFile,
    FinishFile,
    OpenFile,
    SweepFiles,
    Artifact,
    Artifacts,
    FileChanges,
    LastRead,
    UnfinishedChanges,
    ContentsOfSession,
    ContentsInUse,
    UnusedContents,
    Rules,
    AddRule,
    RemoveRule,
    Append,
    ReadLog,
    IsStored,
    LatestData,
    Usage,
    Token,
    Tokens,
    AddToken,
    SetOwnerToken,
    RevokeToken,
    WasRevoked,
    SignIn,
    SignIns,
    AddSignIn,
    UseSignIn,
    RevokeSignIn,
    Revocations,
    Pinned,
    PinnedSessions,
    SearchSessions,
    PendingInteractions,
    BranchPoints,
    Definitions,
    WorkspacesWithDefinitions,
    Definition,
    AddDefinition,
    ChangeDefinition,
    RemoveDefinition,
}

impl Method {
    pub const ALL: [Self; 69] = [
        Self::Session,
        Self::SessionByKey,
        Self::Sessions,
        Self::NewestLeaf,
        Self::DeleteSession,
        Self::Message,
        Self::Branch,
        Self::BranchAfter,
        Self::RunOfMessage,
        Self::RunAnswering,
        Self::RunAt,
        Self::SessionsFrom,
        Self::SessionCount,
        Self::ActiveRuns,
        Self::BeginRecovery,
        Self::RecoveryAttempt,
        Self::NoteRecovery,
        Self::ForgetRecovery,
        Self::NoteCleanEnd,
        Self::FramesOfRuns,
        Self::FrameOfChat,
        Self::Interaction,
        Self::InteractionsOfMessage,
        Self::Queued,
        Self::SessionsWithQueue,
        Self::PutFile,
        Self::BeginFile,
        Self::FinishFile,
        Self::OpenFile,
        Self::SweepFiles,
        Self::Artifact,
        Self::Artifacts,
        Self::FileChanges,
        Self::LastRead,
        Self::UnfinishedChanges,
        Self::ContentsOfSession,
        Self::ContentsInUse,
        Self::UnusedContents,
        Self::Rules,
        Self::AddRule,
        Self::RemoveRule,
        Self::Append,
        Self::ReadLog,
        Self::IsStored,
        Self::LatestData,
        Self::Usage,
        Self::Token,
        Self::Tokens,
        Self::AddToken,
        Self::SetOwnerToken,
        Self::RevokeToken,
        Self::WasRevoked,
        Self::SignIn,
        Self::SignIns,
        Self::AddSignIn,
        Self::UseSignIn,
        Self::RevokeSignIn,
        Self::Revocations,
        Self::Pinned,
        Self::PinnedSessions,
        Self::SearchSessions,
        Self::PendingInteractions,
        Self::BranchPoints,
        Self::Definitions,
        Self::WorkspacesWithDefinitions,
        Self::Definition,
        Self::AddDefinition,
        Self::ChangeDefinition,
        Self::RemoveDefinition,
    ];

    /// Those that serving a chat calls; the rest belongs to other commands or to the start of the process.
    pub fn is_of_a_chat(self) -> bool {
        match self {
            Self::Session
            | Self::Sessions
            | Self::NewestLeaf
            | Self::DeleteSession
            | Self::Message
            | Self::Branch
            | Self::BranchAfter
            | Self::RunOfMessage
            | Self::RunAnswering
            | Self::FramesOfRuns
            | Self::Interaction
            | Self::InteractionsOfMessage
            | Self::Queued
            | Self::PutFile
            | Self::OpenFile
            | Self::Artifact
            | Self::Artifacts
            | Self::Append
            | Self::ReadLog
            | Self::IsStored
            | Self::LatestData
            | Self::Token => true,
            Self::SessionByKey
            | Self::RunAt
            | Self::SessionsFrom
            | Self::SessionCount
            | Self::BeginFile
            | Self::FinishFile
            | Self::FileChanges
            | Self::LastRead
            | Self::UnfinishedChanges
            | Self::ContentsOfSession
            | Self::ContentsInUse
            | Self::UnusedContents
            | Self::AddRule
            | Self::RemoveRule
            | Self::Rules
            | Self::ActiveRuns
            | Self::BeginRecovery
            | Self::RecoveryAttempt
            | Self::NoteRecovery
            | Self::ForgetRecovery
            | Self::NoteCleanEnd
            | Self::FrameOfChat
            | Self::SessionsWithQueue
            | Self::SweepFiles
            | Self::Usage
            | Self::Tokens
            | Self::AddToken
            | Self::SetOwnerToken
            | Self::RevokeToken
            | Self::WasRevoked
            | Self::SignIn
            | Self::SignIns
            | Self::AddSignIn
            | Self::UseSignIn
            | Self::RevokeSignIn
            | Self::Revocations
            | Self::Pinned
            | Self::PinnedSessions
            | Self::SearchSessions
            | Self::PendingInteractions
            | Self::BranchPoints
            | Self::Definitions
            | Self::WorkspacesWithDefinitions
            | Self::Definition
            | Self::AddDefinition
            | Self::ChangeDefinition
            | Self::RemoveDefinition => false,
        }
    }
}
