// What went wrong, by code, never by text.

import type { ErrorCode } from './types.gen'

/** `network`: no answer at all. `unreadable`: an answer that is not what was agreed. */
export type ProblemCode = ErrorCode | 'network' | 'unreadable'

export class ApiProblem extends Error {
  readonly code: ProblemCode
  readonly status: number

  constructor(code: ProblemCode, status: number, detail: string) {
    super(detail)
    this.name = 'ApiProblem'
    this.code = code
    this.status = status
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 404
}

export async function problemOf(response: Response): Promise<ApiProblem> {
  const text = await response.text().catch(() => '')
  const code = (response.headers.get('x-error-code') ?? 'unreadable') as ProblemCode
  let detail = text
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && 'detail' in parsed && typeof parsed.detail === 'string') {
      detail = parsed.detail
    }
  } catch {
    // The chat routes answer with a plain sentence.
  }
  return new ApiProblem(code, response.status, detail || response.statusText || String(response.status))
}
