// One component per kind of part. A part that cannot be drawn says so and leaves the rest of the message alone.

import { memo } from 'react'
import { useTexts } from '../../i18n'
import { ErrorBoundary } from '../../ui/error-boundary'
import { LongText } from '../../ui/data-view'
import { compactionOf, isToolPart, planOf, toolName, type Part } from '../message-types'
import { CompactionCard } from './compaction-card'
import { FilePart } from './file-part'
import { InputRequestPart, isInputRequest } from './input-request-part'
import { PlanCard } from './plan-card'
import { ReasoningPart } from './reasoning-part'
import { SourcePart } from './source-part'
import { SubAgentPart, isDelegation } from './sub-agent-part'
import { TextPart } from './text-part'
import { ToolPartView } from './tool-part'

interface PartViewProps {
  part: Part
  /** The message it stands in: a call's id is unique only there. */
  messageId: string
  /** Stays the same for the same part of the same message. */
  name: string
  /** What a person made of the input of this call. */
  edited?: { input: unknown } | undefined
  /** The call of a sub-agent that this one is a copy of. */
  raised?: string | undefined
  streaming: boolean
}

export const PartView = memo(function PartView(props: PartViewProps) {
  return (
    <ErrorBoundary watch={props.part} fallback={() => <BrokenPart part={props.part} />}>
      <Chosen {...props} />
    </ErrorBoundary>
  )
})

function Chosen({ part, messageId, name, edited, raised, streaming }: PartViewProps) {
  if (isToolPart(part)) {
    if (toolName(part) === 'update-plan' && part.state !== 'output-error') return null
    if (isInputRequest(part)) return <InputRequestPart part={part} messageId={messageId} raised={raised} />
    return isDelegation(part) ? <SubAgentPart part={part} messageId={messageId} /> : <ToolPartView part={part} messageId={messageId} edited={edited} />
  }
  switch (part.type) {
    case 'text':
      return <TextPart text={part.text} streaming={streaming && part.state === 'streaming'} />
    case 'reasoning':
      return <ReasoningPart text={part.text} name={name} streaming={streaming && part.state === 'streaming'} />
    case 'file':
      return <FilePart file={part} />
    case 'source-url':
      return <SourcePart url={part.url} title={part.title} />
    case 'source-document':
      return <SourcePart title={part.title} />
    case 'data-plan': {
      const plan = 'data' in part ? planOf(part.data) : undefined
      return plan ? <PlanCard plan={plan} /> : null
    }
    case 'data-compaction': {
      const compaction = 'data' in part ? compactionOf(part.data) : undefined
      return compaction ? <CompactionCard compaction={compaction} /> : null
    }
    default:
      // Steps are boundaries, other data parts belong to somebody else.
      return null
  }
}

function BrokenPart({ part }: { part: Part }) {
  const t = useTexts()
  return (
    <div className="broken" role="note">
      <p>{t.partBroken}</p>
      <details>
        <summary>{t.showRaw}</summary>
        <LongText text={JSON.stringify(part, null, 2)} mono />
      </details>
    </div>
  )
}
