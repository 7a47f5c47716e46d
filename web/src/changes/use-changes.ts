// The changes of one chat, fetched again whenever a call that changes files has settled.

import { useCallback, useEffect, useState } from 'react'
import { isMissing } from '../api/problem'
import type { ChangeList } from '../api/workspace-types'
import { isToolPart, nestedMessage, toolName, type ChatMessage } from '../chat/message-types'
import { runsCommands } from '../chat/parts/command-tools'
import { changesFiles, diffsOf } from '../chat/parts/file-tools'
import type { SubAgentLanes } from '../chat/sub-agent-lane'
import { fetchChanges } from './routes'

export interface Changes {
  /** Stays while it is fetched again. */
  list: ChangeList | undefined
  /** Why the last fetch failed. */
  problem: string | undefined
  refresh: () => void
}

const NONE: ChangeList = { files: [], runs: [], changes: [] }

/** `signal`: fetched again when it differs. Not `on`: nothing is fetched. */
export function useChanges(chatId: string, on: boolean, signal: string): Changes {
  const [list, setList] = useState<ChangeList>()
  const [problem, setProblem] = useState<string>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (!on) return
    const gone = new AbortController()
    fetchChanges(chatId, gone.signal).then(
      (fresh) => {
        setList(fresh)
        setProblem(undefined)
      },
      (error: unknown) => {
        if (gone.signal.aborted) return
        // A chat that is not stored yet has changed nothing.
        if (isMissing(error)) setList(NONE)
        setProblem(isMissing(error) ? undefined : error instanceof Error ? error.message : String(error))
      },
    )
    return () => gone.abort()
  }, [chatId, on, signal, tries])
  const refresh = useCallback(() => setTries((count) => count + 1), [])
  return { list, problem, refresh }
}

const DEEPEST = 8

/** How many calls of a conversation have changed files or may have, as commands do; sub-agents included. */
export function countFileChanges(messages: readonly ChatMessage[], lanes: SubAgentLanes): number {
  const countIn = (message: ChatMessage, depth: number): number =>
    message.parts.reduce((sum, part) => {
      if (!isToolPart(part)) return sum
      const settled = part.state === 'output-available' && !part.preliminary
      const own = settled && (changesFiles(toolName(part)) || runsCommands(toolName(part)) || diffsOf(part.output) !== undefined) ? 1 : 0
      const inner = depth < DEEPEST ? (nestedMessage(part) ?? lanes.message(message.id, part.toolCallId)) : undefined
      return sum + own + (inner ? countIn(inner, depth + 1) : 0)
    }, 0)
  return messages.reduce((sum, message) => sum + countIn(message, 0), 0)
}
