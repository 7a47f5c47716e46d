// The output of a command without a terminal, with its colours. Stays at the newest line until somebody scrolls up.

import { useLayoutEffect, useRef } from 'react'
import { AnsiLines } from '../ansi/ansi-lines'
import type { Job } from '../api/workspace-types'
import { formatSize, useTexts } from '../i18n'
import { Spinner } from '../ui/spinner'
import { useOutput } from './use-output'
import { shortLine } from './words'

interface OutputViewProps {
  job: Job
  onEnded: (job: Job) => void
}

/** So near to the end counts as at the end. */
const NEAR = 24

export function OutputView({ job, onEnded }: OutputViewProps) {
  const t = useTexts()
  const { lines, dropped, gap, loading, lost, gone, problem } = useOutput(job.id, onEnded)
  const box = useRef<HTMLPreElement>(null)
  const atEnd = useRef(true)
  useLayoutEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
  }, [lines])
  if (problem !== undefined) {
    return (
      <div className="notice notice-danger" role="alert">
        <p>{gone ? t.jobGone : problem}</p>
      </div>
    )
  }
  const running = job.state === 'running'
  return (
    <>
      {lost && (
        <p className="job-lost" role="status">
          {t.reconnecting}
        </p>
      )}
      {gap > 0 && <p className="output-note">{t.outputGap(formatSize(gap))}</p>}
      {dropped > 0 && <p className="output-note">{t.outputEarlier(dropped)}</p>}
      {lines.length === 0 ? (
        loading && !running ? (
          <Spinner label={t.loading} />
        ) : (
          <p className="output-note">{running ? t.outputNoneYet : t.outputNone}</p>
        )
      ) : (
        <pre
          ref={box}
          className="output job-output"
          role="region"
          aria-label={t.outputOf(shortLine(job.command))}
          tabIndex={0}
          onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
            atEnd.current = scrollHeight - scrollTop - clientHeight < NEAR
          }}
        >
          <AnsiLines lines={lines} />
        </pre>
      )}
    </>
  )
}
