// The terminal of a command that a person can watch and type into. Loaded when the first one is opened.

import '@xterm/xterm/css/xterm.css'
import { useRef } from 'react'
import type { Job } from '../api/workspace-types'
import { formatSize, useTexts } from '../i18n'
import { useTerminal } from './use-terminal'
import { shortLine } from './words'

interface TerminalViewProps {
  job: Job
  onEnded: (job: Job) => void
  onLeave: () => void
}

export function TerminalView({ job, onEnded, onLeave }: TerminalViewProps) {
  const t = useTexts()
  const place = useRef<HTMLDivElement>(null)
  const { gap, lost, gone, problem, notSent } = useTerminal(place, job, { onEnded, onLeave, inputLabel: t.terminalInput })
  return (
    <>
      {problem !== undefined && (
        <div className="notice notice-danger" role="alert">
          <p>{gone ? t.jobGone : problem}</p>
        </div>
      )}
      {gap > 0 && <p className="output-note">{t.outputGap(formatSize(gap))}</p>}
      {/* What is typed here is meant for the command, not for the page. */}
      <div className="terminal-frame" role="group" aria-label={t.terminalOf(shortLine(job.command))} onKeyDown={(event) => event.stopPropagation()}>
        <div ref={place} className="terminal" />
        {/* Above the terminal: beside it, they would change its size, and the command would draw again. */}
        <div className="terminal-notices">
          {lost && (
            <p className="job-lost" role="status">
              {t.reconnecting}
            </p>
          )}
          {notSent !== undefined && (
            <p className="complaint" role="alert">
              {t.terminalNotSent} {notSent}
            </p>
          )}
        </div>
      </div>
      {job.state === 'running' && <p className="output-note">{t.terminalHint}</p>}
    </>
  )
}
