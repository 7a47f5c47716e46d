// The agents and models of the server. Older servers have no such routes: then there is nothing to choose.

import { useEffect, useState } from 'react'
import { call } from '../api/client'

export interface AgentSummary {
  name: string
  displayName: string
  description: string
  kind: 'main' | 'sub'
  tools?: string[]
  allowedSubAgents?: string[]
  maxDepth?: number
  maxSteps?: number
  enabled?: boolean
  /** Why it cannot be used at present. */
  unavailable?: string
  prompt?: string
  /** Defined by this workspace, not by the program. */
  workspace?: string
}

let asked: Promise<readonly AgentSummary[]> | undefined

/** Forget the list: something was changed. */
export function forgetAgents(): void {
  asked = undefined
}

export function useAgents(): readonly AgentSummary[] {
  const [agents, setAgents] = useState<readonly AgentSummary[]>([])
  useEffect(() => {
    let wanted = true
    asked ??= call<{ agents: AgentSummary[] }>('GET', '/api/agents').then(
      (list) => list.agents,
      () => [],
    )
    void asked.then((list) => wanted && setAgents(list))
    return () => {
      wanted = false
    }
  }, [])
  return agents
}
