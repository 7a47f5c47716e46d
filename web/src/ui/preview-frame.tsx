// Generated HTML or SVG, shown in a frame that has no origin, runs nothing of it and reaches nothing (`/frame` of the
// server says so in its policy). The frame only says how high it is.

import { useEffect, useRef } from 'react'
import { formatSize, useTexts } from '../i18n'

export type PreviewKind = 'html' | 'svg'

/** What is larger is not worth the time it takes to draw. */
export const LARGEST_PREVIEW = 1_000_000
const LOWEST = 60
const HIGHEST = 640

export function PreviewFrame({ kind, text, name }: { kind: PreviewKind; text: string; name: string }) {
  const t = useTexts()
  const place = useRef<HTMLIFrameElement>(null)
  useEffect(() => {
    const hear = (event: MessageEvent<unknown>) => {
      const frame = place.current
      if (!frame?.contentWindow || event.source !== frame.contentWindow) return
      const said = event.data as { ready?: unknown; height?: unknown } | null
      // It has no origin that could be named; what it gets is what it shows.
      if (said?.ready === true) frame.contentWindow.postMessage({ kind, text }, '*')
      if (typeof said?.height === 'number') frame.style.height = `${Math.min(HIGHEST, Math.max(LOWEST, said.height))}px`
    }
    window.addEventListener('message', hear)
    return () => window.removeEventListener('message', hear)
  }, [kind, text])
  if (text.length > LARGEST_PREVIEW) return <p className="quiet">{t.previewTooLarge(formatSize(text.length))}</p>
  return <iframe key={text} ref={place} className="preview" src="/frame" sandbox="allow-scripts" title={t.previewOf(name)} referrerPolicy="no-referrer" />
}

/** What can be shown of a block of code or of a file. */
export function previewKind(kind: string): PreviewKind | undefined {
  const plain = kind.split(';')[0]?.trim().toLowerCase() ?? ''
  if (plain === 'html' || plain === 'htm' || plain === 'text/html') return 'html'
  if (plain === 'svg' || plain === 'image/svg+xml') return 'svg'
  return undefined
}
