// Made by `cargo xtask web` from crates/protocol. Change the Rust types instead.
// oxlint-disable

/** Information about the server. */
export interface About {
  version: string
  /** The default model. */
  model: string
}

/** The result of checking a definition. */
export interface AgentCheck {
  /** Problems that prevent saving. */
  problems: FieldProblem[]
  /** Probable mistakes that do not prevent saving. */
  warnings: FieldProblem[]
}

/** A problem of a request. */
export interface FieldProblem {
  /** The field, as in `toolKeys[1]` or `model.provider`; empty for the whole request. */
  path: string
  /** In lower snake case, as in `unknown_tool`. */
  code: string
  /** The line, when the field is a text of several lines. */
  line?: number
  /** What is wrong. */
  message: string
  /** What to do. */
  fix: string
}

/** All agents of a workspace, highest precedence first, and the tools and variables for definitions. */
export interface AgentList {
  agents: AgentInfo[]
  groups: CapabilityGroup[]
  variables: PromptVariable[]
}

/** An agent in a response. */
export interface AgentInfo {
  /** Only agents in the database have an id and can be changed. */
  id?: AgentId
  source: AgentSource
  type: AgentType
  workspaceId?: WorkspaceId
  /** Unique in the workspace; delegations and `agentId` refer to it. */
  name: string
  kind: AgentKind
  displayName: string
  /** Description, by which callers choose an agent. */
  description: string
  enabled: boolean
  /** The role; a template over the variables that `GET /api/agents` lists. */
  systemPrompt: string
  /** The role for a task written in Chinese. */
  systemPromptZh?: string
  /** A model that replaces the run's. */
  model?: ModelChoice
  /** Fallback models as `provider/model`, tried in this order when the first one fails. */
  fallback: string[]
  toolKeys: string[]
  /** Capability groups: names for sets of tools. */
  groups: string[]
  /** Groups of tools that the agent can activate and deactivate itself. */
  toolGroups: ToolGroup[]
  /** The agents it may delegate to; none when empty. */
  allowedSubAgents: string[]
  /** The suffixes of the files that it and its sub-agents may create or change, such as `.md`; all files when empty. */
  editableFileSuffixes?: string[]
  /** How deep delegation may go below it. */
  maxDepth: number
  /** Model calls it may make for one message or task. */
  maxSteps: number
  budget: BudgetLimits
  /** For a main agent: whether the results of a sub-agent are passed to the next tasks of the others. */
  autoBroadcast: boolean
  /** The modes it can be used in; all when empty. */
  modes: string[]
  /** The pages it can be used on; all when empty. */
  pageIds: string[]
  /** Alternative names. */
  aliases: string[]
  /** Incremented with each change; a change names the version it is based on. */
  version: number
  createdAt?: Timestamp
  updatedAt?: Timestamp
  /** Whether it can be used now. */
  available: boolean
  /** Why it cannot be used. */
  reason?: string
  /** The tools it can use: those of its definition that exist and that the workspace may use. */
  effectiveTools: string[]
  /** Problems that do not prevent its use, but are probably mistakes. */
  warnings?: FieldProblem[]
}

/** An agent that a workspace defined. */
export type AgentId = string

/** The origin of a definition. */
export type AgentSource = 'system' | 'file' | 'database'

/** The kind of definition. */
export type AgentType = 'system' | 'test-approval' | 'dynamic' | 'default'

/** The tenant a token belongs to. Data of another workspace is invisible. */
export type WorkspaceId = string

export type AgentKind = 'main' | 'sub'

/** A model that replaces the run's. */
export interface ModelChoice {
  provider: string
  modelId: string
  /** Parameters of the model request: `temperature`, `topP`, `maxOutputTokens` and so on. */
  params?: Record<string, unknown>
}

/** Tools that are activated together. */
export interface ToolGroup {
  name: string
  description: string
  tools: string[]
  /** Whether it is active from the start. */
  active: boolean
}

/** Limits of an agent and all agents below it. An absent limit means that only the caller's remaining budget applies. */
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

/** A variable that a prompt may contain, as in `{{ project }}`. */
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
  /** Allow all such calls from now on, only if the question offers it: in this chat (`true` or `"session"`), or in all chats of the workspace (`"workspace"`). */
  always?: GrantScope
  /** An input that replaces the one of the question. */
  input?: unknown
}

