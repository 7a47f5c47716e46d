export type ErrorCode = string
export interface SessionInfo { id: string; title: string | null; createdAt: number; updatedAt: number; messageCount: number; status: SessionStatus; lastRun?: RunEnd; activeLeaf?: string; pinned: boolean }
export type SessionStatus = 'idle' | 'running' | 'waiting'
export type RunEnd = 'finished' | 'cancelled' | 'failed'
export interface SessionList { sessions: SessionInfo[]; nextCursor?: string }
export type InteractionStatus = 'pending' | 'approved' | 'denied' | 'withdrawn'
export interface Interaction { id: string; run: string; message: string; toolCall: string; tool: string; input: unknown; status: InteractionStatus; reason?: string; askedAt: number; answeredAt?: number }
export interface WaitingApproval { chatId: string; title: string | null; approval: Interaction }
export interface ApprovalList { approvals: WaitingApproval[] }
export interface AgentRef { kind: 'main' | 'sub'; name: string; displayName: string; depth: number; path: string[] }
export interface Usage { inputTokens: number; outputTokens: number; totalTokens: number; cachedInputTokens: number; reasoningTokens: number }
export interface ToolSpec { name: string; description: string; input_schema: unknown }
export interface BranchChoice { messageId: string; revision: number }
export interface BranchPoint { messageId: string; at: number; choices: BranchChoice[] }
export interface BranchList { branches: BranchPoint[] }
export interface About { version: string; model: string }
