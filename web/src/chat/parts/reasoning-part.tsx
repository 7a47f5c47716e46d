// What the model thought: one quiet line, open on demand.

import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { formatDuration, useTexts } from '../../i18n'
import { Markdown } from '../../markdown/markdown'
import { noteTiming } from '../timings'

export function ReasoningPart({ text, name, streaming }: { text: string; name: string; streaming: boolean }) {
  const t = useTexts()
  const [open, setOpen] = useState(false)
  const took = noteTiming(`thought ${name}`, streaming)
  if (text.trim() === '' && !streaming) return null
  const label = streaming ? t.thinking : took === undefined || took < 1000 ? t.thought : t.thoughtFor(formatDuration(took))
  return (
    <div className="thought">
      <button type="button" className={streaming ? 'fold-line shimmer' : 'fold-line'} aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={14} className={open ? 'turn turned' : 'turn'} aria-hidden />
        {label}
      </button>
      {open && (
        <div className="thought-text">
          <Markdown text={text} streaming={streaming} />
        </div>
      )}
    </div>
  )
}