/** For how long "always" applies. */
export type GrantScope = 'session' | 'workspace'

export interface ApprovalList {
  approvals: WaitingApproval[]
}

/** An unanswered question, with the chat it was asked in. */
export interface WaitingApproval {
  chatId: SessionId
  title: string | null
  approval: Interaction
  /** What the person is told. Absent when an older version asked. */
  question?: Question
}

/** A stored conversation. The client chooses the id; the server makes the id of a sub-agent's chat. */
export type SessionId = string

/** A stored question. The call runs with this input, never with the client's copy. */
export interface Interaction {
  id: ApprovalId
  kind: InteractionKind
  run: RunId
  message: MessageId
  toolCall: ToolCallId
  tool: string
  input: unknown
  /** The input as a person changed it; the call ran with this one. */
  edited?: unknown
  /** The answers to a request for input. The value of a secret field is a reference. */
  answers?: InputAnswers
  status: InteractionStatus
  reason?: string
  askedAt: Timestamp
  answeredAt?: Timestamp
  answeredBy?: AnsweredBy
}

/** A question to a person: 128 random bits. */
export type ApprovalId = string

/** What a person is asked for. */
export type InteractionKind = 'approval' | 'input'

/** The work on one user turn; a session has at most one active run. */
export type RunId = string

/** A message. The client chooses the id of a user's message, the server that of an agent's. */
export type MessageId = string

/** A tool call: the provider's id if it is unique in the message, else one that the server makes. */
export type ToolCallId = string

/** The answers of a person to a form, checked against it. */
export interface InputAnswers {
  /** By the key of the field. Fields that were left empty are absent. */
  answers: Record<string, AnswerValue>
  /** What the person wrote instead of choosing an option, or besides. */
  customInput?: string
}

/** The answer to one field: a list where several options can be chosen. */
export type AnswerValue = string | string[]

export type InteractionStatus = 'pending' | 'approved' | 'denied' | 'withdrawn'

/** Where the answer to a question came from. */
export type AnsweredBy = 'events' | 'chat' | 'server'

/** What a person is told before they answer; stored with the question. */
export interface Question {
  /** Why the call needs an approval. */
  why: string
  /** The calls that "always" would allow. Absent when every call needs an approval of its own. */
  always?: CallPattern
  /** It is asked about every time, in every mode. */
  sensitive?: boolean
  /** The files that the call would change, as they were when it was asked. */
  files?: FileDiff[]
  /** What the person is asked to fill in, when this is a request for input. */
  form?: InputForm
}

/** The calls that a rule covers. A field that is absent, or an empty list, covers everything. */
export interface CallPattern {
  /** Names of tools; `*` stands for any characters. */
  tools?: string[]
  /** A glob over paths of files, relative to the work directory: `src/**`. */
  path?: string
  /** The beginning of a command, word by word. Older logs call it `scope`. */
  command?: string
}

/** The difference of one file, for a person. */
export interface FileDiff {
  /** Relative to the work directory. */
  path: string
  /** The path before, when the file is moved. */
  from?: string
  kind: ChangeKind
  added: number
  removed: number
  /** Unified diff without its two header lines; empty for binary files. */
  diff: string
  /** Whether the diff was cut because it is long. */
  cut?: boolean
}

export type ChangeKind = 'created' | 'modified' | 'deleted'

/** The fields that a person is asked to fill in. */
export interface InputForm {
  title?: string
  description?: string
  /** The agent asked one question in the short form; the model reads its answer as `answer`. */
  short?: boolean
  /** At least one; their keys differ. */
  fields: InputField[]
}

export interface InputField {
  key: string
  /** The question, or the name of the field. */
  label: string
  type: FieldType
  /** What a person can choose from, for the types `select` and `choice`. */
  options?: InputOption[]
  /** Whether several options can be chosen. The answer is a list then. */
  multiSelect?: boolean
  /** Whether the person may write something of their own instead of choosing an option, or besides. */
  customInput?: boolean
  required: boolean
  defaultValue?: string
  placeholder?: string
  /** The `type` of the HTML input element, as in `email` or `number`; only a hint for pages. */
  inputType?: string
  /** A regular expression that the whole answer must match. */
  pattern?: string
  /** What a person is told when their answer does not match the pattern. */
  patternMessage?: string
  /** In characters. */
  minLength?: number
  maxLength?: number
}

