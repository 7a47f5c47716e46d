// Which protections held while a command ran: one word, the whole line on demand. Says aloud when something is missing.

import { Shield, ShieldAlert } from 'lucide-react'
import { useState } from 'react'
import { useTexts, type Texts } from '../i18n'

export function SandboxChip({ sandbox }: { sandbox: string }) {
  const t = useTexts()
  const [open, setOpen] = useState(false)
  if (sandbox === '') return null
  const weak = isWeak(sandbox)
  return (
    <>
      <button type="button" className={weak ? 'sandbox sandbox-weak' : 'sandbox'} aria-expanded={open} title={sandbox} onClick={() => setOpen(!open)}>
        {weak ? <ShieldAlert size={13} aria-hidden /> : <Shield size={13} aria-hidden />}
        {wordOf(sandbox, t)}
      </button>
      {open && <span className="sandbox-line">{sandbox}</span>}
    </>
  )
}

const isNone = (sandbox: string): boolean => /\bno sandbox\b/i.test(sandbox)

export const isWeak = (sandbox: string): boolean => isNone(sandbox) || /\bmissing\b/i.test(sandbox)

const wordOf = (sandbox: string, t: Texts): string => (isNone(sandbox) ? t.sandboxNone : isWeak(sandbox) ? t.sandboxWeak : t.sandboxActive)
