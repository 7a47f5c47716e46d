// What a person should know before they answer an approval. The list of approvals has it in short; the files that would
// be changed are asked for one approval at a time.

import { useEffect, useState } from 'react'
import { call, path } from '../api/client'
import type { AskedApproval, Question } from '../api/workspace-types'
import { sessions, useSessions } from '../sessions/sessions-store'
import { changesFiles } from './parts/file-tools'

/** `loading`: the files are still to come. */
export function useQuestion(approvalId: string, tool: string): { question: Question | undefined; loading: boolean } {
  const waiting = useSessions().approvals.find((one) => one.approval.id === approvalId)
  const known = waiting !== undefined
  const [asked, setAsked] = useState<Question>()
  const wanted = changesFiles(tool) && waiting?.question?.files === undefined
  const [loading, setLoading] = useState(wanted)
  useEffect(() => {
    if (!known) void sessions.refresh()
  }, [known])
  useEffect(() => {
    if (!wanted) return
    const gone = new AbortController()
    call<AskedApproval>('GET', path`/api/approvals/${approvalId}`, { signal: gone.signal }).then(
      ({ question }) => {
        setAsked(question)
        setLoading(false)
      },
      () => !gone.signal.aborted && setLoading(false),
    )
    return () => gone.abort()
  }, [approvalId, wanted])
  return { question: asked ?? waiting?.question, loading: loading && wanted }
}
