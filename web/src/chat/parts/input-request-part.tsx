// A call by which an agent asks the person for input: a form while it waits, question and answers in short afterwards.

import { useEffect } from 'react'
import type { WaitingApproval } from '../../api/workspace-types'
import { sessions, useSessions } from '../../sessions/sessions-store'
import { useSurroundings } from '../chat-context'
import { toolName, type ToolPart } from '../message-types'
import { AnsweredInput } from './answered-input'
import { InputRequestCard } from './input-request-card'
import { ToolPartView } from './tool-part'

export const isInputRequest = (part: ToolPart): boolean => toolName(part) === 'request-user-input'

interface InputRequestPartProps {
  part: ToolPart
  messageId: string
  /** The call of a sub-agent that this one is a copy of. */
  raised?: string | undefined
}

export function InputRequestPart({ part, messageId, raised }: InputRequestPartProps) {
  const { readOnly, fillIn } = useSurroundings()
  const { approvals } = useSessions()
  const open = part.state === 'input-available'
  const waiting = open ? pendingOf(approvals, messageId, raised ?? part.toolCallId) : undefined
  const known = waiting !== undefined
  useEffect(() => {
    if (open && !known) void sessions.refresh()
  }, [open, known])
  const form = waiting?.question?.form
  if (waiting && form) return <InputRequestCard form={form} readOnly={readOnly} onAnswer={(answer) => fillIn(waiting.approval.id, answer)} />
  if (part.state === 'output-available') return <AnsweredInput input={part.input} output={part.output} />
  return <ToolPartView part={part} messageId={messageId} />
}

/** A call's id is unique only in its message; the original of a copy stands in another one. */
function pendingOf(approvals: readonly WaitingApproval[], messageId: string, call: string): WaitingApproval | undefined {
  const asked = approvals.filter(({ approval }) => approval.kind === 'input' && approval.toolCall === call)
  return asked.find(({ approval }) => approval.message === messageId) ?? asked[0]
}
