// A command that an agent ran or runs: the line, where, how it ended, what protected the machine, and the output.

import { CircleSlash, SquareTerminal, X } from 'lucide-react'
import { useState } from 'react'
import type { CommandReport } from '../../api/workspace-types'
import { formatDuration, useTexts, type Texts } from '../../i18n'
import { CommandText } from '../../jobs/command-text'
import { EndingLabel, EndingMark, type Ending } from '../../jobs/job-state'
import { useJobsNearby } from '../../jobs/jobs-context'
import { SandboxChip } from '../../jobs/sandbox-chip'
import { useElapsed } from '../../jobs/use-elapsed'
import type { SeenJob } from '../../jobs/use-jobs'
import { keyNames, shortLine } from '../../jobs/words'
import { Button, IconButton } from '../../ui/button'
import { CopyButton } from '../../ui/copy-button'
import { LongText } from '../../ui/data-view'
import { Spinner } from '../../ui/spinner'
import { toolName, type ToolPart } from '../message-types'
import { Answered } from './answered'
import { CommandOutput } from './command-output'
import { commandOf, reportOf, runsCommands, type CommandCall } from './command-tools'
import { outcome } from './outcome'
import { fieldOf } from './tool-words'

interface CommandCardProps {
  part: ToolPart
  /** What a person made of the input. */
  edited?: { input: unknown } | undefined
}

/** Whether this call can be shown as a command; input and results of another shape are data. */
export function hasCommandView({ part, edited }: CommandCardProps): boolean {
  const tool = toolName(part)
  if (!runsCommands(tool) || part.state === 'approval-requested') return false
  if (commandOf(tool, edited ? edited.input : part.input) === undefined) return false
  return part.state !== 'output-available' || reportOf(part.output) !== undefined
}

export function CommandCard({ part, edited }: CommandCardProps) {
  const t = useTexts()
  const { list } = useJobsNearby()
  const input: unknown = edited ? edited.input : part.input
  const call = commandOf(toolName(part), input)
  if (!call) return null
  const report = part.state === 'output-available' ? reportOf(part.output) : undefined
  const session = call.session ?? report?.sessionId
  const job = list.find((one) => (session === undefined ? one.toolCallId === part.toolCallId : one.id === session))
  const title = titleOf(call, job, t)
  const state = outcome(part)
  const running = state === 'running'
  return (
    <div className={`card tool command-card tool-${state}`} role="group" aria-label={t.commandOf(shortLine(title))}>
      <Head part={part} call={call} job={job} report={report} title={title} />
      <Facts part={part} call={call} job={job} report={report} edited={edited !== undefined} purpose={fieldOf(input, 'actionName')} />
      {report?.note && <p className="output-note">{report.note}</p>}
      {report && <CommandOutput report={report} running={running} label={t.outputOf(shortLine(title))} />}
      {part.state === 'output-error' && (
        <div className="card-body card-error">
          <LongText text={part.errorText} />
        </div>
      )}
      {state === 'denied' && (
        <div className="card-body">
          <Answered part={part} />
        </div>
      )}
    </div>
  )
}

interface HeadProps {
  part: ToolPart
  call: CommandCall
  job: SeenJob | undefined
  report: CommandReport | undefined
}

/** Longer commands are folded. */
const LONG = 240
const MANY_LINES = 4

function Head({ part, call, job, report, title }: HeadProps & { title: string }) {
  const t = useTexts()
  const { show } = useJobsNearby()
  const [whole, setWhole] = useState(false)
  const long = title.length > LONG || title.split('\n').length > MANY_LINES
  const id = job?.id ?? report?.sessionId
  return (
    <div className="command-head">
      <Mark part={part} report={report} />
      <div className="command-what">
        <pre className={long && !whole ? 'command-line command-folded' : 'command-line'}>
          {call.line !== undefined && <span className="prompt" aria-hidden>$ </span>}
          <CommandText text={title} />
        </pre>
        {long && (
          <Button kind="quiet" aria-expanded={whole} onClick={() => setWhole(!whole)}>
            {whole ? t.showLess : t.commandWhole}
          </Button>
        )}
      </div>
      <span className="command-tools">
        {call.line !== undefined && <CopyButton text={call.line} label={t.commandCopy} />}
        {show && id !== undefined && (
          <IconButton label={job?.tty ? t.terminalOpen : t.outputOpen} size="small" onClick={() => show(id)}>
            <SquareTerminal size={15} />
          </IconButton>
        )}
      </span>
    </div>
  )
}

function Facts({ part, call, job, report, edited, purpose }: HeadProps & { edited: boolean; purpose: string | undefined }) {
  const t = useTexts()
  const workdir = call.workdir ?? job?.workdir
  const state = outcome(part)
  return (
    <p className="command-facts">
      {report || state === 'running' ? <Result part={part} job={job} report={report} /> : <span>{state === 'failed' ? t.toolFailed : t.toolDenied}</span>}
      {edited && <span>{t.inputEdited}</span>}
      {workdir !== undefined && (
        <span>
          <CommandText text={t.commandIn(workdir)} />
        </span>
      )}
      {report && <SandboxChip sandbox={report.sandbox} />}
      {purpose !== undefined && <span className="command-purpose">{purpose}</span>}
    </p>
  )
}

/** How it ended and how long it took; while it runs, the time goes on. */
function Result({ part, job, report }: Omit<HeadProps, 'call'>) {
  const t = useTexts()
  const [firstSeen] = useState(() => Date.now() - (report?.durationMs ?? 0))
  const running = outcome(part) === 'running'
  const elapsed = useElapsed(job?.begun ?? firstSeen, running)
  if (running) {
    return (
      <>
        <span>{part.state === 'input-streaming' ? t.toolPreparing : part.state === 'approval-responded' ? t.toolApproved : t.toolRunning}</span>
        {part.state !== 'input-streaming' && elapsed >= 1000 && <span>{formatDuration(Math.floor(elapsed / 1000) * 1000)}</span>}
      </>
    )
  }
  if (!report) return null
  // After the call the command may have ended.
  const later = goesOn(report) && job?.state === 'ended' ? job : undefined
  return (
    <>
      {goesOn(report) && !later ? <span>{t.commandStillRuns}</span> : <EndingLabel ending={endingOf(later ?? report)} />}
      <span>{formatDuration(report.durationMs)}</span>
    </>
  )
}

function Mark({ part, report }: { part: ToolPart; report: CommandReport | undefined }) {
  switch (outcome(part)) {
    case 'running':
    case 'waiting':
      return <Spinner />
    case 'failed':
      return <X size={15} className="mark-danger" aria-hidden />
    case 'denied':
      return <CircleSlash size={15} className="mark-quiet" aria-hidden />
    case 'done':
      return !report || goesOn(report) ? <SquareTerminal size={15} className="mark-quiet" aria-hidden /> : <EndingMark ending={endingOf(report)} />
  }
}

/** The call has returned, the command has not. */
const goesOn = (report: CommandReport): boolean => report.sessionId !== undefined && report.exitCode === undefined && report.signal === undefined && report.timedOut !== true

const endingOf = ({ exitCode, signal, timedOut }: Omit<Ending, 'running'>): Ending => ({ running: false, exitCode, signal, timedOut })

function titleOf(call: CommandCall, job: SeenJob | undefined, t: Texts): string {
  if (call.line !== undefined) return call.line
  const what = call.keys ? t.commandTyping(keyNames(call.keys)) : t.commandLooking
  return job ? `${what} · ${shortLine(job.command)}` : what
}
