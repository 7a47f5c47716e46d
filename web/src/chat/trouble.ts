// What went wrong with a chat, in the kinds a person must tell apart.

import { APICallError } from 'ai'

export interface Trouble {
  /** `request`: refused before it began. `parse`: unreadable. `stream`: the server said that the answer failed. */
  kind: 'request' | 'parse' | 'stream'
  text: string
}

export function troubleOf(error: Error): Trouble {
  if (APICallError.isInstance(error)) {
    return { kind: 'request', text: error.responseBody || error.message }
  }
  if (/^AI_(?:TypeValidation|JSONParse|UIMessageStream|NoSuchTool|InvalidResponseData)/.test(error.name) || error instanceof SyntaxError) {
    return { kind: 'parse', text: error.message.slice(0, 300) }
  }
  return { kind: 'stream', text: error.message }
}
