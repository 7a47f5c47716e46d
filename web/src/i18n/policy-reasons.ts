// Why a call asks or is refused, in the person's language. The server writes these sentences in English and stores them with
// the question; a sentence that is not known here is shown as it came.

import { calls, parts, sentences } from './policy-reasons.zh'

type Pattern = { expression: RegExp; holes: string[]; chinese: string; text: number }

/** Holes with a known part of a sentence, such as what makes a file special. The others hold names, shown as they are. */
const known = new Map<string, string>(parts)
const translations: Partial<Record<string, (part: string) => string | undefined>> = {
  because: (part) => known.get(part),
  construct: (part) => known.get(part),
  calls: (part) => calls.reduce((text, [expression, chinese]) => text.replace(expression, chinese), part),
}

const patterns: Pattern[] = sentences.map(([english, chinese]) => {
  const holes: string[] = []
  const escaped = english.replace(/[.*+?^$()|[\]\\]/g, '\\$&')
  const source = escaped.replace(/\{(\w+)\}/g, (_, hole: string) => {
    holes.push(hole)
    return '(.+)'
  })
  return { expression: new RegExp(`^${source}$`, 's'), holes, chinese, text: english.replace(/\{\w+\}/g, '').length }
})
// The sentence with the most text of its own comes first: a hole could hold anything.
patterns.sort((a, b) => b.text - a.text)

function sentenceOf(english: string): string | undefined {
  for (const { expression, holes, chinese } of patterns) {
    const found = expression.exec(english)
    if (!found) continue
    const values = new Map<string, string | undefined>()
    for (const [index, hole] of holes.entries()) {
      const value = found[index + 1] ?? ''
      const translate = translations[hole]
      values.set(hole, translate ? translate(value) : value)
    }
    if ([...values.values()].includes(undefined)) continue
    return chinese.replace(/\{(\w+)\}/g, (_, hole: string) => values.get(hole) ?? '')
  }
  return undefined
}

/** Returns the reason in Chinese, or as it came when a sentence of it is not known. */
export function reasonIn(language: 'en' | 'zh', reason: string): string {
  if (language === 'en') return reason
  const translated = reason.split(/(?<=\.) (?=[A-Z`])/).map(sentenceOf)
  return translated.includes(undefined) ? (sentenceOf(reason) ?? reason) : translated.join('')
}
