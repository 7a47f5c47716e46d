// The agents and models of the server. Older servers have no such routes: then there is nothing to choose.

import { useEffect, useState } from 'react'
import { call } from '../api/client'

export interface AgentSummary {
  name: string
  displayName: string
  description: string
  kind: 'main' | 'sub'
}

export function useAgents(): readonly AgentSummary[] {
  const [agents, setAgents] = useState<readonly AgentSummary[]>([])
  useEffect(() => {
    const gone = new AbortController()
    call<{ agents: AgentSummary[] }>('GET', '/api/agents', { signal: gone.signal }).then(
      (list) => setAgents(list.agents),
      () => undefined,
    )
    return () => gone.abort()
  }, [])
  return agents
}
