// What exactly will happen: changes to files, a command, an address; the remaining fields below it.

import type { FileDiff } from '../../api/workspace-types'
import { FileDiffs } from '../../diff/file-diffs'
import { looksLikeDiff, PatchText } from '../../diff/patch-text'
import { useTexts } from '../../i18n'
import { CommandText } from '../../jobs/command-text'
import { keyNames, quoteWords } from '../../jobs/words'
import { DataView } from '../../ui/data-view'
import { Spinner } from '../../ui/spinner'
import { commandOf, isWords } from './command-tools'
import { changesFiles, isRecord, plannedDiffs } from './file-tools'

interface ApprovalSubjectProps {
  tool: string
  input: unknown
  /** The changes as the server worked them out. */
  files?: FileDiff[] | undefined
  loading?: boolean
}

/** Fields that say nothing more than the diff of the files. */
const SHOWN_AS_DIFF = new Set(['path', 'content', 'edits', 'patch', 'diff'])

const COMMANDS = new Set(['command', 'cmd', 'script'])

export function ApprovalSubject({ tool, input, files, loading = false }: ApprovalSubjectProps) {
  const t = useTexts()
  if (!isRecord(input)) return input === undefined ? null : <DataView value={input} />
  if (loading) {
    return (
      <div className="subject subject-loading">
        <Spinner label={t.loading} />
      </div>
    )
  }
  const diffs = files && files.length > 0 ? files : changesFiles(tool) ? plannedDiffs(tool, input) : undefined
  const shown: React.ReactNode[] = []
  const rest: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(input)) {
    if (name === 'actionName' || value === undefined || value === null || (diffs && SHOWN_AS_DIFF.has(name))) continue
    if (typeof value === 'string' && (name === 'patch' || name === 'diff' || looksLikeDiff(value))) {
      shown.push(<PatchText key={name} text={value} />)
    } else if (COMMANDS.has(name) && (typeof value === 'string' || isWords(value))) {
      shown.push(<Command key={name} text={isWords(value) ? quoteWords(value) : value} />)
    } else if (name === 'chars' && typeof value === 'string' && commandOf(tool, input)) {
      shown.push(<Command key={name} text={keyNames(value)} mark="⌨" />)
    } else rest[name] = value
  }
  return (
    <div className="subject">
      {diffs && <FileDiffs files={diffs} />}
      {shown}
      {Object.keys(rest).length > 0 && <DataView value={rest} />}
    </div>
  )
}

/** The whole of it: nothing of what is approved may be out of sight. */
function Command({ text, mark = '$' }: { text: string; mark?: string }) {
  return (
    <pre className="command" tabIndex={0}>
      <span aria-hidden>{mark} </span>
      <CommandText text={text} />
    </pre>
  )
}
