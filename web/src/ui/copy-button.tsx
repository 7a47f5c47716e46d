// Copies a text and says so.

import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTexts } from '../i18n'
import { IconButton } from './button'

export function CopyButton({ text, label }: { text: string | (() => string); label?: string }) {
  const t = useTexts()
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1600)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    void navigator.clipboard.writeText(typeof text === 'function' ? text() : text).then(
      () => setCopied(true),
      () => setCopied(false),
    )
  }
  return (
    <IconButton label={copied ? t.copied : (label ?? t.copy)} size="small" onClick={copy}>
      {copied ? <Check size={14} /> : <Copy size={14} />}
    </IconButton>
  )
}
