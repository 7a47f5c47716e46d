// Says above the chat that it has changed files, and leads to them.

import { FilePen } from 'lucide-react'
import { setPreferences, usePreferences } from '../app/preferences'
import type { ChangedFile } from '../api/workspace-types'
import { useTexts } from '../i18n'

export function ChangesChip({ files }: { files: readonly ChangedFile[] | undefined }) {
  const t = useTexts()
  const { panel, panelTab } = usePreferences()
  if (!files || files.length === 0) return null
  const open = panel && panelTab === 'changes'
  return (
    <button type="button" className="chip" aria-pressed={open} title={t.changesShow} onClick={() => setPreferences(open ? { panel: false } : { panel: true, panelTab: 'changes' })}>
      <FilePen size={14} aria-hidden />
      <span className="chip-text">{t.filesChanged(files.length)}</span>
    </button>
  )
}
