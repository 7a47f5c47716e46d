// One command beside the chat: what it is, how it is doing, and its output or its terminal.

import { ArrowLeft, Square } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState } from 'react'
import { isMissing } from '../api/problem'
import type { Job } from '../api/workspace-types'
import { useTexts } from '../i18n'
import { Button, IconButton } from '../ui/button'
import { CopyButton } from '../ui/copy-button'
import { ErrorBoundary } from '../ui/error-boundary'
import { Spinner } from '../ui/spinner'
import { CommandText } from './command-text'
import { JobTime } from './job-row'
import { EndingLabel } from './job-state'
import { OutputView } from './output-view'
import { fetchJob } from './routes'
import { SandboxChip } from './sandbox-chip'
import { seen, type SeenJob } from './use-jobs'

const TerminalView = lazy(() => import('./terminal-view').then((module) => ({ default: module.TerminalView })))

interface JobViewProps {
  id: string
  /** As the list has it; absent when the list does not know it yet. */
  listed: SeenJob | undefined
  onBack: () => void
  onStop: (job: Job) => void
  /** The command has ended: the list is no longer right. */
  onEnded: () => void
}

export function JobView({ id, listed, onBack, onStop, onEnded }: JobViewProps) {
  const t = useTexts()
  const heading = useRef<HTMLHeadingElement>(null)
  const [found, setFound] = useState<SeenJob>()
  const [problem, setProblem] = useState<string>()
  const [tries, setTries] = useState(0)
  const [ended, setEnded] = useState<SeenJob>()
  const job = ended ?? listed ?? found
  const known = job !== undefined
  useEffect(() => {
    if (known) return
    const gone = new AbortController()
    setProblem(undefined)
    fetchJob(id, gone.signal).then(
      (fresh) => setFound(seen(fresh)),
      (error: unknown) => !gone.signal.aborted && setProblem(isMissing(error) ? t.jobGone : error instanceof Error ? error.message : String(error)),
    )
    return () => gone.abort()
  }, [id, known, tries, t])
  useEffect(() => heading.current?.focus(), [known])
  const end = (last: Job) => {
    setEnded(seen(last))
    onEnded()
  }
  return (
    <section className="job-view" aria-label={t.commandOf(job?.command ?? id)}>
      <header>
        <IconButton label={t.jobBack} size="small" onClick={onBack}>
          <ArrowLeft size={15} />
        </IconButton>
        <h2 ref={heading} tabIndex={-1}>
          <CommandText text={job?.command ?? ''} />
        </h2>
        {job && <CopyButton text={job.command} label={t.commandCopy} />}
        {job?.state === 'running' && (
          <Button onClick={() => onStop(job)}>
            <Square size={13} aria-hidden /> {t.jobStop}
          </Button>
        )}
      </header>
      {job && (
        <p className="command-facts" role="status">
          <EndingLabel ending={{ ...job, running: job.state === 'running' }} />
          <JobTime job={job} />
          <span>{t.commandIn(job.workdir)}</span>
          <SandboxChip sandbox={job.sandbox} />
        </p>
      )}
      {!job && problem === undefined && <Spinner label={t.loading} />}
      {!job && problem !== undefined && (
        <div className="notice notice-danger" role="alert">
          <p>{problem}</p>
          <Button onClick={() => setTries(tries + 1)}>{t.retry}</Button>
        </div>
      )}
      {job && !job.tty && <OutputView key={id} job={job} onEnded={end} />}
      {job?.tty && (
        <ErrorBoundary watch={id} fallback={() => <OutputView job={job} onEnded={end} />}>
          <Suspense fallback={<Spinner label={t.loading} />}>
            <TerminalView key={id} job={job} onEnded={end} onLeave={() => heading.current?.focus()} />
          </Suspense>
        </ErrorBoundary>
      )}
    </section>
  )
}
