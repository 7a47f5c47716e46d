// Keys that work everywhere on the page.

import { useEffect, useRef } from 'react'

export const isMac = (): boolean => /mac|iphone|ipad/i.test(navigator.platform)

/** `mod` is ⌘ on a Mac and Ctrl elsewhere. */
export function useShortcut(keys: string, run: () => unknown, on = true): void {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    if (!on) return
    const parts = keys.split('+')
    const key = parts.at(-1)?.toLowerCase()
    const mod = parts.includes('mod')
    const shift = parts.includes('shift')
    const hear = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || event.altKey) return
      const held = isMac() ? event.metaKey : event.ctrlKey
      if (held !== mod || event.key.toLowerCase() !== key || (mod && event.shiftKey !== shift)) return
      // Escape belongs to whatever is open on top.
      if (key === 'escape' && document.querySelector('dialog[open], .menu, .suggestions')) return
      if (mod) event.preventDefault()
      latest.current()
    }
    window.addEventListener('keydown', hear)
    return () => window.removeEventListener('keydown', hear)
  }, [keys, on])
}
