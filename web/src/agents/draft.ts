// A definition while it is written, and which complaint of the server belongs to which field.

import type { AgentInfo, AgentKind, FieldProblem, ModelChoice } from '../api/types.gen'

/** What a definition is sent as; what the form does not show is kept as it was. */
export interface Draft {
  name: string
  kind: AgentKind
  displayName: string
  description: string
  enabled: boolean
  systemPrompt: string
  systemPromptZh?: string
  model?: ModelChoice
  toolKeys: string[]
  groups: string[]
  allowedSubAgents: string[]
  maxSteps?: number
  maxDepth?: number
  [kept: string]: unknown
}

const KEPT = ['fallback', 'toolGroups', 'editableFileSuffixes', 'budget', 'autoBroadcast', 'modes', 'pageIds', 'aliases'] as const

export const emptyDraft = (): Draft => ({
  name: '',
  kind: 'sub',
  displayName: '',
  description: '',
  enabled: true,
  systemPrompt: '',
  toolKeys: [],
  groups: [],
  allowedSubAgents: [],
})

export function draftOf(agent: AgentInfo): Draft {
  return {
    name: agent.name,
    kind: agent.kind,
    displayName: agent.displayName,
    description: agent.description,
    enabled: agent.enabled,
    systemPrompt: agent.systemPrompt,
    ...(agent.systemPromptZh ? { systemPromptZh: agent.systemPromptZh } : {}),
    ...(agent.model ? { model: agent.model } : {}),
    toolKeys: agent.toolKeys,
    groups: agent.groups,
    allowedSubAgents: agent.allowedSubAgents,
    maxSteps: agent.maxSteps,
    maxDepth: agent.maxDepth,
    ...Object.fromEntries(KEPT.map((name) => [name, agent[name]])),
  }
}

/** A new one that begins as another does; it needs a name of its own. */
export function copyOf(agent: AgentInfo): Draft {
  const { aliases: _taken, ...draft } = draftOf(agent)
  return { ...draft, name: `${agent.name}-2`, displayName: `${agent.displayName} 2`, enabled: true }
}

/** What was left empty gets its usual value. */
export function bodyOf(draft: Draft): Partial<Draft> {
  const { displayName, ...rest } = draft
  return displayName.trim() ? draft : rest
}

/** `toolKeys[1]` and `model.provider` belong to the fields `toolKeys` and `model`. */
export const fieldOf = (problem: FieldProblem): string => /^[\w-]*/.exec(problem.path)?.[0] ?? ''

export function complaintsAt(field: string, problems: readonly FieldProblem[]): FieldProblem[] {
  return problems.filter((problem) => fieldOf(problem) === field)
}

/** Those that no field of the form can show. */
export function complaintsElsewhere(shown: readonly string[], problems: readonly FieldProblem[]): FieldProblem[] {
  return problems.filter((problem) => !shown.includes(fieldOf(problem)))
}
