// The list of sessions and what waits for an answer, kept fresh: looked at again every few seconds, at once when
// another tab says so, and for single sessions when a chat asks.

import { useSyncExternalStore } from 'react'
import { call, path } from '../api/client'
import { isMissing } from '../api/problem'
import type { SessionInfo, SessionList } from '../api/types.gen'
import type { ApprovalList, WaitingApproval } from '../api/workspace-types'
import { hearTabs, tellTabs } from './tabs'

export interface SessionsState {
  sessions: readonly SessionInfo[]
  nextCursor: string | undefined
  approvals: readonly WaitingApproval[]
  loaded: boolean
  /** The last look at the server failed. */
  away: boolean
}

type Watcher = (info: SessionInfo) => void

const SEEN_KEY = 'concertino.seen'
const BUSY_PAUSE = 3000
const QUIET_PAUSE = 8000
const HIDDEN_PAUSE = 30000
const PAGE = 60

class SessionsStore {
  state: SessionsState = { sessions: [], nextCursor: undefined, approvals: [], loaded: false, away: false }
  #listeners = new Set<() => void>()
  #watchers = new Map<string, Set<Watcher>>()
  #hidden = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined
  #refreshing: Promise<void> | undefined
  #seen: Record<string, number> = readSeen()

  start(): () => void {
    const look = () => {
      if (document.visibilityState === 'visible') void this.refresh()
    }
    const off = hearTabs((session) => {
      void this.refreshOne(session).catch(() => undefined)
      void this.refresh()
    })
    document.addEventListener('visibilitychange', look)
    window.addEventListener('online', look)
    void this.refresh()
    return () => {
      clearTimeout(this.#timer)
      off()
      document.removeEventListener('visibilitychange', look)
      window.removeEventListener('online', look)
    }
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  refresh(): Promise<void> {
    this.#refreshing ??= this.#look().finally(() => {
      this.#refreshing = undefined
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => void this.refresh(), this.#pause())
    })
    return this.#refreshing
  }

  async loadMore(): Promise<void> {
    const cursor = this.state.nextCursor
    if (!cursor) return
    const page = await call<SessionList>('GET', `/api/sessions?limit=${PAGE}&cursor=${encodeURIComponent(cursor)}`)
    this.#set({ sessions: merge(this.state.sessions, page.sessions), nextCursor: page.nextCursor })
  }

  search(query: string, signal: AbortSignal): Promise<SessionList> {
    return call<SessionList>('GET', `/api/sessions?limit=50&q=${encodeURIComponent(query)}`, { signal })
  }

  /** The session as the server has it now; nothing when it has none. Throws when it cannot be asked. */
  async refreshOne(id: string): Promise<SessionInfo | undefined> {
    try {
      const info = await call<SessionInfo>('GET', path`/api/sessions/${id}`)
      this.#put(info)
      return info
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  watchOne(id: string, watcher: Watcher): () => void {
    const watchers = this.#watchers.get(id) ?? new Set()
    this.#watchers.set(id, watchers.add(watcher))
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0) this.#watchers.delete(id)
    }
  }

  async rename(id: string, title: string): Promise<void> {
    this.#put(await call<SessionInfo>('PATCH', path`/api/sessions/${id}`, { body: { title } }))
    tellTabs(id)
  }

  async pin(id: string, pinned: boolean): Promise<void> {
    this.#put(await call<SessionInfo>('PATCH', path`/api/sessions/${id}`, { body: { pinned } }))
    tellTabs(id)
  }

  /** Out of sight; `remove` makes it true, `unhide` takes it back. */
  hide(id: string): void {
    this.#hidden.add(id)
    this.#set({})
  }

  unhide(id: string): void {
    this.#hidden.delete(id)
    this.#set({})
  }

  async remove(id: string): Promise<void> {
    await call('DELETE', path`/api/sessions/${id}`, { keepalive: true })
    this.#set({ sessions: this.state.sessions.filter((session) => session.id !== id) })
    tellTabs(id)
  }

  approvalAnswered(id: string): void {
    this.#set({ approvals: this.state.approvals.filter((waiting) => waiting.approval.id !== id) })
  }

  visible(): SessionInfo[] {
    return this.state.sessions.filter((session) => !this.#hidden.has(session.id))
  }

  markSeen(id: string, updatedAt: number): void {
    if ((this.#seen[id] ?? 0) >= updatedAt) return
    this.#seen = { ...this.#seen, [id]: updatedAt }
    try {
      const newest = Object.entries(this.#seen).sort((a, b) => b[1] - a[1]).slice(0, 500)
      localStorage.setItem(SEEN_KEY, JSON.stringify(Object.fromEntries(newest)))
    } catch {
      // Without storage the marks last as long as the page.
    }
    this.#set({})
  }

  isUnread(session: SessionInfo): boolean {
    const seen = this.#seen[session.id]
    return seen !== undefined && session.updatedAt > seen && session.status === 'idle'
  }

  async #look(): Promise<void> {
    try {
      const [list, pinned, waiting] = await Promise.all([
        call<SessionList>('GET', `/api/sessions?limit=${PAGE}`),
        call<SessionList>('GET', '/api/sessions?pinned=true&limit=100'),
        call<ApprovalList>('GET', '/api/approvals'),
      ])
      const known = this.state.loaded && this.state.sessions.length > PAGE
      // Pages beyond the first stay; what left the first page was deleted or moved down.
      const kept = known ? this.state.sessions.slice(PAGE).filter((old) => !list.sessions.some((one) => one.id === old.id)) : []
      this.#set({
        sessions: merge(list.sessions, [...pinned.sessions, ...kept]),
        nextCursor: known ? this.state.nextCursor : list.nextCursor,
        approvals: waiting.approvals,
        loaded: true,
        away: false,
      })
      for (const session of list.sessions) this.#tellWatchers(session)
    } catch {
      this.#set({ away: true })
    }
  }

  #pause(): number {
    if (document.visibilityState === 'hidden') return HIDDEN_PAUSE
    return this.state.away || this.state.sessions.some((session) => session.status !== 'idle') ? BUSY_PAUSE : QUIET_PAUSE
  }

  #put(info: SessionInfo): void {
    this.#set({ sessions: merge([info], this.state.sessions.filter((session) => session.id !== info.id)) })
    this.#tellWatchers(info)
  }

  #tellWatchers(info: SessionInfo): void {
    for (const watcher of this.#watchers.get(info.id) ?? []) watcher(info)
  }

  #set(change: Partial<SessionsState>): void {
    this.state = { ...this.state, ...change }
    for (const listener of this.#listeners) listener()
  }
}

function merge(first: readonly SessionInfo[], second: readonly SessionInfo[]): SessionInfo[] {
  const known = new Set(first.map((session) => session.id))
  return [...first, ...second.filter((session) => !known.has(session.id))].sort((a, b) => b.updatedAt - a.updatedAt)
}

function readSeen(): Record<string, number> {
  try {
    return JSON.parse(localStorage.getItem(SEEN_KEY) ?? '{}') as Record<string, number>
  } catch {
    return {}
  }
}

export const sessions = new SessionsStore()

export function useSessions(): SessionsState {
  return useSyncExternalStore(sessions.subscribe, () => sessions.state)
}

export function useSession(id: string | undefined): SessionInfo | undefined {
  return useSessions().sessions.find((session) => session.id === id)
}
