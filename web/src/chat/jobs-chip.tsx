// Says above the chat that commands run, and leads to them.

import { SquareTerminal } from 'lucide-react'
import { setPreferences, usePreferences } from '../app/preferences'
import { useTexts } from '../i18n'
import type { SeenJob } from '../jobs/use-jobs'

export function JobsChip({ jobs }: { jobs: readonly SeenJob[] | undefined }) {
  const t = useTexts()
  const { panel, panelTab } = usePreferences()
  const count = jobs?.filter((job) => job.state === 'running').length ?? 0
  if (count === 0) return null
  const open = panel && panelTab === 'commands'
  return (
    <button
      type="button"
      className="chip chip-jobs"
      aria-label={t.commandsRunning(count)}
      aria-pressed={open}
      title={t.commandsShow}
      onClick={() => setPreferences(open ? { panel: false } : { panel: true, panelTab: 'commands' })}
    >
      <SquareTerminal size={14} aria-hidden />
      <span className="chip-count">{count}</span>
      <span className="chip-text">{t.commandsRunning(count)}</span>
    </button>
  )
}
