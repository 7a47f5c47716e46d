// How a run is called: by what the person asked for.

import { textOf, type ChatMessage } from '../chat/message-types'

const LONGEST = 80

/** The question before the answer; nothing when it is not among the loaded messages. */
export function runTitle(messages: readonly ChatMessage[], messageId: string): string | undefined {
  const at = messages.findIndex((message) => message.id === messageId)
  for (let place = at - 1; place >= 0; place--) {
    const message = messages[place]
    if (message?.role !== 'user') continue
    const text = textOf(message).trim().replace(/\s+/g, ' ')
    if (text === '') return undefined
    return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
  }
  return undefined
}
