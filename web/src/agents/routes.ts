// The agents of the server: the list that pages share, and the ways to change it.

import { useEffect, useSyncExternalStore } from 'react'
import { call, path } from '../api/client'
import type { AgentCheck, AgentInfo, AgentList } from '../api/types.gen'
import { bodyOf, type Draft } from './draft'

const NONE: AgentList = { agents: [], groups: [], variables: [] }

let list = NONE
let asked: Promise<void> | undefined
const listeners = new Set<() => void>()

/** Asks the server again; everything that shows agents follows. */
export function refreshAgents(): Promise<void> {
  asked = call<AgentList>('GET', '/api/agents').then(
    (fresh) => {
      list = fresh
      for (const listener of listeners) listener()
    },
    () => {
      asked = undefined
    },
  )
  return asked
}

export function useAgentList(): AgentList {
  useEffect(() => {
    if (!asked) void refreshAgents()
  }, [])
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => list,
  )
}

export const useAgents = (): readonly AgentInfo[] => useAgentList().agents

export const checkAgent = (draft: Draft, signal: AbortSignal): Promise<AgentCheck> => call<AgentCheck>('POST', '/api/agents?check=true', { body: bodyOf(draft), signal })

/** The id makes a repeated request harmless. */
export async function createAgent(id: string, draft: Draft): Promise<AgentInfo> {
  return changed(await call<AgentInfo>('POST', '/api/agents', { body: { id, ...bodyOf(draft) } }))
}

export async function replaceAgent(id: string, version: number, draft: Draft): Promise<AgentInfo> {
  return changed(await call<AgentInfo>('PUT', path`/api/agents/${id}`, { body: { ...bodyOf(draft), version } }))
}

export async function enableAgent(id: string, version: number, enabled: boolean): Promise<AgentInfo> {
  return changed(await call<AgentInfo>('PATCH', path`/api/agents/${id}`, { body: { enabled, version } }))
}

export async function removeAgent(id: string, version: number): Promise<void> {
  await call('DELETE', `${path`/api/agents/${id}`}?version=${version}`)
  await refreshAgents()
}

async function changed(agent: AgentInfo): Promise<AgentInfo> {
  await refreshAgents()
  return agent
}
