// All parts of a message in their order. A plan that is written again and again is shown once, where it stands last.

import { isToolPart, type ChatMessage } from '../message-types'
import { PartView } from './part-view'

export function MessageParts({ message, streaming }: { message: ChatMessage; streaming: boolean }) {
  return message.parts.map((part, at) => {
    const name = `${message.id} ${at}`
    const edited = isToolPart(part) ? message.metadata?.editedCalls?.[part.toolCallId] : undefined
    const raised = isToolPart(part) ? message.metadata?.raisedCalls?.[part.toolCallId]?.toolCallId : undefined
    return <PartView key={name} messageId={message.id} name={name} part={part} edited={edited} raised={raised} streaming={streaming} />
  })
}
