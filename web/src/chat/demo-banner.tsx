// Says that the demo model answers, and how to connect a real one.

import { Sparkles } from 'lucide-react'
import { useState } from 'react'
import { useTexts } from '../i18n'
import { Dialog } from '../ui/dialog'
import { useServerModel } from './server-model'

export function DemoBanner({ compact = false }: { compact?: boolean }) {
  const t = useTexts()
  const model = useServerModel()
  const [open, setOpen] = useState(false)
  if (!model?.startsWith('demo/')) return null
  return (
    <>
      <p className={compact ? 'demo demo-compact' : 'demo'}>
        <Sparkles size={14} aria-hidden />
        <span>{t.demoBanner}</span>
        <button type="button" className="link" onClick={() => setOpen(true)}>
          {t.demoBannerAction}
        </button>
      </p>
      <Dialog title={t.connectTitle} open={open} onClose={() => setOpen(false)}>
        <div className="prose">
          <p>{t.connectIntro}</p>
          <h3>{t.connectKey}</h3>
          <pre className="command" tabIndex={0}>{'OPENAI_API_KEY=sk-… concertino'}</pre>
          <h3>{t.connectLocal}</h3>
          <pre className="command" tabIndex={0}>{'OPENAI_BASE_URL=http://127.0.0.1:11434/v1 \\\nOPENAI_MODEL=qwen3 concertino'}</pre>
          <p>{t.connectEnd}</p>
        </div>
      </Dialog>
    </>
  )
}
