// How an agent is doing, as a word and as a mark.

import { Check, CircleSlash, Clock, X } from 'lucide-react'
import { useTexts, type Texts } from '../../i18n'
import { Spinner } from '../../ui/spinner'

export function agentStateText(state: string, t: Texts): string {
  const words: Record<string, string> = {
    running: t.stateRunning,
    waiting: t.stateWaiting,
    queued: t.stateQueued,
    finished: t.stateFinished,
    done: t.stateFinished,
    failed: t.stateFailed,
    cancelled: t.stateCancelled,
    denied: t.toolDenied,
  }
  return words[state] ?? state
}

export function AgentStateMark({ state }: { state: string }) {
  const t = useTexts()
  const label = agentStateText(state, t)
  switch (state) {
    case 'running':
      return <Spinner label={label} />
    case 'waiting':
    case 'queued':
      return <Clock size={15} className="mark-warn" role="img" aria-label={label} />
    case 'failed':
      return <X size={15} className="mark-danger" role="img" aria-label={label} />
    case 'cancelled':
    case 'denied':
      return <CircleSlash size={15} className="mark-quiet" role="img" aria-label={label} />
    default:
      return <Check size={15} className="mark-ok" role="img" aria-label={label} />
  }
}
