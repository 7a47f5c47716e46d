// Made by `cargo xtask web` from crates/protocol. Change the Rust types instead.
// oxlint-disable

/** What the server says about itself. */
export interface About {
  version: string
  /** The model that answers when nobody chooses another. */
  model: string
}

/** What a definition would be answered with. */
export interface AgentCheck {
  /** It cannot be saved as it is. */
  problems: FieldProblem[]
  /** It can, but this is probably not meant. */
  warnings: FieldProblem[]
}

/** One thing that is wrong with what was sent. */
export interface FieldProblem {
  /** The field, as in `toolKeys[1]` or `model.provider`; empty for the whole. */
  path: string
  /** In lower snake case, as in `unknown_tool`. */
  code: string
  /** The line, where the field is a text of several. */
  line?: number
  /** What is wrong. */
  message: string
  /** What to do. */
  fix: string
}

/** All agents of a workspace, strongest first, and what definitions are written with. */
export interface AgentList {
  agents: AgentInfo[]
  groups: CapabilityGroup[]
  variables: PromptVariable[]
}

/** An agent as it is shown. */
export interface AgentInfo {
  /** Only what the database holds has an id and can be changed. */
  id?: AgentId
  source: AgentSource
  type: AgentType
  workspaceId?: WorkspaceId
  /** Unique in the workspace; what a delegation and `agentId` name. */
  name: string
  kind: AgentKind
  displayName: string
  /** What it is good for: callers choose by this text. */
  description: string
  enabled: boolean
  /** The role; a template over the variables that `GET /api/agents` lists. */
  systemPrompt: string
  /** The role for a task written in Chinese. */
  systemPromptZh?: string
  /** Another model than the run's. */
  model?: ModelChoice
  /** Models as `provider/model`, asked in this order when the first gives up. */
  fallback: string[]
  toolKeys: string[]
  /** Capability groups: names for sets of tools. */
  groups: string[]
  /** Groups of tools that the agent can put away and take out itself. */
  toolGroups: ToolGroup[]
  /** Whom it may delegate to; empty means nobody. */
  allowedSubAgents: string[]
  /** How deep delegation may go below it. */
  maxDepth: number
  /** Model calls it may make for one message or task. */
  maxSteps: number
  budget: BudgetLimits
  /** For a main agent: whether what one sub-agent found is handed to the others' next task. */
  autoBroadcast: boolean
  /** The modes it can be used in; empty means all. */
  modes: string[]
  /** The pages it can be used on; empty means all. */
  pageIds: string[]
  /** Other names it answers to. */
  aliases: string[]
  /** Counts the changes; a change names the version it is made from. */
  version: number
  createdAt?: Timestamp
  updatedAt?: Timestamp
  /** Whether it can be used now. */
  available: boolean
  /** Why not. */
  reason?: string
  /** The tools it has here: those it names, of those that exist and the workspace may use. */
  effectiveTools: string[]
  /** What does not stop it from working, but is probably not meant. */
  warnings?: FieldProblem[]
}

/** An agent that a workspace defined. */
export type AgentId = string

/** Where a definition comes from. */
export type AgentSource = 'system' | 'file' | 'database'

/** How an agent is made. */
export type AgentType = 'system' | 'test-approval' | 'dynamic' | 'default'

/** The scope a token belongs to. What belongs to another workspace does not exist. */
export type WorkspaceId = string

export type AgentKind = 'main' | 'sub'

/** Another model than the run's. */
export interface ModelChoice {
  provider: string
  modelId: string
  /** What the model is asked with: `temperature`, `topP`, `maxOutputTokens` and so on. */
  params?: Record<string, unknown>
}

/** Tools that are equipped together. */
export interface ToolGroup {
  name: string
  description: string
  tools: string[]
  /** Whether the agent begins with it. */
  active: boolean
}

