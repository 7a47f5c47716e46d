// Which main agent answers. It cannot be changed in the middle of an answer, and says so.

import { Bot, ChevronDown } from 'lucide-react'
import type { AgentInfo } from '../api/types.gen'
import { useTexts } from '../i18n'
import { Menu } from '../ui/menu'

interface AgentPickerProps {
  agents: readonly AgentInfo[]
  chosen: string | undefined
  /** The agent that the chat had, if it no longer exists. */
  missing?: string | undefined
  busy: boolean
  onChoose: (name: string) => void
}

export function AgentPicker({ agents, chosen, missing, busy, onChoose }: AgentPickerProps) {
  const t = useTexts()
  // Beside the main agents, one that was chosen to be tried out.
  const main = agents.filter((agent) => (agent.kind === 'main' && agent.available) || agent.name === chosen)
  if (main.length < 2) return null
  const present = main.find((agent) => agent.name === chosen) ?? main[0]
  const hint = missing ? t.agentMissing(missing) : t.chooseAgent
  const trigger = (
    <button type="button" className="chip" disabled={busy} title={busy ? t.agentBusy : hint}>
      <Bot size={14} aria-hidden />
      <span className="sr-only">{t.agent}: </span>
      {present?.displayName}
      <ChevronDown size={13} aria-hidden />
    </button>
  )
  return (
    <Menu
      align="start"
      side="top"
      trigger={trigger}
      items={main.map((agent) => ({
        label: agent.displayName,
        hint: agent.description,
        checked: agent.name === present?.name,
        onSelect: () => onChoose(agent.name),
      }))}
    />
  )
}
