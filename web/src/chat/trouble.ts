// What went wrong with a chat, in the kinds a person must tell apart.

import { ApiProblem } from '../api/problem'

export interface Trouble {
  /** `request`: refused before it began. `parse`: unreadable. `stream`: the server said that the answer failed. */
  kind: 'request' | 'parse' | 'stream'
  text: string
}

/** Whether a message was refused because of its files: nothing was stored, and the person can change it and send it again. */
export function isRefusedFile(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'unsupported_attachment'
}

export function troubleOf(error: Error): Trouble {
  if (error instanceof ApiProblem) return { kind: 'request', text: error.message }
  if (/^AI_(?:TypeValidation|JSONParse|UIMessageStream|NoSuchTool|InvalidResponseData)/.test(error.name) || error instanceof SyntaxError) {
    return { kind: 'parse', text: error.message.slice(0, 300) }
  }
  return { kind: 'stream', text: error.message }
}
