// The call tree of a conversation: every delegation, to any depth, with its state and what it used.

import { isToolPart, nestedMessage, type ChatMessage } from './message-types'
import { calledAgent, calledTask, isDelegation } from './parts/sub-agent-part'
import { isRunning, outcome } from './parts/outcome'

export interface AgentNode {
  call: string
  name: string
  task: string | undefined
  state: string
  steps: number
  toolCalls: number
  tokens: number
  chatId: string | undefined
  children: AgentNode[]
}

/** The message of a sub-agent at work, by the message that delegated and the call in it. */
export type Live = (messageId: string, call: string) => ChatMessage | undefined

/** More than the server delegates. */
export const DEEPEST = 20

export function agentTree(messages: readonly ChatMessage[], live: Live): AgentNode[] {
  return messages.flatMap((message) => (message.role === 'assistant' ? nodesOf(message, live, 0) : []))
}

function nodesOf(message: ChatMessage, live: Live, depth: number): AgentNode[] {
  if (depth > DEEPEST) return []
  return message.parts.filter(isToolPart).filter(isDelegation).map((part) => {
    const running = isRunning(part)
    const settled = nestedMessage(part)
    const inner = running ? (live(message.id, part.toolCallId) ?? settled) : (settled ?? live(message.id, part.toolCallId))
    const calls = inner?.parts.filter(isToolPart) ?? []
    return {
      call: `${message.id} ${part.toolCallId}`,
      name: inner?.metadata?.agent?.displayName ?? calledAgent(part.input) ?? '',
      task: calledTask(part.input),
      state: stateOf(running, outcome(part), inner, calls.some((one) => one.state === 'approval-requested')),
      steps: inner?.parts.filter((one) => one.type === 'step-start').length ?? 0,
      toolCalls: calls.length,
      tokens: inner?.metadata?.usage?.totalTokens ?? 0,
      chatId: inner?.metadata?.chatId,
      children: inner ? nodesOf(inner, live, depth + 1) : [],
    }
  })
}

function stateOf(running: boolean, ended: string, inner: ChatMessage | undefined, asks: boolean): string {
  if (running) return asks ? 'waiting' : 'running'
  return ended === 'failed' ? 'failed' : (inner?.metadata?.status ?? ended)
}