/** What an agent and everything below it may use up. Absent means: only what its caller has left. */
export interface BudgetLimits {
  /** Model calls of the agent and all agents below it. */
  steps?: number
  tokens?: number
  /** Millionths of a US dollar. */
  microUsd?: number
  wallTimeMs?: number
}

/** Milliseconds since 1970, UTC. */
export type Timestamp = number

/** A name for a set of tools. */
export interface CapabilityGroup {
  name: string
  tools: string[]
  /** Whether all its tools exist and the workspace may use them. */
  available: boolean
}

/** What a prompt may refer to, as in `{{ project }}`. */
export interface PromptVariable {
  name: string
  about: string
}

export interface AgentRef {
  kind: AgentKind
  name: string
  displayName: string
  depth: number
  /** The agents from the root to this one. */
  path: string[]
}

/** An answer to a question. */
export interface ApprovalAnswer {
  approved: boolean
  reason?: string
  /** Allow every such call of the session; only where the question offers it. */
  always: boolean
  /** What is to run instead of the input that was asked about. */
  input?: unknown
}

export interface ApprovalList {
  approvals: WaitingApproval[]
}

/** A question nobody has answered yet, with where it was asked. */
export interface WaitingApproval {
  chatId: SessionId
  title: string | null
  approval: Interaction
  /** Absent when the tool does not ask any more. */
  question?: Question
}

/** A stored conversation; the client chose the id. A sub-agent's own chat has one of ours. */
export type SessionId = string

/** One row of the ledger. The input that will run is this one, never the client's copy. */
export interface Interaction {
  id: ApprovalId
  run: RunId
  message: MessageId
  toolCall: ToolCallId
  tool: string
  input: unknown
  /** What a person made of the input; this is what ran. */
  edited?: unknown
  status: InteractionStatus
  reason?: string
  askedAt: Timestamp
  answeredAt?: Timestamp
}

/** A question put to a person: 128 random bits. */
export type ApprovalId = string

/** One user turn being worked on; at most one live run per session. */
export type RunId = string

/** A message: the client's id for a user's, ours for an agent's. */
export type MessageId = string

/** The provider's where it is unique in the message, else made unique. */
export type ToolCallId = string

export type InteractionStatus = 'pending' | 'approved' | 'denied' | 'withdrawn'

/** What a person should know before they answer. */
export interface Question {
  /** Why they are asked. */
  why: string
  /** What "always for this session" would allow. Absent: this is asked about every time. */
  always?: Grant
}

/** What a person allowed for the rest of a session: every call of a tool, or of one kind of its calls. */
export interface Grant {
  tool: string
  /** The kind of calls, in the tool's own words: the beginning of a command, a folder. Absent: all of them. */
  scope?: string
}

/** One question, answered or not. */
export interface AskedApproval {
  chatId: SessionId
  approval: Interaction
  question?: Question
}

export interface BranchList {
  branches: BranchPoint[]
}

/** A message of the active branch that has siblings. */
export interface BranchPoint {
  /** The one that is shown. */
  messageId: MessageId
  /** Its place among the choices, counted from 0. */
  at: number
  choices: BranchChoice[]
}

/** One answer, or one version of a question. */
export interface BranchChoice {
  messageId: MessageId
  revision: number
}

export type ErrorCode = 'unauthorized' | 'not_found' | 'session_not_found' | 'message_not_found' | 'approval_not_found' | 'artifact_not_found' | 'agent_not_found' | 'method_not_allowed' | 'body_too_large' | 'unsupported_media_type' | 'too_many_requests' | 'internal' | 'store_unavailable' | 'invalid_json' | 'invalid_message' | 'invalid_id' | 'empty_message' | 'unknown_model' | 'forbidden_origin' | 'request_timeout' | 'session_busy' | 'id_conflict' | 'approval_settled' | 'approval_altered' | 'model_not_ready' | 'nothing_to_continue' | 'agent_changed' | 'agent_read_only' | 'owner_token' | 'message_too_large' | 'range_not_satisfiable' | 'unsupported_attachment' | 'invalid_agent' | 'store_damaged' | 'model_unavailable' | 'shutting_down' | 'server_busy'

