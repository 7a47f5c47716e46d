// Messages as this server writes them: the client package's own type with our metadata, and how parts are told apart.

import type { DynamicToolUIPart, ToolUIPart, UIMessage } from 'ai'
import type { MessageFacts } from '../api/types.gen'

export interface PlanStep {
  step: string
  status: 'pending' | 'in_progress' | 'completed'
}

export interface Plan {
  explanation?: string
  steps: PlanStep[]
}

/** A summary that stands in for what came before it, as far as the model is concerned. */
export interface Compaction {
  status: 'running' | 'done' | 'failed' | 'stopped'
  summary: string | undefined
  /** What was not settled at that point. */
  open: string[]
  tokensBefore: number | undefined
  tokensAfter: number | undefined
  error: string | undefined
}

export type ChatMessage = UIMessage<MessageFacts>
export type Part = ChatMessage['parts'][number]
export type ToolPart = ToolUIPart | DynamicToolUIPart

export function isToolPart(part: Part): part is ToolPart {
  return part.type === 'dynamic-tool' || part.type.startsWith('tool-')
}

export function toolName(part: ToolPart): string {
  return part.type === 'dynamic-tool' ? part.toolName : part.type.slice('tool-'.length)
}

export function textOf(message: ChatMessage): string {
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
}

/** The sub-agent's message that a delegating call carries as its output. */
export function nestedMessage(part: ToolPart): ChatMessage | undefined {
  if (part.state !== 'output-available') return undefined
  return asMessage(part.output)
}

export function asMessage(value: unknown): ChatMessage | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const message = value as Partial<ChatMessage>
  if (typeof message.id !== 'string' || message.role !== 'assistant' || !Array.isArray(message.parts)) return undefined
  if (!message.parts.every((part) => typeof part === 'object' && part !== null && typeof part.type === 'string')) return undefined
  return message as ChatMessage
}

export function planOf(data: unknown): Plan | undefined {
  if (typeof data !== 'object' || data === null || !('steps' in data) || !Array.isArray(data.steps)) return undefined
  const steps = data.steps.filter(isStep)
  if (steps.length === 0) return undefined
  const explanation = 'explanation' in data && typeof data.explanation === 'string' ? data.explanation : undefined
  return { steps, ...(explanation ? { explanation } : {}) }
}

function isStep(value: unknown): value is PlanStep {
  return (
    typeof value === 'object' &&
    value !== null &&
    'step' in value &&
    typeof value.step === 'string' &&
    'status' in value &&
    (value.status === 'pending' || value.status === 'in_progress' || value.status === 'completed')
  )
}

export function compactionOf(data: unknown): Compaction | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  const fields = data as Record<string, unknown>
  const { status } = fields
  if (status !== 'running' && status !== 'done' && status !== 'failed' && status !== 'stopped') return undefined
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  const number = (value: unknown) => (typeof value === 'number' ? value : undefined)
  return {
    status,
    summary: text(fields.summary),
    open: Array.isArray(fields.open) ? fields.open.filter((line) => typeof line === 'string') : [],
    tokensBefore: number(fields.tokensBefore),
    tokensAfter: number(fields.tokensAfter),
    error: text(fields.error),
  }
}

/** The newest plan of a conversation. */
export function latestPlan(messages: readonly ChatMessage[]): Plan | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const parts = messages[at]?.parts ?? []
    for (let place = parts.length - 1; place >= 0; place--) {
      const part = parts[place]
      if (part?.type === 'data-plan' && 'data' in part) {
        const plan = planOf(part.data)
        if (plan) return plan
      }
    }
  }
  return undefined
}
