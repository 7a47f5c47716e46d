// The chat route, through the package's own transport. The server owns the history, so only the newest message goes out.

import { DefaultChatTransport } from 'ai'
import { problemOf } from '../api/problem'
import type { ChatMessage } from './message-types'

/** What goes with every message; read when it is sent. */
export interface Choices {
  agentId?: string
  chatModelId?: string
  chatModelSource?: string
}

export const timezone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

export function makeTransport(choices: () => Choices): DefaultChatTransport<ChatMessage> {
  return new DefaultChatTransport<ChatMessage>({
    api: '/api/chat',
    credentials: 'same-origin',
    fetch: watchedFetch,
    prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
      body: { id, message: messages.at(-1), trigger, messageId, timezone: timezone(), subAgentStream: 'chunks', ...choices(), ...body },
    }),
  })
}

/** The plain fetch: the package tells a lost connection by the browser's own error. A refusal keeps its code, which the package would drop. */
const watchedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (response.status === 401) window.dispatchEvent(new Event('concertino:signed-out'))
  if (!response.ok) throw await problemOf(response)
  return response
}
