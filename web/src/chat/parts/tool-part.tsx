// A tool call: one line while it works and when it is done; input, result and error on demand. A call that waits for an
// approval is a card of its own.

import { Check, ChevronRight, CircleSlash, Wrench, X } from 'lucide-react'
import { useState } from 'react'
import type { FileDiff } from '../../api/workspace-types'
import { ChangeCounts } from '../../diff/change-mark'
import { formatDuration, useTexts, type Texts } from '../../i18n'
import { DataView, LongText } from '../../ui/data-view'
import { Spinner } from '../../ui/spinner'
import { toolName, type ToolPart } from '../message-types'
import { noteTiming } from '../timings'
import { Answered } from './answered'
import { ApprovalCard } from './approval-card'
import { CommandCard, hasCommandView } from './command-card'
import { FileToolResult, hasFileView } from './file-tool-result'
import { diffsOf, lineOf, shortPath } from './file-tools'
import { isRunning, outcome } from './outcome'
import { fieldOf, subjectOf, titleOf } from './tool-words'

interface ToolPartViewProps {
  part: ToolPart
  messageId: string
  /** What a person made of the input. */
  edited?: { input: unknown } | undefined
}

export function ToolPartView({ part, messageId, edited }: ToolPartViewProps) {
  const t = useTexts()
  const [open, setOpen] = useState(false)
  const running = isRunning(part)
  const took = noteTiming(`${messageId} ${part.toolCallId}`, running)
  if (part.state === 'approval-requested') return <ApprovalCard part={part} approvalId={part.approval.id} />
  if (hasCommandView({ part, edited })) return <CommandCard part={part} edited={edited} />
  const input: unknown = edited ? edited.input : part.input
  const output: unknown = part.state === 'output-available' ? part.output : undefined
  // The tools for files say what they did; the purpose that the model gave stands behind it.
  const line = lineOf({ tool: toolName(part), input, output, running }, t)
  const purpose = fieldOf(input, 'actionName')
  const diffs = diffsOf(output)
  return (
    <div className={`card tool tool-${outcome(part)}`}>
      <button type="button" className="card-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Mark part={part} />
        {line === undefined ? <span className="card-title">{titleOf(part, t)}</span> : <Line text={line} path={shortPath(fieldOf(input, 'path'))} />}
        {line === undefined ? <code className="card-code">{subjectOf(input) ?? toolName(part)}</code> : <span className="card-purpose">{purpose}</span>}
        <span className="card-note">
          {diffs && <ChangeCounts added={sum(diffs, 'added')} removed={sum(diffs, 'removed')} />}
          <span className={outcome(part) === 'done' ? 'sr-only' : undefined}>{stateText(part, t)}</span>
          {edited && <span>{t.inputEdited}</span>}
          {took !== undefined && <span>{formatDuration(took)}</span>}
        </span>
        <ChevronRight size={14} className={open ? 'turn turned' : 'turn'} aria-hidden />
      </button>
      {open && <Inside part={part} edited={edited} />}
    </div>
  )
}

/** A path that does not fit is cut at its beginning, so that the name of the file stays. */
function Line({ text, path }: { text: string; path: string | undefined }) {
  const at = path === undefined ? -1 : text.indexOf(path)
  if (path === undefined || at === -1) return <span className="card-title">{text}</span>
  return (
    <>
      <span className="sr-only">{text}</span>
      <span className="card-title card-line" aria-hidden>
        <span>{text.slice(0, at)}</span>
        <span className="path-folder">
          <bdi>{path}</bdi>
        </span>
        <span>{text.slice(at + path.length)}</span>
      </span>
    </>
  )
}

function Inside({ part, edited }: { part: ToolPart; edited: { input: unknown } | undefined }) {
  const t = useTexts()
  const input: unknown = part.input ?? ('rawInput' in part ? part.rawInput : undefined)
  const call = { tool: toolName(part), input: edited ? edited.input : input, output: part.state === 'output-available' ? part.output : undefined }
  if (hasFileView(call)) {
    return (
      <div className="card-body card-body-wide">
        <FileToolResult {...call} />
        {edited && <p className="quiet">{t.inputEdited}</p>}
        <Answered part={part} />
      </div>
    )
  }
  return (
    <div className="card-body">
      {edited && (
        <section>
          <h4>{t.editedInput}</h4>
          <DataView value={edited.input} />
        </section>
      )}
      <section>
        <h4>
          {edited ? t.askedInput : t.toolInput} <code>{toolName(part)}</code>
        </h4>
        {input === undefined || isEmpty(input) ? <p className="quiet">{t.noInput}</p> : <DataView value={input} />}
      </section>
      {part.state === 'output-available' && (
        <section>
          <h4>{t.toolOutput}</h4>
          {part.output == null ? <p className="quiet">{t.noOutput}</p> : <DataView value={part.output} />}
        </section>
      )}
      {part.state === 'output-error' && (
        <section className="card-error">
          <h4>{t.toolError}</h4>
          <LongText text={part.errorText} />
        </section>
      )}
      <Answered part={part} />
    </div>
  )
}

function Mark({ part }: { part: ToolPart }) {
  switch (outcome(part)) {
    case 'running':
      return <Spinner />
    case 'failed':
      return <X size={15} className="mark-danger" aria-hidden />
    case 'denied':
      return <CircleSlash size={15} className="mark-quiet" aria-hidden />
    case 'done':
      return <Check size={15} className="mark-ok" aria-hidden />
    case 'waiting':
      return <Wrench size={15} className="mark-quiet" aria-hidden />
  }
}

function stateText(part: ToolPart, t: Texts): string {
  switch (outcome(part)) {
    case 'running':
      return part.state === 'input-streaming' ? t.toolPreparing : part.state === 'approval-responded' ? t.toolApproved : t.toolRunning
    case 'waiting':
      return t.toolWaiting
    case 'done':
      return t.toolDone
    case 'failed':
      return t.toolFailed
    case 'denied':
      return t.toolDenied
  }
}

const sum = (files: readonly FileDiff[], field: 'added' | 'removed'): number => files.reduce((whole, file) => whole + file[field], 0)

const isEmpty = (value: unknown): boolean => typeof value === 'object' && value !== null && Object.keys(value).length === 0
