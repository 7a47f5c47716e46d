// Where the model reads a summary instead of what came before: said in one line, the summary on demand. Nothing of the
// conversation itself is gone.

import { ChevronRight, FoldVertical } from 'lucide-react'
import { useState } from 'react'
import { formatCount, useTexts, type Texts } from '../../i18n'
import { Markdown } from '../../markdown/markdown'
import { Spinner } from '../../ui/spinner'
import type { Compaction } from '../message-types'

export function CompactionCard({ compaction }: { compaction: Compaction }) {
  const t = useTexts()
  const [open, setOpen] = useState(false)
  const { status, summary, open: unsettled, tokensBefore, tokensAfter, error } = compaction
  const more = summary !== undefined || unsettled.length > 0 || error !== undefined
  return (
    <section className="card compaction" aria-label={titleOf(status, t)}>
      <button type="button" className="card-head" aria-expanded={open} disabled={!more} onClick={() => setOpen(!open)}>
        {status === 'running' ? <Spinner /> : <FoldVertical size={15} className="mark-quiet" aria-hidden />}
        <span className="card-title">{titleOf(status, t)}</span>
        <span className="card-note">
          {status === 'done' && tokensBefore !== undefined && tokensAfter !== undefined && <span>{t.compactionTokens(formatCount(tokensBefore), formatCount(tokensAfter))}</span>}
        </span>
        {more && <ChevronRight size={14} className={open ? 'turn turned' : 'turn'} aria-hidden />}
      </button>
      {open && (
        <div className="card-body">
          <p className="quiet">{t.compactionAbout}</p>
          {summary !== undefined && <Markdown text={summary} />}
          {unsettled.length > 0 && (
            <section>
              <h4>{t.compactionOpen}</h4>
              <ul className="plain-list">
                {unsettled.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            </section>
          )}
          {error !== undefined && <p className="complaint">{error}</p>}
        </div>
      )}
    </section>
  )
}

function titleOf(status: Compaction['status'], t: Texts): string {
  switch (status) {
    case 'running':
      return t.compacting
    case 'done':
      return t.compacted
    case 'failed':
      return t.compactFailed
    case 'stopped':
      return t.compactStopped
  }
}
