// The list of chats with search, and the ways to everything else.

import { Bot, ChartColumn, Inbox, PanelLeft, Search, Settings, SquarePen, X } from 'lucide-react'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { SessionInfo } from '../api/types.gen'
import { addressOf, go, useRoute, type Route } from '../app/router'
import { useShortcut } from '../app/shortcuts'
import { usePage } from '../app/page-context'
import { useTexts, type Texts } from '../i18n'
import { Button, IconButton } from '../ui/button'
import { Logo } from '../ui/spinner'
import { SessionRow } from './session-row'
import { sessions, useSessions } from './sessions-store'

interface SidebarProps {
  onHide: () => void
  onInbox: () => void
  showAgents: boolean
  /** Something was chosen: on a small screen the list makes room. */
  onChosen: () => void
}

export function Sidebar({ onHide, onInbox, showAgents, onChosen }: SidebarProps) {
  const t = useTexts()
  const page = usePage()
  const route = useRoute()
  const { approvals, loaded, nextCursor } = useSessions()
  const [query, setQuery] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const found = useSearch(query)
  const list = found ?? sessions.visible()
  const groups = useMemo(() => (found ? [{ name: '', sessions: found }] : groupsOf(list, t)), [found, list, t])
  const active = route.page === 'chat' ? route.id : undefined
  useShortcut('mod+k', () => field.current?.focus())
  const visit = (to: Route) => {
    go(to)
    onChosen()
  }
  return (
    <nav className="sidebar" aria-label={t.chats}>
      <header className="sidebar-head">
        <a className="wordmark" href="/" onClick={(event) => {
          event.preventDefault()
          page.newChat()
        }}>
          <Logo /> Concertino
        </a>
        <IconButton label={t.hideSidebar} shortcut={`${page.modifier} B`} onClick={onHide}>
          <PanelLeft size={17} />
        </IconButton>
      </header>
      <Button className="new-chat" onClick={page.newChat}>
        <SquarePen size={15} aria-hidden /> {t.newChat}
        <kbd>{page.modifier} J</kbd>
      </Button>
      <div className="search" role="search">
        <Search size={15} aria-hidden />
        <input ref={field} type="search" value={query} placeholder={t.search} aria-label={t.search} onChange={(event) => setQuery(event.target.value)} onKeyDown={(event) => {
          if (event.key === 'Escape') setQuery('')
        }} />
        {query ? (
          <IconButton label={t.clearSearch} size="small" onClick={() => setQuery('')}>
            <X size={13} />
          </IconButton>
        ) : (
          <kbd>{page.modifier} K</kbd>
        )}
      </div>
      <div className="sessions">
        {loaded && list.length === 0 && <p className="quiet sessions-empty">{query ? t.nothingFound : t.noSessions}</p>}
        {groups.map((group) => (
          <section key={group.name} aria-label={group.name || t.search}>
            {group.name && <h2>{group.name}</h2>}
            <ul>
              {group.sessions.map((session) => (
                <SessionRow key={session.id} session={session} active={session.id === active} onChosen={onChosen} />
              ))}
            </ul>
          </section>
        ))}
        {!query && nextCursor && (
          <Button kind="quiet" onClick={() => void sessions.loadMore().catch(() => undefined)}>{t.loadMore}</Button>
        )}
      </div>
      <footer className="sidebar-foot">
        <button type="button" className="nav-item" onClick={onInbox}>
          <Inbox size={16} aria-hidden /> {t.inbox}
          {approvals.length > 0 && (
            <span className="count" aria-label={t.inboxCount(approvals.length)}>{approvals.length}</span>
          )}
        </button>
        {showAgents && (
          <NavLink to={{ page: 'agents' }} active={route.page === 'agents'} visit={visit}>
            <Bot size={16} aria-hidden /> {t.agents}
          </NavLink>
        )}
        <NavLink to={{ page: 'usage' }} active={route.page === 'usage'} visit={visit}>
          <ChartColumn size={16} aria-hidden /> {t.usage}
        </NavLink>
        <NavLink to={{ page: 'settings' }} active={route.page === 'settings'} visit={visit}>
          <Settings size={16} aria-hidden /> {t.settings}
        </NavLink>
      </footer>
    </nav>
  )
}

function NavLink({ to, active, visit, children }: { to: Route; active: boolean; visit: (to: Route) => void; children: React.ReactNode }) {
  return (
    <a
      className="nav-item"
      href={addressOf(to)}
      aria-current={active ? 'page' : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        visit(to)
      }}
    >
      {children}
    </a>
  )
}

function useSearch(query: string): SessionInfo[] | undefined {
  const [found, setFound] = useState<SessionInfo[]>()
  const wanted = query.trim()
  useEffect(() => {
    if (!wanted) {
      setFound(undefined)
      return
    }
    const gone = new AbortController()
    const timer = setTimeout(() => {
      sessions.search(wanted, gone.signal).then(
        (list) => setFound(list.sessions),
        () => undefined,
      )
    }, 150)
    return () => {
      clearTimeout(timer)
      gone.abort()
    }
  }, [wanted])
  return wanted ? found : undefined
}

export function groupsOf(list: readonly SessionInfo[], t: Texts, now = new Date()): { name: string; sessions: SessionInfo[] }[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime()
  const day = 86_400_000
  const groups = [
    { name: t.pinned, has: (one: SessionInfo) => one.pinned },
    { name: t.today, has: (one: SessionInfo) => one.updatedAt >= midnight },
    { name: t.yesterday, has: (one: SessionInfo) => one.updatedAt >= midnight - day },
    { name: t.lastWeek, has: (one: SessionInfo) => one.updatedAt >= midnight - 7 * day },
    { name: t.older, has: () => true },
  ].map((group) => ({ ...group, sessions: [] as SessionInfo[] }))
  for (const session of list) groups.find((group) => group.has(session))?.sessions.push(session)
  return groups.filter((group) => group.sessions.length > 0).map(({ name, sessions: members }) => ({ name, sessions: members }))
}
