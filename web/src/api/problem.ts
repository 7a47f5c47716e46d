// What went wrong, by code, never by text.

import type { ErrorCode, Problem } from './types.gen'

/** `network`: no answer at all. `unreadable`: an answer that is not what was agreed. */
export type ProblemCode = ErrorCode | 'network' | 'unreadable'

export class ApiProblem extends Error {
  readonly code: ProblemCode
  readonly status: number
  /** The whole of what the server said, where it said it as a problem. */
  readonly problem: Problem | undefined

  constructor(code: ProblemCode, status: number, detail: string, problem?: Problem) {
    super(detail)
    this.name = 'ApiProblem'
    this.code = code
    this.status = status
    this.problem = problem
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 404
}

export async function problemOf(response: Response): Promise<ApiProblem> {
  const text = await response.text().catch(() => '')
  const code = (response.headers.get('x-error-code') ?? 'unreadable') as ProblemCode
  let detail = text
  let problem: Problem | undefined
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed === 'object' && parsed !== null && 'detail' in parsed && typeof parsed.detail === 'string') {
      detail = parsed.detail
      problem = parsed as Problem
    }
  } catch {
    // The chat routes answer with a plain sentence.
  }
  return new ApiProblem(code, response.status, detail || response.statusText || String(response.status), problem)
}
