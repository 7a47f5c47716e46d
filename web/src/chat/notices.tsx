// Errors of a chat, each kind with its own words, and the state of the connection.

import { RotateCcw, TriangleAlert, WifiOff, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTexts } from '../i18n'
import { useSessions } from '../sessions/sessions-store'
import { Button, IconButton } from '../ui/button'
import type { Trouble } from './trouble'
import type { Connection } from './use-reconnect'

export function TroubleNotice({ trouble, onRetry, onDismiss }: { trouble: Trouble | undefined; onRetry?: (() => void) | undefined; onDismiss: () => void }) {
  const t = useTexts()
  if (!trouble) return null
  const heading = { request: t.errorRequest, parse: t.errorParse, stream: t.errorStream }[trouble.kind]
  return (
    <div className="notice notice-danger" role="alert">
      <TriangleAlert size={16} aria-hidden />
      <p>
        <strong>{heading}</strong> {trouble.text}
      </p>
      {onRetry && (
        <Button onClick={onRetry}>
          <RotateCcw size={14} aria-hidden /> {t.retry}
        </Button>
      )}
      <IconButton label={t.dismiss} size="small" onClick={onDismiss}>
        <X size={14} />
      </IconButton>
    </div>
  )
}

export function ConnectionNotice({ connection }: { connection: Connection }) {
  const t = useTexts()
  const online = useOnline()
  const { away } = useSessions()
  const text = !online ? t.offline : connection === 'lost' ? t.reconnecting : away ? t.serverAway : undefined
  return (
    <div className="connection" role="status" aria-live="polite" hidden={!text}>
      <WifiOff size={14} aria-hidden /> {text}
    </div>
  )
}

function useOnline(): boolean {
  const [online, setOnline] = useState(navigator.onLine)
  useEffect(() => {
    const look = () => setOnline(navigator.onLine)
    window.addEventListener('online', look)
    window.addEventListener('offline', look)
    return () => {
      window.removeEventListener('online', look)
      window.removeEventListener('offline', look)
    }
  }, [])
  return online
}
