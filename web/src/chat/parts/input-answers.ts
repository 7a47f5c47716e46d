// What a person has filled in so far, checked by the same rules as on the server, and what is sent of it.

import type { InputField, InputForm, UserAnswer } from '../../api/workspace-types'
import type { Texts } from '../../i18n'

/** What stands in one field. */
export interface Filled {
  /** The text, or the options that are chosen. */
  chosen: string[]
  /** A text of the person's own, where "other" is chosen. */
  own: string | undefined
}

export function blank(form: InputForm): Record<string, Filled> {
  return Object.fromEntries(form.fields.map((field) => [field.key, { chosen: field.defaultValue ? [field.defaultValue] : [], own: undefined }]))
}

const textOf = (filled: Filled | undefined): string => filled?.chosen[0] ?? ''
const ownOf = (filled: Filled | undefined): string | undefined => (filled?.own?.trim() ? filled.own : undefined)

/** What is wrong, by the key of the field. */
export function complaintsOf(form: InputForm, filled: Record<string, Filled>, t: Texts): Record<string, string> {
  const found: Record<string, string> = {}
  for (const field of form.fields) {
    const wrong = complaintOf(field, filled[field.key], t)
    if (wrong !== undefined) found[field.key] = wrong
  }
  return found
}

function complaintOf(field: InputField, filled: Filled | undefined, t: Texts): string | undefined {
  const chosen = filled?.chosen.filter((one) => one.trim() !== '') ?? []
  if (chosen.length === 0 && ownOf(filled) === undefined) return field.required ? t.inputRequired : undefined
  if (field.type === 'select' || field.type === 'choice') return undefined
  const text = textOf(filled)
  const length = [...text].length
  if (field.minLength !== undefined && length < field.minLength) return t.inputTooShort(field.minLength)
  if (field.maxLength !== undefined && length > field.maxLength) return t.inputTooLong(field.maxLength)
  if (field.pattern !== undefined && !matches(field.pattern, text)) return field.patternMessage ?? t.inputMismatch
  return undefined
}

/** A pattern that a browser reads otherwise than the server is left to the server. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test(text)
  } catch {
    return true
  }
}

export function answerOf(form: InputForm, filled: Record<string, Filled>): UserAnswer {
  const [only] = form.fields
  if (form.short === true && only !== undefined && only.options !== undefined) {
    const { chosen = [] } = filled[only.key] ?? {}
    const own = ownOf(filled[only.key])
    const selected = only.multiSelect === true ? chosen : chosen[0]
    return { ...(selected === undefined ? {} : { selected }), ...(own === undefined ? {} : { customInput: own }) }
  }
  const answers: Record<string, string | string[]> = {}
  for (const field of form.fields) {
    const { chosen = [] } = filled[field.key] ?? {}
    if (chosen.some((one) => one.trim() !== '')) answers[field.key] = field.multiSelect === true ? chosen : textOf(filled[field.key])
  }
  return { answers }
}
