// The texts in the person's language, and numbers, sizes and times as they are written there.

import { usePreferences, type Language } from '../app/preferences'
import { en, type Texts } from './en'
import { zh } from './zh'

export type { Texts } from './en'

export function resolveLanguage(chosen: Language, spoken: readonly string[] = navigator.languages): 'en' | 'zh' {
  if (chosen !== 'system') return chosen
  const first = spoken.find((tag) => /^(en|zh)\b/i.test(tag))
  return first?.toLowerCase().startsWith('zh') ? 'zh' : 'en'
}

export const textsOf = (language: 'en' | 'zh'): Texts => (language === 'zh' ? zh : en)

export function useLanguage(): 'en' | 'zh' {
  return resolveLanguage(usePreferences().language)
}

export function useTexts(): Texts {
  return textsOf(useLanguage())
}

export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

export function formatCount(count: number): string {
  if (count < 1000) return String(count)
  if (count < 1_000_000) return `${trim((count / 1000).toFixed(1))}k`
  return `${trim((count / 1_000_000).toFixed(1))}M`
}

const trim = (text: string) => text.replace(/\.0$/, '')

export function formatDuration(milliseconds: number): string {
  if (milliseconds < 950) return `${Math.max(1, Math.round(milliseconds / 10) * 10)} ms`
  const seconds = milliseconds / 1000
  if (seconds < 60) return `${seconds < 9.95 ? seconds.toFixed(1) : Math.round(seconds)} s`
  const minutes = Math.floor(seconds / 60)
  return `${minutes} min ${Math.round(seconds - minutes * 60)} s`
}

export function formatTime(time: number, language: 'en' | 'zh'): string {
  const date = new Date(time)
  const sameDay = date.toDateString() === new Date().toDateString()
  const options: Intl.DateTimeFormatOptions = sameDay
    ? { hour: '2-digit', minute: '2-digit' }
    : { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' }
  return new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', options).format(date)
}
