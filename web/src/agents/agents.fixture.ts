// An agent for tests, with what a test says about it.

import type { AgentInfo } from '../api/types.gen'

export const someAgent = (change: Partial<AgentInfo> = {}): AgentInfo => ({
  id: 'agt_1', source: 'database', type: 'default', name: 'reviewer', kind: 'sub', displayName: 'Reviewer', description: 'Reads code.', enabled: true,
  systemPrompt: 'You review.', fallback: [], toolKeys: ['time-now'], groups: [], toolGroups: [], allowedSubAgents: [], maxDepth: 4, maxSteps: 20,
  budget: { wallTimeMs: 600_000 }, autoBroadcast: true, modes: [], pageIds: [], aliases: ['rev'], version: 3, available: true, effectiveTools: ['time-now'], ...change,
})
