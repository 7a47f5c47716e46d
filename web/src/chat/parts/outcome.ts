// What has become of a call.

import type { ToolPart } from '../message-types'

export type Outcome = 'running' | 'waiting' | 'done' | 'failed' | 'denied'

export function outcome(part: ToolPart): Outcome {
  switch (part.state) {
    case 'input-streaming':
    case 'input-available':
      return 'running'
    case 'approval-requested':
      return 'waiting'
    case 'approval-responded':
      return part.approval.approved ? 'running' : 'denied'
    case 'output-available':
      return part.preliminary ? 'running' : 'done'
    case 'output-error':
      return 'failed'
    case 'output-denied':
      return 'denied'
  }
}

export const isRunning = (part: ToolPart): boolean => outcome(part) === 'running'
