// Every change set of a chat, newest first: who changed what, and when.

import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { ChangeSet } from '../api/workspace-types'
import { formatTime, useLanguage, useTexts, type Texts } from '../i18n'

const FIRST = 100

export function ChangeHistory({ changes }: { changes: readonly ChangeSet[] }) {
  const t = useTexts()
  const language = useLanguage()
  const [open, setOpen] = useState(false)
  return (
    <section className="history">
      <button type="button" className="fold-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={14} className={open ? 'turn turned' : 'turn'} aria-hidden />
        {t.changeHistory(changes.length)}
      </button>
      {open && (
        <ol className="history-list">
          {changes.slice(0, FIRST).map((change) => (
            <li key={change.id}>
              <span className="history-what">
                {change.tool === 'revert' ? t.historyReverted : <code>{change.tool}</code>} {change.files.map((file) => file.path.replace(/^\/workspace\//, '')).join(', ')}
              </span>
              <span className="quiet">
                {[formatTime(change.at, language), change.agent?.join(' › '), statusText(change, t)].filter(Boolean).join(' · ')}
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

function statusText({ status }: ChangeSet, t: Texts): string | undefined {
  return status === 'applying' ? t.historyApplying : status === 'failed' ? t.historyFailed : undefined
}
