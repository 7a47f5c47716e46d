// What is known about the tools that run commands: the command of a call, and the report in its result. Results are read
// with care: a shape that is not known is left to the general view.

import type { CommandReport, OutputFile } from '../../api/workspace-types'
import { quoteWords } from '../../jobs/words'
import { isRecord } from './file-tools'

const RUNNERS = new Set(['shell', 'shell-command', 'exec-command', 'write-stdin'])

export const runsCommands = (tool: string): boolean => RUNNERS.has(tool)

export interface CommandCall {
  /** The line that runs; absent when keys go to a command that runs already. */
  line: string | undefined
  /** What is typed into the command `session`; empty: its output is looked at. */
  keys: string | undefined
  session: string | undefined
  workdir: string | undefined
}

/** Nothing while the field that matters has not arrived. */
export function commandOf(tool: string, input: unknown): CommandCall | undefined {
  if (!runsCommands(tool) || !isRecord(input)) return undefined
  const workdir = text(input.workdir)
  if (tool === 'write-stdin') {
    const session = text(input.sessionId)
    return session === undefined ? undefined : { line: undefined, keys: text(input.chars) ?? '', session, workdir: undefined }
  }
  const given = tool === 'exec-command' ? input.cmd : input.command
  const line = isWords(given) ? quoteWords(given) : text(given)
  return line === undefined ? undefined : { line, keys: undefined, session: undefined, workdir }
}

export const isWords = (value: unknown): value is string[] => Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === 'string')

export function reportOf(output: unknown): CommandReport | undefined {
  if (!isRecord(output) || typeof output.output !== 'string') return undefined
  const exitCode = number(output.exitCode)
  const signal = text(output.signal)
  const leftOutBytes = number(output.leftOutBytes)
  const artifact = fileOf(output.artifact)
  const sessionId = text(output.sessionId)
  const note = text(output.note)
  return {
    output: output.output,
    durationMs: number(output.durationMs) ?? 0,
    sandbox: text(output.sandbox) ?? '',
    timedOut: output.timedOut === true,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    ...(leftOutBytes === undefined ? {} : { leftOutBytes }),
    ...(artifact === undefined ? {} : { artifact }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(note === undefined ? {} : { note }),
  }
}

/** Only an address on this server. */
function fileOf(value: unknown): OutputFile | undefined {
  if (!isRecord(value)) return undefined
  const { id, name, bytes, url } = value
  if (typeof id !== 'string' || typeof name !== 'string' || typeof bytes !== 'number' || typeof url !== 'string') return undefined
  return /^\/(?!\/)/.test(url) ? { id, name, bytes, url } : undefined
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const number = (value: unknown): number | undefined => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)
