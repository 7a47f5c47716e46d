// One command in the list: how it is doing, the line, and the way to its output.

import { Square, SquareTerminal } from 'lucide-react'
import { formatDuration, formatSize, useTexts } from '../i18n'
import { IconButton } from '../ui/button'
import { CommandText } from './command-text'
import { EndingLabel, EndingMark } from './job-state'
import { useElapsed } from './use-elapsed'
import type { SeenJob } from './use-jobs'
import { shortLine } from './words'

interface JobRowProps {
  job: SeenJob
  onOpen: () => void
  onStop: () => void
}

export function JobRow({ job, onOpen, onStop }: JobRowProps) {
  const t = useTexts()
  const running = job.state === 'running'
  return (
    <li className="job">
      <button type="button" className="job-open" data-job={job.id} onClick={onOpen}>
        <EndingMark ending={{ ...job, running }} />
        <code className="job-command">
          <CommandText text={job.command} />
        </code>
        <span className="job-facts">
          <EndingLabel ending={{ ...job, running }} />
          <JobTime job={job} />
          <span>{t.commandIn(job.workdir)}</span>
          {job.tty && (
            <span>
              <SquareTerminal size={12} aria-hidden /> {t.jobTerminal}
            </span>
          )}
          {job.outputBytes > 0 && <span>{t.outputBytes(formatSize(job.outputBytes))}</span>}
        </span>
      </button>
      {running && (
        <IconButton label={t.jobStopOf(shortLine(job.command))} size="small" onClick={onStop}>
          <Square size={13} />
        </IconButton>
      )}
    </li>
  )
}

/** Goes on every second while the command runs. */
export function JobTime({ job }: { job: SeenJob }) {
  const running = job.state === 'running'
  const elapsed = useElapsed(job.begun, running)
  return <span className="job-time">{formatDuration(running ? Math.max(1000, Math.floor(elapsed / 1000) * 1000) : job.durationMs)}</span>
}
