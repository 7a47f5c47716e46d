// The routes of one chat beside its stream.

import type { FileUIPart } from 'ai'
import { call, path, send } from '../api/client'
import { isMissing, problemOf } from '../api/problem'
import type { BranchList, BranchPoint, Interaction } from '../api/types.gen'
import type { GrantScope, UserAnswer } from '../api/workspace-types'
import type { ChatMessage } from './message-types'
import { timezone, type Choices } from './transport'

export interface Answer {
  approved: boolean
  reason?: string
  /** Allow every such call from now on: in this chat, or in every chat of the workspace. */
  always?: GrantScope
  /** What is to run instead. */
  input?: unknown
}

export function fetchHistory(id: string, page: { limit: number; before?: string }): Promise<ChatMessage[]> {
  const query = new URLSearchParams({ limit: String(page.limit) })
  if (page.before) query.set('before', page.before)
  return call<ChatMessage[]>('GET', `${path`/api/chat/${id}/messages`}?${query}`)
}

export async function stopRun(id: string): Promise<void> {
  await call('POST', path`/api/chat/${id}/stop`)
}

export async function fetchBranches(id: string): Promise<BranchPoint[]> {
  try {
    return (await call<BranchList>('GET', path`/api/chat/${id}/branches`)).branches
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

export async function chooseBranch(id: string, messageId: string, revision: number): Promise<void> {
  await call('POST', path`/api/chat/${id}/branch`, { body: { messageId, revision } })
}

export function answerApproval(id: string, answer: Answer): Promise<Interaction> {
  return call<Interaction>('POST', path`/api/approvals/${id}`, { body: answer })
}

/** Answers a request for input. */
export function answerInput(id: string, answer: UserAnswer): Promise<Interaction> {
  return call<Interaction>('POST', path`/api/approvals/${id}`, { body: answer })
}

/** Hands a message over while a run is on; resolves when its own run has begun. */
export async function queueMessage(id: string, text: string, files: FileUIPart[], choices: Choices): Promise<void> {
  const leave = new AbortController()
  const message = { id: crypto.randomUUID(), role: 'user', parts: [...files, { type: 'text', text }] }
  const response = await send('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    credentials: 'same-origin',
    signal: leave.signal,
    body: JSON.stringify({ id, message, trigger: 'submit-message', whenBusy: 'queue', timezone: timezone(), ...choices }),
  })
  if (!response.ok) throw await problemOf(response)
  // The run goes on without this reader; the page follows it by resuming.
  leave.abort()
}

/** Says something to the agent at work in this chat; a sub-agent's chat works the same. */
export async function steer(id: string, text: string): Promise<void> {
  await call('POST', path`/api/chat/${id}/message`, { body: { text } })
}

/** Has the model name the chat. */
export async function giveTitle(id: string): Promise<void> {
  await call('POST', path`/api/chat/${id}/title`)
}
