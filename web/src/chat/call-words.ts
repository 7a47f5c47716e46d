// Which calls a rule or an "always" covers, in words.

import type { CallPattern } from '../api/workspace-types'
import type { Texts } from '../i18n'

export function coveredCalls({ tools = [], path, command }: CallPattern, t: Texts): string {
  const which = tools.length === 0 || tools.includes('*') ? t.callsOfAny : t.callsOf(tools)
  const where = path === undefined ? '' : isGlob(path) ? t.callsOnGlob(path) : t.callsOnFile(path)
  const how = command === undefined ? '' : t.callsWithCommand(command)
  return t.callsCovered(which, where, how)
}

const isGlob = (path: string): boolean => /[*?[\]{}]/.test(path)
