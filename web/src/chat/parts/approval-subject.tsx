// What exactly will happen: a command, a change to a file, an address; the remaining fields below it.

import { DataView } from '../../ui/data-view'
import { DiffView, looksLikeDiff } from './diff-view'

export function ApprovalSubject({ input }: { input: unknown }) {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return input === undefined ? null : <DataView value={input} />
  }
  const { actionName: _purpose, ...fields } = input as Record<string, unknown>
  const shown: React.ReactNode[] = []
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string' && (name === 'patch' || name === 'diff' || looksLikeDiff(value))) {
      shown.push(<DiffView key={name} text={value} />)
    } else if (typeof value === 'string' && (name === 'command' || name === 'cmd' || name === 'script')) {
      shown.push(
        <pre key={name} className="command" tabIndex={0}>
          <span aria-hidden>$ </span>
          {value}
        </pre>,
      )
    } else if (value !== undefined && value !== null) rest[name] = value
  }
  return (
    <div className="subject">
      {shown}
      {Object.keys(rest).length > 0 && <DataView value={rest} />}
    </div>
  )
}
