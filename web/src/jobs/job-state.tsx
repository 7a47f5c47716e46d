// How a command is doing or how it ended, as a mark and in words.

import { Check, X } from 'lucide-react'
import { useTexts, type Texts } from '../i18n'
import { Spinner } from '../ui/spinner'

/** What a job and the report of a call have in common. */
export interface Ending {
  running: boolean
  exitCode?: number | undefined
  signal?: string | undefined
  timedOut?: boolean | undefined
}

export function endingText({ running, exitCode, signal, timedOut }: Ending, t: Texts): string {
  if (running) return t.toolRunning
  if (timedOut) return t.commandTimedOut
  if (signal !== undefined) return t.commandSignal(signal)
  return exitCode === undefined ? t.commandEnded : t.commandExit(exitCode)
}

export type Tone = 'ok' | 'danger' | 'quiet'

export function endingTone({ running, exitCode, signal, timedOut }: Ending): Tone {
  if (running) return 'quiet'
  if (timedOut || signal !== undefined) return 'danger'
  return exitCode === undefined ? 'quiet' : exitCode === 0 ? 'ok' : 'danger'
}

export function EndingMark({ ending }: { ending: Ending }) {
  if (ending.running) return <Spinner />
  return endingTone(ending) === 'danger' ? <X size={15} className="mark-danger" aria-hidden /> : <Check size={15} className="mark-ok" aria-hidden />
}

/** The words as a small label: green, red, or quiet while it runs. */
export function EndingLabel({ ending }: { ending: Ending }) {
  const t = useTexts()
  return <span className={`ending ending-${endingTone(ending)}`}>{endingText(ending, t)}</span>
}