/** RFC 9457, with our stable code. */
export interface Problem {
  title: string
  status: number
  detail: string
  code: ErrorCode
  /** Everything that is wrong with what was sent, field by field. */
  problems?: FieldProblem[]
  /** What is stored, when somebody else was first. */
  current?: AgentInfo
}

export interface RunOptions {
  projectId?: string
  clientId?: string
  tabId?: string
  pageId?: string
  mode?: string
  /** IANA name of the person's time zone. */
  timezone?: string
  chatModelId?: string
  chatModelSource?: string
  agentId?: string
  /** Where the new message hangs; the active leaf when absent. */
  parentMessageId?: MessageId
  subAgentStream?: SubAgentStream
  whenBusy?: WhenBusy
}

/** How a client wants to see sub-agents at work. */
export type SubAgentStream = 'chunks' | 'text'

/** What happens to a message that arrives while a run is on. */
export type WhenBusy = 'reject' | 'queue' | 'interrupt'

/** A session as lists show it. */
export interface SessionInfo {
  id: SessionId
  title: string | null
  createdAt: Timestamp
  updatedAt: Timestamp
  messageCount: number
  status: SessionStatus
  /** How the newest run ended. */
  lastRun?: RunEnd
  activeLeaf?: MessageId
  /** How many messages wait behind the run; see `GET /api/chat/{id}/queue`. */
  queued?: number
  /** The model the chat goes on with, if somebody chose one. */
  chatModelId?: string
  chatModelSource?: string
  /** Kept at the top of the list by a person. */
  pinned: boolean
}

export type SessionStatus = 'idle' | 'running' | 'waiting'

/** How a run ended; each run has exactly one end. */
export type RunEnd = 'finished' | 'cancelled' | 'failed' | 'withdrawn'

export interface SessionList {
  sessions: SessionInfo[]
  /** Hand this back as `cursor` for the next page. */
  nextCursor?: string
}

/** The sign-ins that the caller may revoke, the last used first. */
export interface SignInList {
  signIns: SignInInfo[]
}

/** A browser that is signed in. */
export interface SignInInfo {
  id: number
  /** The token whose link was opened. */
  token: number
  /** Whose token that is. */
  principal: PrincipalId
  workspace: WorkspaceId
  createdAt: Timestamp
  /** To the minute. */
  lastUsedAt: Timestamp
  /** When it ends if it is not used again. */
  expiresAt: Timestamp
  /** How the browser names itself; empty when it does not. */
  userAgent: string
  /** The one that asks. */
  current: boolean
}

/** Who a token was given to. */
export type PrincipalId = string

/** The tokens that the caller may revoke, and the owner's own. */
export interface TokenList {
  tokens: TokenInfo[]
}

/** A token, without its text. */
export interface TokenInfo {
  id: number
  /** Whom it was given to. */
  principal: PrincipalId
  workspace: WorkspaceId
  createdAt: Timestamp
  /** The owner's: it can be rotated, not removed. */
  owner: boolean
  /** The one that the caller has, or signed in with. */
  current: boolean
  /** How many browsers are signed in with it. */
  signIns: number
}

/** What a model is told about a tool. */
export interface ToolSpec {
  name: string
  description: string
  /** JSON schema of the input. */
  input_schema: unknown
}

/** `input_tokens` holds all of the input: what came from the provider's cache and what was written to it are parts of it, as reasoning is a part of `output_tokens`. */
export interface Usage {
  inputTokens: number
  outputTokens: number
  totalTokens: number
  cachedInputTokens: number
  /** Input that the provider put into its cache, where it asks a price for that. */
  cacheWriteTokens?: number
  reasoningTokens: number
}