export type FieldType = 'text' | 'textarea' | 'secret' | 'select' | 'choice'

export interface InputOption {
  label: string
  description?: string
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
  /** The message that is shown. */
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

/** `GET /api/chat/{id}/changes`. */
export interface ChangeList {
  /** Every file that differs from its state before the chat. */
  files: ChangedFile[]
  /** By run, newest first. */
  runs: RunChanges[]
  /** Every change set, newest first: the audit record. */
  changes: ChangeSet[]
  /** Older change sets were removed because the limit was reached; they cannot be reverted. */
  incomplete?: boolean
}

/** What became of one file over all change sets of a chat, or of one of its runs. */
export interface ChangedFile {
  /** Relative to the work directory. */
  path: string
  kind: ChangeKind
  added: number
  removed: number
  /** Whether it can be reverted now; if not, `reason` says why. */
  revertible: boolean
  code?: NotRevertible
  reason?: string
}

/** Why the change of a file cannot be reverted. */
export type NotRevertible = 'changed-since' | 'deleted-since' | 'changed-between' | 'later-run' | 'content-removed' | 'not-kept' | 'not-readable' | 'unfinished' | 'nothing-to-revert'

/** The changes of one run that are not reverted. */
export interface RunChanges {
  /** The main agent's message of the run. */
  messageId: MessageId
  at: Timestamp
  files: ChangedFile[]
}

/** A change set of a chat. */
export interface ChangeSet {
  id: ChangeId
  /** The message of the agent that made the change. */
  messageId: MessageId
  /** Absent when a person reverted changes. */
  toolCallId?: ToolCallId
  /** The tool that made it, or `revert`. */
  tool: string
  /** The agents from the root to the one that made it. */
  agent?: string[]
  at: Timestamp
  status: ChangeStatus
  files: FileChange[]
}

/** A set of changes to files that is applied as a whole. */
export type ChangeId = string

export type ChangeStatus = 'applied' | 'applying' | 'failed'

/** What a change set does to one file. A move is a deletion and a creation. */
export interface FileChange {
  /** `/workspace/src/main.rs` */
  path: string
  /** Absent: the file did not exist. */
  before?: FileState
  /** Absent: the file is deleted. */
  after?: FileState
}

/** One state of a file. */
export interface FileState {
  /** SHA-256 of the content, in hexadecimal: the name under which the content is kept. Empty: it was not read, because it is too large or there are too many files; such a change cannot be reverted. */
  content: string
  bytes: number
  /** The permission bits; `120777` (octal) for a symbolic link, whose content is its target. */
  mode: number
}

/** `GET /api/chat/{id}/changes/diff`: what became of one file, over the chat or over one run. */
export interface ChangedFileDiff {
  /** Relative to the work directory. */
  path: string
  /** The path before, when the file is moved. */
  from?: string
  kind: ChangeKind
  added: number
  removed: number
  /** Unified diff without its two header lines; empty for binary files. */
  diff: string
  /** Whether the diff was cut because it is long. */
  cut?: boolean
  /** The content before or after is not text, so there is no diff. */
  binary?: boolean
  /** The permission bits before and after, when they differ. */
  modes?: number[]
}

/** What `shell`, `shell-command`, `exec-command` and `write-stdin` return, and what they show while they run. */
export interface CommandReport {
  /** Absent while the command runs, and when a signal ended it. */
  exitCode?: number
  /** The signal that ended the command, such as `SIGKILL`. */
  signal?: string
  timedOut?: boolean
  durationMs: number
  /** Standard output and standard error as they came. Of long output the beginning and the end. */
  output: string
  /** How many bytes are missing in the middle of `output`. */
  leftOutBytes?: number
  /** Where the whole output is, when some of it is left out. */
  artifact?: OutputFile
  /** Which protections were active, in one line. */
  sandbox: string
  /** The command still runs: pass this to `write-stdin`. */
  sessionId?: JobId
  /** Something the reader should know, such as a limit that was reached. */
  note?: string
}

/** A file with the whole output of a command. */
export interface OutputFile {
  id: ArtifactId
  name: string
  bytes: number
  url: string
}

/** A file that was made: 128 random bits. */
export type ArtifactId = string

/** A command that runs or has run: 128 random bits. */
export type JobId = string

export type ErrorCode = 'unauthorized' | 'not_found' | 'file_not_found' | 'session_not_found' | 'message_not_found' | 'approval_not_found' | 'artifact_not_found' | 'agent_not_found' | 'rule_not_found' | 'job_not_found' | 'job_ended' | 'method_not_allowed' | 'body_too_large' | 'unsupported_media_type' | 'too_many_requests' | 'internal' | 'store_unavailable' | 'invalid_json' | 'invalid_message' | 'invalid_id' | 'empty_message' | 'unknown_model' | 'invalid_path' | 'forbidden_origin' | 'access_denied' | 'agent_busy' | 'request_timeout' | 'session_busy' | 'id_conflict' | 'approval_settled' | 'approval_altered' | 'model_not_ready' | 'nothing_to_continue' | 'agent_changed' | 'agent_read_only' | 'rule_read_only' | 'file_conflict' | 'files_not_configured' | 'owner_token' | 'content_removed' | 'file_too_large' | 'message_too_large' | 'range_not_satisfiable' | 'unsupported_attachment' | 'invalid_agent' | 'invalid_rule' | 'store_damaged' | 'model_unavailable' | 'upstream_timeout' | 'upstream_rate_limited' | 'shutting_down' | 'server_busy'

/** `GET /api/files?path=src`: one folder of the workspace, folders first. */
export interface FolderList {
  /** Relative to the work directory; empty for the work directory itself. */
  path: string
  entries: FolderEntry[]
  /** The folder has more entries than are listed. */
  cut?: boolean
}

/** An entry of a folder of the workspace. */
export interface FolderEntry {
  name: string
  kind: EntryKind
  bytes: number
  modifiedAt: Timestamp
  /** A `.gitignore` or a default hides it from the listing of agents. */
  ignored?: boolean
}

export type EntryKind = 'file' | 'directory' | 'link' | 'other'

/** A command that runs, or that ended a short time ago. */
export interface Job {
  id: JobId
  chatId: SessionId
  toolCallId: ToolCallId
  /** The line, or the words of the command joined by spaces. */
  command: string
  /** The folder it runs in, as agents write it: `/workspace/src`. */
  workdir: string
  /** Whether it has a terminal. */
  tty: boolean
  state: JobState
  startedAt: Timestamp
  durationMs: number
  exitCode?: number
  signal?: string
  timedOut?: boolean
  outputBytes: number
  sandbox: string
}

export type JobState = 'running' | 'ended'

/** An event of `GET /api/jobs/{id}/output`. */
export type JobEvent = {
  type: 'output'
  offset: number
  text: string
} | {
  type: 'ended'
  job: Job
}

/** `POST /api/jobs/{id}/input`. */
export interface JobInput {
  /** What a person typed; `\u0003` is Ctrl-C. */
  chars: string
  /** The new size of the terminal. */
  size?: TerminalSize
}

export interface TerminalSize {
  columns: number
  rows: number
}

/** `GET /api/jobs`: newest first. */
export interface JobList {
  jobs: Job[]
}

/** Facts about an agent's message. An event holds those that are new; a message holds all of them, merged.  Unknown keys and values of another shape are ignored when facts are read, so that no log becomes unreadable. */
export interface MessageFacts {
  /** The agent that writes the message. */
  agent?: AgentRef
  agentName?: string
  /** Of a sub-agent: the same as `chatId`. */
  agentId?: SessionId
  /** Of a sub-agent: the call that delegated to it. */
  parentToolCallId?: ToolCallId
  /** Of a sub-agent: the message that delegated to it. */
  parentMessageId?: MessageId
  /** Of a sub-agent: the chat in which it can be followed, stopped and steered. */
  chatId?: SessionId
  /** The model that answers, as `provider/model`. */
  model?: string
  createdAt?: Timestamp
  /** The command that the message carries out; then no model wrote it. */
  command?: MessageCommand
  /** Changes of model in this message, oldest first. */
  fallbacks?: Fallback[]
  /** The limit that ended the work early. */
  limit?: Limit
  /** Why the server stopped the agent. */
  stopped?: Stopped
  /** Calls of this message that are copies of sub-agents' questions. */
  raisedCalls?: Record<string, RaisedCall>
  /** Calls whose input a person changed before they ran. */
  editedCalls?: Record<string, EditedCall>
  /** The answer in the form that the caller asked for. */
  structuredOutput?: unknown
  errorCode?: ErrorCode
  status?: MessageStatus
  /** Why the model stopped, when the message is finished. */
  finishReason?: FinishReason
  /** What went wrong, for people. */
  error?: string
  /** Tokens of all model calls of the message. */
  usage?: Usage
  /** US dollars, of the model calls whose price is known. */
  cost?: number
  /** Tokens of the context window that the last model call used. */
  contextTokens?: number
}

/** A command that a person sent instead of a question. */
export interface MessageCommand {
  name: CommandName
  /** What the person wrote after the command. */
  wish?: string
}

export type CommandName = 'compact' | 'title'

/** A change to another model, because the one before could not answer. */
export interface Fallback {
  from: string
  to: string
  reason: string
}

/** Which limit an agent reached. */
export type Limit = 'steps' | 'tokens' | 'money' | 'time'

/** Why the server stopped an agent, and which tool it was about. */
export interface Stopped {
  reason: StopReason
  tool: string
  times: number
}

export type StopReason = 'repeated_failure'

/** Where a copied question was asked. */
export interface RaisedCall {
  agentName: string
  messageId: MessageId
  toolCallId: ToolCallId
}

/** What a person made of a call. */
export interface EditedCall {
  input: unknown
}

/** The state of an agent's message. Absent while a main agent works. */
export type MessageStatus = 'finished' | 'cancelled' | 'failed' | 'queued' | 'running'

/** Why a model stopped; the spellings every client release accepts. */
export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other'

/** Token counts. `input_tokens` includes the tokens read from and written to the provider's cache, `output_tokens` includes reasoning. */
export interface Usage {
  inputTokens: number
  outputTokens: number
  totalTokens: number
  cachedInputTokens: number
  /** Input that the provider wrote to its cache, where it charges for that. */
  cacheWriteTokens?: number
  reasoningTokens: number
}

/** `POST /api/rules`: a new rule, for the workspace or for one chat. */
export interface NewRule {
  effect: RuleEffect
  /** Names of tools; `*` stands for any characters. */
  tools?: string[]
  /** A glob over paths of files, relative to the work directory: `src/**`. */
  path?: string
  /** The beginning of a command, word by word. Older logs call it `scope`. */
  command?: string
  note?: string
  chatId?: SessionId
}

export type RuleEffect = 'allow' | 'ask' | 'refuse'

/** An RFC 9457 problem with a stable code. */
export interface Problem {
  title: string
  status: number
  detail: string
  code: ErrorCode
  /** All problems of the request, field by field. */
  problems?: FieldProblem[]
  /** The stored definition, when somebody else changed it first. */
  current?: AgentInfo
}

/** `POST /api/chat/{id}/changes/revert`: without fields, all changes of the chat. */
export interface RevertRequest {
  /** Only the changes of the run with this message. */
  messageId?: MessageId
  /** Only these files, relative to the work directory. */
  paths?: string[]
  /** With a message: also the changes of all later runs. */
  andLater?: boolean
}

/** The response to a revert. The files that could be reverted were, all together. Both lists are empty when the chat, or the run, never changed a file. */
export interface RevertResult {
  reverted: string[]
  refused: NotReverted[]
}

export interface NotReverted {
  path: string
  code: NotRevertible
  reason: string
}

/** `GET /api/rules`: the mode and the rules in force, strongest layer first. */
export interface RuleList {
  mode: ApprovalMode
  rules: ListedRule[]
}

/** How much is asked about when no rule says otherwise. */
export type ApprovalMode = 'ask' | 'auto-read-only' | 'yolo'

/** A rule as `/api/rules` lists it. */
export interface ListedRule {
  id: RuleId
  effect: RuleEffect
  /** Names of tools; `*` stands for any characters. */
  tools?: string[]
  /** A glob over paths of files, relative to the work directory: `src/**`. */
  path?: string
  /** The beginning of a command, word by word. Older logs call it `scope`. */
  command?: string
  /** Why it exists, in the words of the person who wrote it. */
  note?: string
  layer: RuleLayer
  /** The chat that the rule belongs to. */
  chatId?: SessionId
  /** Absent for rules of the program and of the settings. */
  createdAt?: Timestamp
  /** Whether `DELETE /api/rules/{id}` revokes it. */
  revocable: boolean
}

/** A rule about which calls run: 128 random bits. */
export type RuleId = string

/** Where a rule applies. A rule of a later layer is stronger, but "refuse" wins in every layer. */
export type RuleLayer = 'workspace' | 'session' | 'built-in' | 'server'

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
  /** The message that the new one follows; the end of the active branch when absent. */
  parentMessageId?: MessageId
  subAgentStream?: SubAgentStream
  whenBusy?: WhenBusy
  /** The surface that the message came from. */
  origin?: Origin
  /** The client's own name for its request, sent back with the first events of the run. */
  requestId?: string
  /** Calls that would be asked about run; sensitive ones are asked about all the same. */
  yolo?: boolean
}

