// How a call is named in one line: by the purpose the model gave, else by the tool's own name in plain words.

import type { Texts } from '../../i18n'
import { toolName, type ToolPart } from '../message-types'

export function titleOf(part: ToolPart, t: Texts): string {
  const purpose = fieldOf(part.input, 'actionName')
  return purpose ?? part.title ?? (plainWords(toolName(part)) || t.tools)
}

export const plainWords = (name: string): string => {
  const words = name.replace(/[-_]+/g, ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What the call is about: its command, path, address or search, cut to a line. */
export function subjectOf(input: unknown): string | undefined {
  for (const name of ['command', 'path', 'file', 'url', 'query', 'pattern', 'name']) {
    const found = fieldOf(input, name)
    if (found) return found.length > 80 ? `${found.slice(0, 79)}…` : found
  }
  return undefined
}

export function fieldOf(input: unknown, name: string): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  const value = (input as Record<string, unknown>)[name]
  return typeof value === 'string' && value.trim() !== '' ? value.trim().replace(/\s+/g, ' ') : undefined
}
