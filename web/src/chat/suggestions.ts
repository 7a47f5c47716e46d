// What the composer offers while a `/` command or an `@` agent is being written.

import type { AgentInfo } from '../api/types.gen'
import type { Texts } from '../i18n'

export interface Suggestion {
  key: string
  label: string
  about: string
  kind: 'command' | 'agent'
}

export const COMMANDS = ['new', 'retry', 'stop', 'compact', 'summary-title', 'export', 'theme', 'language', 'help'] as const
export type Command = (typeof COMMANDS)[number]

function aboutCommand(command: Command, t: Texts): string {
  switch (command) {
    case 'new':
      return t.commandNew
    case 'retry':
      return t.commandRetry
    case 'stop':
      return t.commandStop
    case 'compact':
      return t.commandCompact
    case 'summary-title':
      return t.commandTitle
    case 'export':
      return t.commandExport
    case 'theme':
      return t.commandTheme
    case 'language':
      return t.commandLanguage
    case 'help':
      return t.commandHelp
  }
}

export function isCommand(word: string): word is Command {
  return (COMMANDS as readonly string[]).includes(word)
}

/** The word at the caret that asks for suggestions, with its place in the text. */
export function wordAt(text: string, caret: number): { sign: '/' | '@'; word: string; from: number } | undefined {
  const before = text.slice(0, caret)
  const found = /(?:^|\s)([/@])([\w\u4e00-\u9fff-]*)$/.exec(before)
  if (!found) return undefined
  const sign = found[1] === '/' ? '/' : '@'
  const word = found[2] ?? ''
  const from = caret - word.length - 1
  // A command is the whole message; a slash in a sentence is a slash.
  if (sign === '/' && from !== 0) return undefined
  return { sign, word, from }
}

export function suggestionsFor(text: string, caret: number, agents: readonly AgentInfo[], t: Texts): Suggestion[] {
  const at = wordAt(text, caret)
  if (!at) return []
  const word = at.word.toLowerCase()
  if (at.sign === '/') {
    return COMMANDS.filter((command) => command.startsWith(word)).map((command) => ({
      key: command,
      label: `/${command}`,
      about: aboutCommand(command, t),
      kind: 'command',
    }))
  }
  return agents
    .filter((agent) => agent.available)
    .filter((agent) => agent.name.toLowerCase().includes(word) || agent.displayName.toLowerCase().includes(word))
    .slice(0, 8)
    .map((agent) => ({ key: agent.name, label: `@${agent.name}`, about: agent.description || agent.displayName, kind: 'agent' }))
}
