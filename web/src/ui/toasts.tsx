// Short notices at the edge of the page, with at most one thing to do.

import { X } from 'lucide-react'
import { useEffect, useSyncExternalStore } from 'react'
import { useTexts } from '../i18n'
import { Button, IconButton } from './button'

export interface Toast {
  id: number
  text: string
  kind: 'info' | 'error'
  action?: { label: string; run: () => void }
  lasts: number
  onGone?: () => void
}

const listeners = new Set<() => void>()
const MOST = 4
let toasts: readonly Toast[] = []
let next = 1

function set(changed: readonly Toast[]) {
  toasts = changed
  for (const listener of listeners) listener()
}

export function showToast(toast: Omit<Toast, 'id' | 'kind' | 'lasts'> & Partial<Pick<Toast, 'kind' | 'lasts'>>): number {
  const id = next++
  const whole: Toast = { kind: 'info', lasts: 6000, ...toast, id }
  for (const old of toasts.slice(0, Math.max(0, toasts.length - MOST + 1))) hideToast(old.id)
  set([...toasts, whole])
  return id
}

export function hideToast(id: number): void {
  const gone = toasts.find((toast) => toast.id === id)
  if (!gone) return
  set(toasts.filter((toast) => toast.id !== id))
  gone.onGone?.()
}

export function Toasts() {
  const t = useTexts()
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div className="toasts" aria-live="polite">
      {shown.map((toast) => (
        <div key={toast.id} className={`toast toast-${toast.kind}`} role={toast.kind === 'error' ? 'alert' : undefined}>
          <Expire toast={toast} />
          <span>{toast.text}</span>
          {toast.action && (
            <Button
              kind="quiet"
              onClick={() => {
                toast.action?.run()
                hideToast(toast.id)
              }}
            >
              {toast.action.label}
            </Button>
          )}
          <IconButton label={t.dismiss} size="small" onClick={() => hideToast(toast.id)}>
            <X size={14} />
          </IconButton>
        </div>
      ))}
    </div>
  )
}

function Expire({ toast }: { toast: Toast }) {
  useEffect(() => {
    const timer = setTimeout(() => hideToast(toast.id), toast.lasts)
    return () => clearTimeout(timer)
  }, [toast.id, toast.lasts])
  return null
}