/** How a client receives the output of sub-agents at work. */
export type SubAgentStream = 'chunks' | 'text'

/** What happens to a message that arrives while a run is active. */
export type WhenBusy = 'reject' | 'queue' | 'interrupt'

/** A surface that messages and answers come from. */
export type Origin = 'chat' | 'events'

/** A session in a list. */
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
  /** How many messages are queued behind the run; see `GET /api/chat/{id}/queue`. */
  queued?: number
  /** The model of the chat, if somebody chose one. */
  chatModelId?: string
  chatModelSource?: string
  /** The main agent that answers next. */
  agentId: string
  /** The agent that was chosen, if it no longer exists and `agent_id` answers in its place. */
  agentFallbackFrom?: string
  /** Whether a person pinned it to the top of the list. */
  pinned: boolean
}

export type SessionStatus = 'idle' | 'running' | 'waiting'

/** How a run ended; each run has exactly one end. */
export type RunEnd = 'finished' | 'cancelled' | 'failed' | 'withdrawn'

export interface SessionList {
  sessions: SessionInfo[]
  /** Pass this as `cursor` to get the next page. */
  nextCursor?: string
}

/** The sign-ins that the caller may revoke, last used first. */
export interface SignInList {
  signIns: SignInInfo[]
}

/** A browser that is signed in. */
export interface SignInInfo {
  id: number
  /** The token whose link was opened. */
  token: number
  /** The holder of that token. */
  principal: PrincipalId
  workspace: WorkspaceId
  createdAt: Timestamp
  /** To the minute. */
  lastUsedAt: Timestamp
  /** When it expires if it is not used again. */
  expiresAt: Timestamp
  /** The browser's `User-Agent`; empty when it sent none. */
  userAgent: string
  /** Whether it is the caller's own. */
  current: boolean
}

/** The holder of a token. */
export type PrincipalId = string

/** The tokens that the caller may revoke, and the owner's own. */
export interface TokenList {
  tokens: TokenInfo[]
}

/** A token, without its text. */
export interface TokenInfo {
  id: number
  /** The holder of the token. */
  principal: PrincipalId
  workspace: WorkspaceId
  createdAt: Timestamp
  /** The owner's: it can be rotated, not removed. */
  owner: boolean
  /** Whether the caller uses it or signed in with it. */
  current: boolean
  /** How many browsers are signed in with it. */
  signIns: number
}

/** The description of a tool that a model reads. */
export interface ToolSpec {
  name: string
  description: string
  /** JSON schema of the input. */
  input_schema: unknown
}

/** An answer as a person sends it, in one of three shapes: `answers` by the key of the field; `selected` and `customInput` for a question in the short form; or `cancelled`, which declines to answer. */
export interface UserAnswer {
  answers?: Record<string, AnswerValue>
  selected?: AnswerValue
  customInput?: string
  cancelled?: boolean
  /** Why the person declines. */
  reason?: string
}
