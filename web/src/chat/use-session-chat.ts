// One conversation: the package's `useChat` with this server's transport, wrapped once. Adds what a page that must
// survive needs: reconnecting, catching up with other tabs, stop by route, answers by route, earlier pages, branches.

import { useChat } from '@ai-sdk/react'
import type { FileUIPart } from 'ai'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { isMissing } from '../api/problem'
import type { BranchPoint } from '../api/types.gen'
import type { UserAnswer } from '../api/workspace-types'
import { sessions } from '../sessions/sessions-store'
import { tellTabs } from '../sessions/tabs'
import { showToast } from '../ui/toasts'
import type { ChatMessage } from './message-types'
import { answerApproval, answerInput, chooseBranch, fetchBranches, fetchHistory, queueMessage, stopRun, type Answer } from './routes'
import { SubAgentLanes } from './sub-agent-lane'
import { makeTransport, type Choices } from './transport'
import { isRefusedFile, troubleOf, type Trouble } from './trouble'
import { useReconnect, type Connection } from './use-reconnect'

export const PAGE = 40
/** What the server gives at once. */
const LARGEST_PAGE = 1000

export interface SessionChat {
  id: string
  messages: ChatMessage[]
  busy: boolean
  /** The request is out, nothing has come back yet. */
  waiting: boolean
  trouble: Trouble | undefined
  connection: Connection
  lanes: SubAgentLanes
  branches: readonly BranchPoint[]
  queued: readonly string[]
  hasEarlier: boolean
  loadEarlier: () => Promise<void>
  send: (text: string, files: FileUIPart[], whenBusy?: 'queue' | 'interrupt') => void
  edit: (messageId: string, text: string) => void
  retry: (messageId?: string) => void
  goOn: () => void
  stop: () => void
  answer: (approvalId: string, answer: Answer) => Promise<void>
  fillIn: (approvalId: string, answer: UserAnswer) => Promise<void>
  switchBranch: (messageId: string, revision: number) => void
  dismissTrouble: () => void
}

interface Beginning {
  id: string
  initial: ChatMessage[]
  hasEarlier: boolean
  /** A session the server knows: there may be a run to follow. */
  known: boolean
  /** A sub-agent's own chat: it is no session, has no branches, and nothing but its messages can be asked for. */
  sub?: boolean
  choices: () => Choices
  /** The first message of a new chat is out. */
  onBegin?: () => void
  /** A message came back because of its files. */
  onRefused?: (text: string, files: FileUIPart[]) => void
}

