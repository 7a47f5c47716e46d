// What the person chose for this browser: theme, language, which panels are open. Shared between tabs.

import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'
export type Language = 'system' | 'en' | 'zh'

export type PanelTab = 'details' | 'changes' | 'files' | 'commands'

export interface Preferences {
  theme: Theme
  language: Language
  sidebar: boolean
  panel: boolean
  panelTab: PanelTab
  /** How changes to files are shown where there is room for both. */
  diffLayout: 'inline' | 'split'
  demoBanner: boolean
}

const KEY = 'concertino.preferences'
const defaults: Preferences = { theme: 'system', language: 'system', sidebar: true, panel: false, panelTab: 'details', diffLayout: 'inline', demoBanner: true }

const listeners = new Set<() => void>()
let current = read()

function read(): Preferences {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Preferences>) }
  } catch {
    return defaults
  }
}

function tell() {
  for (const listener of listeners) listener()
}

window.addEventListener('storage', (event) => {
  if (event.key !== KEY) return
  current = read()
  tell()
})

export const preferences = (): Preferences => current

export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change }
  try {
    localStorage.setItem(KEY, JSON.stringify(current))
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  tell()
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
  )
}

export function isDark(theme: Theme): boolean {
  return theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
}
