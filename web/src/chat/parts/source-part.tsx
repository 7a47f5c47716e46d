// Where something was found.

import { FileText, Globe } from 'lucide-react'
import { useTexts } from '../../i18n'
import { hostOf, safeLink } from '../../markdown/links'

export function SourcePart({ url, title }: { url?: string; title?: string | undefined }) {
  const t = useTexts()
  const link = url ? safeLink(url) : undefined
  if (!link) {
    return (
      <span className="source">
        <FileText size={13} aria-hidden /> {title ?? t.source}
      </span>
    )
  }
  return (
    <a className="source" href={link} target="_blank" rel="noopener noreferrer nofollow" title={link}>
      <Globe size={13} aria-hidden /> {title ?? hostOf(link)}
    </a>
  )
}
