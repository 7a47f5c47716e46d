// The commands of one chat, fetched again while one runs and whenever a call has begun or ended.

import { useCallback, useEffect, useState } from 'react'
import { isMissing } from '../api/problem'
import type { Job } from '../api/workspace-types'
import { isToolPart, nestedMessage, toolName, type ChatMessage } from '../chat/message-types'
import { runsCommands } from '../chat/parts/command-tools'
import { isRunning } from '../chat/parts/outcome'
import type { SubAgentLanes } from '../chat/sub-agent-lane'
import { fetchJobs } from './routes'

/** A command, and when it began by the clock of this browser. */
export interface SeenJob extends Job {
  begun: number
}

export interface Jobs {
  /** Running ones first, then the newest. Stays while it is fetched again. */
  list: readonly SeenJob[] | undefined
  /** Why the last fetch failed. */
  problem: string | undefined
  refresh: () => void
}

const BUSY_PAUSE = 2000

/** `signal`: fetched again when it differs. Not `on`: nothing is fetched. `expected`: a call is under way whose command may not be listed yet. */
export function useJobs(chatId: string, on: boolean, signal: string, expected = false): Jobs {
  const [list, setList] = useState<readonly SeenJob[]>()
  const [problem, setProblem] = useState<string>()
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (!on) return
    const gone = new AbortController()
    fetchJobs(chatId, gone.signal).then(
      (jobs) => {
        setList(inOrder(jobs.map(seen)))
        setProblem(undefined)
      },
      (error: unknown) => {
        if (gone.signal.aborted) return
        // A chat that is not stored yet has run nothing.
        if (isMissing(error)) setList([])
        setProblem(isMissing(error) ? undefined : error instanceof Error ? error.message : String(error))
      },
    )
    return () => gone.abort()
  }, [chatId, on, signal, tries])
  const refresh = useCallback(() => setTries((count) => count + 1), [])
  const running = expected || (list?.some((job) => job.state === 'running') ?? false)
  useEffect(() => {
    if (!on || !running) return
    const timer = setInterval(() => document.visibilityState === 'visible' && refresh(), BUSY_PAUSE)
    return () => clearInterval(timer)
  }, [on, running, refresh])
  return { list, problem, refresh }
}

/** The clocks of server and browser may differ; how long it has run does not. */
export const seen = (job: Job): SeenJob => ({ ...job, begun: Date.now() - job.durationMs })

const inOrder = (jobs: readonly SeenJob[]): SeenJob[] => jobs.toSorted((a, b) => Number(b.state === 'running') - Number(a.state === 'running') || b.startedAt - a.startedAt)

const DEEPEST = 8

/** How many calls of a conversation run commands and how many of them have settled, sub-agents included. */
export function countCommands(messages: readonly ChatMessage[], lanes: SubAgentLanes): { calls: number; settled: number } {
  const count = { calls: 0, settled: 0 }
  const countIn = (message: ChatMessage, depth: number): void => {
    for (const part of message.parts) {
      if (!isToolPart(part)) continue
      if (runsCommands(toolName(part)) && part.state !== 'input-streaming' && part.state !== 'approval-requested') {
        count.calls++
        if (!isRunning(part)) count.settled++
      }
      const inner = depth < DEEPEST ? (nestedMessage(part) ?? lanes.message(message.id, part.toolCallId)) : undefined
      if (inner) countIn(inner, depth + 1)
    }
  }
  for (const message of messages) countIn(message, 0)
  return count
}
