// What `GET /api/usage` answers, and the days it may have left out.

import type { Usage } from '../api/types.gen'

export interface Spent {
  calls: number
  failedCalls: number
  usage: Usage
  cost: number
  unpricedCalls: number
  durationMs: number
}

export type SpentGroup = Spent & { key: string }

export interface UsageReport {
  by: string
  timezone: string
  total: Spent
  groups: SpentGroup[]
}

/** The last days up to this one, as `2026-03-01`: days without use have bars too. */
export function everyDay(today: string, count: number): string[] {
  const last = Date.parse(`${today}T00:00:00Z`)
  return Array.from({ length: count }, (_, at) => new Date(last - (count - 1 - at) * 86_400_000).toISOString().slice(0, 10))
}
