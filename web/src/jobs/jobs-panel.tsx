// The commands of a chat: those that run, those that have ended, and the output of the one that was chosen.

import { SquareTerminal } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import type { Job } from '../api/workspace-types'
import { useTexts } from '../i18n'
import { Button } from '../ui/button'
import { Spinner } from '../ui/spinner'
import { JobRow } from './job-row'
import { JobView } from './job-view'
import { useJobsNearby } from './jobs-context'
import { StopDialog } from './stop-dialog'
import type { Jobs } from './use-jobs'

export function JobsPanel({ jobs: { list, problem, refresh } }: { jobs: Jobs }) {
  const t = useTexts()
  const { shown, show } = useJobsNearby()
  const [stopping, setStopping] = useState<Job>()
  const pane = useRef<HTMLDivElement>(null)
  const last = useRef(shown)
  // Back in the list, the focus is where it was.
  useEffect(() => {
    if (shown === undefined && last.current !== undefined) pane.current?.querySelector<HTMLElement>(`[data-job="${CSS.escape(last.current)}"]`)?.focus()
    last.current = shown
  }, [shown])
  const dialog = <StopDialog job={stopping} onClose={() => setStopping(undefined)} onStopped={refresh} />
  if (shown !== undefined) {
    return (
      <div className="panel-content panel-fill">
        <JobView key={shown} id={shown} listed={list?.find((job) => job.id === shown)} onBack={() => show?.(undefined)} onStop={setStopping} onEnded={refresh} />
        {dialog}
      </div>
    )
  }
  return (
    <div className="panel-content jobs" ref={pane}>
      {problem !== undefined && (
        <div className="notice notice-danger" role="alert">
          <p>
            <strong>{t.commandsFailed}</strong> {problem}
          </p>
          <Button onClick={refresh}>{t.retry}</Button>
        </div>
      )}
      {!list && problem === undefined && <Spinner label={t.loading} />}
      {list?.length === 0 && (
        <div className="panel-nothing">
          <SquareTerminal size={22} aria-hidden />
          <p>{t.commandsNone}</p>
        </div>
      )}
      {list && list.length > 0 && (
        <ul className="job-list" aria-label={t.commands}>
          {list.map((job) => (
            <JobRow key={job.id} job={job} onOpen={() => show?.(job.id)} onStop={() => setStopping(job)} />
          ))}
        </ul>
      )}
      {dialog}
    </div>
  )
}
