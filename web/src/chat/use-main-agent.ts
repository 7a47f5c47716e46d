// The main agent of a chat. The server keeps it with the chat, so it is the same after a reload, in other tabs and for other
// clients. What a person chooses here goes out with the next message; from then on the server's word counts again.

import { useCallback, useEffect, useRef, useState } from 'react'
import type { SessionInfo } from '../api/types.gen'

export interface MainAgentChoice {
  /** The agent that answers next; nothing while the server has not said so. */
  shown: string | undefined
  choose: (name: string) => void
  /** What a message that goes out now says about the agent: only another one than the chat has. */
  forMessage: () => string | undefined
}

/** `first`: the agent that a new chat begins with. */
export function useMainAgent(info: SessionInfo | undefined, first: string | undefined): MainAgentChoice {
  const [choice, setChoice] = useState(first)
  const stored = info?.agentId
  const updatedAt = info?.updatedAt ?? 0
  const latest = useRef({ choice, stored, updatedAt })
  latest.current = { choice, stored, updatedAt }
  /** The state of the chat when a message took the choice along. */
  const sentAt = useRef<number | undefined>(undefined)

  // A refused message changes nothing on the server: the choice stays for the next one.
  useEffect(() => {
    if (choice === undefined) return
    const isTaken = sentAt.current !== undefined && updatedAt > sentAt.current
    if (stored !== choice && !isTaken) return
    sentAt.current = undefined
    setChoice(undefined)
  }, [choice, stored, updatedAt])

  const choose = useCallback((name: string) => {
    sentAt.current = undefined
    // Also for a message that goes out before the next render.
    latest.current.choice = name
    setChoice(name)
  }, [])
  const forMessage = useCallback(() => {
    const now = latest.current
    if (now.choice === undefined || now.choice === now.stored) return undefined
    sentAt.current ??= now.updatedAt
    return now.choice
  }, [])
  return { shown: choice ?? stored, choose, forMessage }
}
