// The result of a tool for files: the diff of what it changed, or the lines that it read.

import { FileDiffs } from '../../diff/file-diffs'
import { CodeLines } from '../../diff/code-lines'
import { useTexts } from '../../i18n'
import { diffsOf, isRecord, readLines } from './file-tools'
import { fieldOf } from './tool-words'

interface FileToolResultProps {
  tool: string
  input: unknown
  output: unknown
}

/** Whether there is more to show than input and result as data. */
export function hasFileView({ tool, input, output }: FileToolResultProps): boolean {
  if (output === undefined) return false
  return diffsOf(output) !== undefined || (tool === 'read-file' && readLines(output) !== undefined) || (tool === 'write-file' && contentOf(input) !== undefined)
}

export function FileToolResult({ tool, input, output }: FileToolResultProps) {
  const t = useTexts()
  const diffs = diffsOf(output)
  const path = fieldOf(input, 'path') ?? ''
  if (diffs) return <FileDiffs files={diffs} />
  const read = tool === 'read-file' ? readLines(output) : undefined
  if (read) {
    return (
      <>
        <CodeLines path={path} label={path} lines={read.lines} />
        {read.notes.map((note, at) => (
          <p key={at} className="quiet">{note}</p>
        ))}
      </>
    )
  }
  const content = contentOf(input)
  if (content === undefined) return null
  if (content === '') return <p className="quiet">{t.fileEmpty}</p>
  return <CodeLines path={path} label={path} lines={content.replace(/\n$/, '').split('\n').map((text, at) => ({ number: at + 1, text }))} />
}

function contentOf(input: unknown): string | undefined {
  return isRecord(input) && typeof input.content === 'string' ? input.content : undefined
}
