// The rules in force: fetched, added, revoked.

import { useCallback, useEffect, useState } from 'react'
import { call, path } from '../api/client'
import { isMissing } from '../api/problem'
import type { ListedRule, NewRule, RuleList } from '../api/workspace-types'

export type Rules = { state: 'loading' } | { state: 'failed'; problem: string } | { state: 'absent' } | { state: 'ready'; list: RuleList }

/** `absent`: the server has no rules to show. */
export function useRules(): { rules: Rules; refresh: () => void } {
  const [rules, setRules] = useState<Rules>({ state: 'loading' })
  const [tries, setTries] = useState(0)
  useEffect(() => {
    const gone = new AbortController()
    call<RuleList>('GET', '/api/rules', { signal: gone.signal }).then(
      (list) => setRules({ state: 'ready', list }),
      (error: unknown) => {
        if (gone.signal.aborted) return
        setRules(isMissing(error) ? { state: 'absent' } : { state: 'failed', problem: error instanceof Error ? error.message : String(error) })
      },
    )
    return () => gone.abort()
  }, [tries])
  const refresh = useCallback(() => setTries((count) => count + 1), [])
  return { rules, refresh }
}

export const addRule = (rule: NewRule): Promise<ListedRule> => call<ListedRule>('POST', '/api/rules', { body: rule })

export const revokeRule = (id: string): Promise<void> => call('DELETE', path`/api/rules/${id}`)
