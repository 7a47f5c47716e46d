// What is known about the tools for files: the line that says what a call did, and the changes in its result. Results
// are read with care: a shape that is not known is left to the general view.

import type { FileDiff } from '../../api/workspace-types'
import { formatSize, type Texts } from '../../i18n'
import { fieldOf } from './tool-words'

const WRITERS = new Set(['write-file', 'edit-file', 'apply-patch'])

/** Whether an approval of this tool shows a diff. */
export const changesFiles = (tool: string): boolean => WRITERS.has(tool)

export interface FileToolCall {
  tool: string
  input: unknown
  /** Absent until the call is done. */
  output?: unknown
  running: boolean
}

/** `Read src/main.rs, lines 1–80`: nothing for other tools and for input without the field that matters. */
export function lineOf(call: FileToolCall, t: Texts): string | undefined {
  const { tool, input, output, running } = call
  const path = shortPath(fieldOf(input, 'path'))
  switch (tool) {
    case 'read-file': {
      if (path === undefined) return undefined
      const lines = readLines(output)?.lines
      return running ? t.fileReading(path) : lines ? t.fileRead(path, lines[0]?.number ?? 1, lines.at(-1)?.number ?? 1) : t.fileReadAll(path)
    }
    case 'list-dir':
      return running ? t.folderListing(path ?? '.') : t.folderListed(path ?? '.', countOf(output, ['entries', 'items']))
    case 'grep-files':
    case 'glob-files': {
      const pattern = fieldOf(input, 'pattern')
      if (pattern === undefined) return undefined
      const short = pattern.length > 60 ? `${pattern.slice(0, 59)}…` : pattern
      return running ? t.filesSearching(short) : t.filesSearched(short, countOf(output, ['files', 'paths', 'matches', 'lines']), isRecord(output) && !Array.isArray(output.files) && !Array.isArray(output.paths))
    }
    case 'write-file': {
      if (path === undefined) return undefined
      if (running) return t.fileWriting(path)
      if (!isRecord(output)) return t.fileWriteAsked(path)
      const size = typeof output.bytes === 'number' ? formatSize(output.bytes) : undefined
      return output.created === true ? t.fileCreated(path, size) : t.fileWritten(path, size)
    }
    case 'edit-file':
      if (path === undefined) return undefined
      return running ? t.fileEditing(path) : output === undefined ? t.fileEditAsked(path) : t.fileEdited(path)
    case 'apply-patch': {
      if (running) return t.patchApplying
      const files = diffsOf(output)
      const [only] = files ?? []
      if (!files || !only) return t.patchAsked
      return files.length > 1 ? t.patchApplied(files.length) : only.kind === 'created' ? t.fileCreated(only.path) : only.kind === 'deleted' ? t.fileDeleted(only.path) : t.fileEdited(only.path)
    }
    default:
      return undefined
  }
}

/** The changes that the result of any tool carries. */
export function diffsOf(output: unknown): FileDiff[] | undefined {
  if (!isRecord(output) || !Array.isArray(output.files)) return undefined
  const files = output.files.filter(isFileDiff)
  return files.length > 0 && files.length === output.files.length ? files : undefined
}

function isFileDiff(value: unknown): value is FileDiff {
  return (
    isRecord(value) &&
    typeof value.path === 'string' &&
    (value.kind === 'created' || value.kind === 'modified' || value.kind === 'deleted') &&
    typeof value.added === 'number' &&
    typeof value.removed === 'number' &&
    typeof value.diff === 'string' &&
    (value.from === undefined || typeof value.from === 'string')
  )
}

/** The changes as far as the input alone tells them; line numbers are not known then. */
export function plannedDiffs(tool: string, input: unknown): FileDiff[] | undefined {
  const path = fieldOf(input, 'path')
  if (!isRecord(input) || path === undefined || tool !== 'edit-file' || !Array.isArray(input.edits)) return undefined
  const edits = input.edits.filter((edit): edit is Record<string, string> => isRecord(edit) && typeof edit.oldText === 'string' && typeof edit.newText === 'string')
  if (edits.length === 0 || edits.length !== input.edits.length) return undefined
  const parts = edits.map((edit) => ({ old: linesOf(edit.oldText ?? ''), now: linesOf(edit.newText ?? '') }))
  return [
    {
      path,
      kind: 'modified',
      added: parts.reduce((sum, part) => sum + part.now.length, 0),
      removed: parts.reduce((sum, part) => sum + part.old.length, 0),
      diff: parts.map(({ old, now }) => ['@@ -0 +0 @@', ...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)].join('\n')).join('\n'),
    },
  ]
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

export interface ReadLine {
  number: number
  text: string
}

const MOST_NOTES = 3

/** Lines that a result numbers as `L12: text`, and the few others around them; nothing when it is no such result. */
export function readLines(output: unknown): { lines: ReadLine[]; notes: string[] } | undefined {
  const text = textOf(output)
  if (text === undefined) return undefined
  const lines: ReadLine[] = []
  const notes: string[] = []
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const found = /^L(\d+): ?(.*)$/s.exec(line)
    if (found) lines.push({ number: Number(found[1]), text: found[2] ?? '' })
    else if (line.trim() !== '') notes.push(line)
  }
  return lines.length > 0 && notes.length <= MOST_NOTES ? { lines, notes } : undefined
}

export function textOf(output: unknown): string | undefined {
  if (typeof output === 'string') return output
  return isRecord(output) && typeof output.text === 'string' ? output.text : undefined
}

/** How many things a result lists, where it says so. */
function countOf(output: unknown, names: readonly string[]): number | undefined {
  if (Array.isArray(output)) return output.length
  if (!isRecord(output)) return undefined
  for (const name of ['total', 'count']) if (typeof output[name] === 'number') return output[name]
  for (const name of names) {
    const list = output[name]
    if (Array.isArray(list)) return list.length
  }
  return undefined
}

/** Relative to the work directory, as people write it. */
export function shortPath(path: string | undefined): string | undefined {
  const short = path?.replace(/^\/workspace\/?/, '').replace(/^\.\//, '')
  return short === '' ? '.' : short
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
