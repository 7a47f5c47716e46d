// A sub-agent at work: a card with its name and state; inside, its own message with everything it did, to any depth.

import { Bot, ChevronRight, SquareArrowOutUpRight } from 'lucide-react'
import { useState } from 'react'
import { formatCount, formatDuration, useTexts } from '../../i18n'
import { IconButton } from '../../ui/button'
import { LongText } from '../../ui/data-view'
import { useSurroundings } from '../chat-context'
import { isToolPart, nestedMessage, textOf, toolName, type ChatMessage, type ToolPart } from '../message-types'
import { useLane } from '../sub-agent-lane'
import { noteTiming } from '../timings'
import { AgentStateMark } from './agent-state'
import { MessageParts } from './message-parts'
import { isRunning, outcome } from './outcome'
import { fieldOf } from './tool-words'

const DELEGATING = new Set(['sub-agent', 'spawn-agent', 'delegate'])

export function isDelegation(part: ToolPart): boolean {
  return DELEGATING.has(toolName(part)) || nestedMessage(part) !== undefined
}

/** The name a call gives its sub-agent, before the sub-agent has said its own. */
export function calledAgent(input: unknown): string | undefined {
  return fieldOf(input, 'name') ?? fieldOf(input, 'agent') ?? fieldOf(input, 'agentName') ?? fieldOf(input, 'subAgent')
}

export function calledTask(input: unknown): string | undefined {
  return fieldOf(input, 'task') ?? fieldOf(input, 'prompt') ?? fieldOf(input, 'message') ?? fieldOf(input, 'input') ?? fieldOf(input, 'actionName')
}

export function SubAgentPart({ part, messageId }: { part: ToolPart; messageId: string }) {
  const t = useTexts()
  const { lanes, openAgent } = useSurroundings()
  const live = useLane(lanes, messageId, part.toolCallId)
  const settled = nestedMessage(part)
  const running = isRunning(part)
  const message = settled && !(running && live) ? settled : (live ?? settled)
  const [chosen, setChosen] = useState<boolean>()
  const open = chosen ?? running
  const took = noteTiming(`${messageId} ${part.toolCallId}`, running)
  const agent = message?.metadata?.agent
  const name = agent?.displayName ?? calledAgent(part.input) ?? t.subAgent
  const task = calledTask(part.input)
  const chatId = message?.metadata?.chatId
  const state = running ? 'running' : outcome(part) === 'failed' ? 'failed' : (message?.metadata?.status ?? outcome(part))
  return (
    <section className="card agent" aria-label={name}>
      <div className="card-row">
        <button type="button" className="card-head" aria-expanded={open} onClick={() => setChosen(!open)}>
          <AgentStateMark state={state} />
          <span className="badge">
            <Bot size={12} aria-hidden /> {name}
          </span>
          <span className="card-title card-task">{task}</span>
          <span className="card-note">
            {message?.metadata?.usage && <span>{t.tokens(formatCount(message.metadata.usage.totalTokens))}</span>}
            {took !== undefined && <span>{formatDuration(took)}</span>}
          </span>
          <ChevronRight size={14} className={open ? 'turn turned' : 'turn'} aria-hidden />
        </button>
        {chatId && (
          <IconButton label={t.openAgent} size="small" onClick={() => openAgent(chatId, name)}>
            <SquareArrowOutUpRight size={14} />
          </IconButton>
        )}
      </div>
      {open ? (
        <div className="agent-body">
          {message && <MessageParts message={message} streaming={running} />}
          {part.state === 'output-error' && <LongText text={part.errorText} />}
          {!message && part.state === 'output-available' && <LongText text={JSON.stringify(part.output, null, 2)} mono />}
        </div>
      ) : (
        message && !running && <Summary message={message} />
      )}
    </section>
  )
}

/** The last words of a finished sub-agent, so that a folded card still says what came of it. */
function Summary({ message }: { message: ChatMessage }) {
  const text = textOf(message).trim().split('\n').at(-1) ?? ''
  const calls = message.parts.filter(isToolPart).length
  const t = useTexts()
  if (text === '') return calls > 0 ? <p className="agent-summary">{t.toolCalls(calls)}</p> : null
  return <p className="agent-summary">{text.length > 220 ? `${text.slice(0, 219)}…` : text}</p>
}