export function useSessionChat({ id, initial, hasEarlier: more, known, sub = false, choices, onBegin, onRefused }: Beginning): SessionChat {
  const lanes = useMemo(() => new SubAgentLanes(), [])
  const transport = useMemo(() => makeTransport(choices), [choices])
  const [hasEarlier, setHasEarlier] = useState(more)
  const [branches, setBranches] = useState<readonly BranchPoint[]>([])
  const [queued, setQueued] = useState<readonly string[]>([])
  const lost = useRef<() => void>(() => undefined)
  const settled = useRef<() => void>(() => undefined)
  /** The new message that is on its way to the server. */
  const sent = useRef<{ text: string; files: FileUIPart[] } | undefined>(undefined)
  const refused = useRef<() => void>(() => undefined)
  const wasRefused = useRef(false)

  const chat = useChat<ChatMessage>({
    id,
    messages: initial,
    transport,
    resume: known,
    throttle: 40,
    onData: (part) => lanes.accept(part),
    onFinish: ({ isDisconnect, isAbort }) => {
      if (isDisconnect) lost.current()
      // After a refusal nothing is stored that could be asked for.
      else if (!isAbort && !wasRefused.current) settled.current()
      wasRefused.current = false
    },
    onError: (error) => {
      wasRefused.current = isRefusedFile(error)
      if (wasRefused.current) refused.current()
    },
  })
  const { messages, setMessages, status, error, sendMessage, regenerate, resumeStream, clearError, addToolApprovalResponse } = chat
  const leave = chat.stop
  const busy = status === 'submitted' || status === 'streaming'
  const latest = useRef({ messages, busy })
  latest.current = { messages, busy }
  /** The state of the session that this page shows; anything newer was done elsewhere. */
  const shownAt = useRef(0)

  const refreshBranches = useCallback(() => {
    if (sub) return
    fetchBranches(id).then(setBranches, () => setBranches([]))
  }, [id, sub])

  const noteState = useCallback(async () => {
    if (sub) return undefined
    const info = await sessions.refreshOne(id)
    if (info) shownAt.current = info.updatedAt
    return info
  }, [id, sub])

  /** Takes over what the server has and follows what runs. */
  const catchUp = useCallback(async () => {
    if (sub) {
      setMessages(await fetchHistory(id, { limit: LARGEST_PAGE }))
      clearError()
      if (!latest.current.busy) await resumeStream()
      return
    }
    const info = await noteState()
    if (!info) return
    if (info.status !== 'running') {
      const size = Math.min(LARGEST_PAGE, Math.max(PAGE, latest.current.messages.length))
      const page = await fetchHistory(id, { limit: size })
      setMessages(page)
      setHasEarlier(page.length === size && page.length < info.messageCount)
      clearError()
      refreshBranches()
    } else if (!latest.current.busy) {
      const page = await fetchHistory(id, { limit: PAGE })
      setMessages((present) => joinHistory(present, page))
      await resumeStream()
    }
  }, [id, sub, noteState, setMessages, clearError, refreshBranches, resumeStream])

  const { connection, lose } = useReconnect(catchUp)
  lost.current = () => {
    lanes.clear()
    lose()
  }
  refused.current = () => {
    const draft = sent.current
    if (!draft) return
    sent.current = undefined
    setMessages((present) => (present.at(-1)?.role === 'user' ? present.slice(0, -1) : present))
    onRefused?.(draft.text, draft.files)
  }
  settled.current = () => {
    if (!sub) tellTabs(id)
    void noteState().catch(() => undefined)
    void sessions.refresh()
    refreshBranches()
  }

  useEffect(() => {
    if (!known) return
    refreshBranches()
    void noteState().catch(() => undefined)
  }, [known, refreshBranches, noteState])

  // Another tab or another device went on with this session.
  useEffect(
    () =>
      sessions.watchOne(id, (info) => {
        if (latest.current.busy || shownAt.current === 0 || info.updatedAt <= shownAt.current) return
        shownAt.current = info.updatedAt
        void catchUp().catch(() => undefined)
      }),
    [id, catchUp],
  )

  // The server has begun: the list and the other tabs should know.
  const streaming = status === 'streaming'
  useEffect(() => {
    if (!streaming || sub) return
    tellTabs(id)
    void sessions.refreshOne(id).catch(() => undefined)
  }, [id, sub, streaming])

  const began = useCallback(() => onBegin?.(), [onBegin])

  const send = useCallback(
    (text: string, files: FileUIPart[], whenBusy?: 'queue' | 'interrupt') => {
      const go = (body?: object) => {
        sent.current = { text, files }
        void sendMessage({ text, files }, body ? { body } : undefined)
        began()
      }
      if (!latest.current.busy) return go()
      if (whenBusy === 'interrupt') {
        void leave().then(() => go({ whenBusy: 'interrupt' }))
        return
      }
      setQueued((waiting) => [...waiting, text])
      queueMessage(id, text, files, choices())
        .then(() => leave())
        .then(catchUp)
        .catch((problem: unknown) => {
          if (!isRefusedFile(problem)) return
          onRefused?.(text, files)
          showToast({ kind: 'error', text: problem instanceof Error ? problem.message : String(problem) })
        })
        .finally(() => setQueued((waiting) => without(waiting, text)))
    },
    [id, sendMessage, leave, catchUp, began, choices, onRefused],
  )

  const edit = useCallback(
    (messageId: string, text: string) => {
      const old = latest.current.messages.find((message) => message.id === messageId)
      const files = old?.parts.filter((part): part is FileUIPart => part.type === 'file') ?? []
      sent.current = undefined
      void sendMessage({ text, files, messageId })
      began()
    },
    [sendMessage, began],
  )

  const retry = useCallback(
    (messageId?: string) => {
      sent.current = undefined
      void regenerate(messageId ? { messageId } : {})
      began()
    },
    [regenerate, began],
  )

  const goOn = useCallback(() => {
    void sendMessage()
    began()
  }, [sendMessage, began])

  // The stream itself says how it ended; the route only asks for it.
  const stop = useCallback(() => {
    void stopRun(id).catch(() => leave())
  }, [id, leave])

  const answer = useCallback(
    async (approvalId: string, given: Answer) => {
      await answerApproval(approvalId, given)
      await addToolApprovalResponse({ id: approvalId, approved: given.approved, ...(given.reason ? { reason: given.reason } : {}) })
      sessions.approvalAnswered(approvalId)
      // An "always" may have answered others with it.
      if (given.always) void sessions.refresh()
      tellTabs(id)
      if (!latest.current.busy) await resumeStream()
    },
    [id, addToolApprovalResponse, resumeStream],
  )

  // The stream brings the answers back as the result of the call, with references in place of secrets.
  const fillIn = useCallback(
    async (approvalId: string, given: UserAnswer) => {
      await answerInput(approvalId, given)
      sessions.approvalAnswered(approvalId)
      tellTabs(id)
      if (!latest.current.busy) await resumeStream()
    },
    [id, resumeStream],
  )

  const loadEarlier = useCallback(async () => {
    const first = latest.current.messages[0]
    if (!first) return
    const page = await fetchHistory(id, { limit: PAGE, before: first.id })
    setHasEarlier(page.length === PAGE)
    setMessages((present) => [...page, ...present])
  }, [id, setMessages])

  const switchBranch = useCallback(
    (messageId: string, revision: number) => {
      void chooseBranch(id, messageId, revision)
        .then(catchUp)
        .catch((problem: unknown) => {
          if (!isMissing(problem)) throw problem
        })
    },
    [id, catchUp],
  )

  const trouble = useMemo(() => (error && connection === 'fine' ? troubleOf(error) : undefined), [error, connection])
  return {
    id,
    messages,
    busy,
    waiting: status === 'submitted',
    trouble,
    connection,
    lanes,
    branches,
    queued,
    hasEarlier,
    loadEarlier,
    send,
    edit,
    retry,
    goOn,
    stop,
    answer,
    fillIn,
    switchBranch,
    dismissTrouble: clearError,
  }
}

/** The newest page in place of what is shown of it; earlier pages stay. */
export function joinHistory(present: ChatMessage[], page: ChatMessage[]): ChatMessage[] {
  const first = page[0]
  const at = first ? present.findIndex((message) => message.id === first.id) : -1
  return at === -1 ? page : [...present.slice(0, at), ...page]
}

function without(texts: readonly string[], text: string): readonly string[] {
  const at = texts.indexOf(text)
  return at === -1 ? texts : texts.filter((_, place) => place !== at)
}
