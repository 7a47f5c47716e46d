// The page: the list of chats on one side, what was chosen on the other, and what may lie above both.

import { Tooltip } from 'radix-ui'
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react'
import { useAgents } from '../agents/routes'
import { begunChats, ChatPage } from '../chat/chat-page'
import { resolveLanguage, useLanguage, useTexts } from '../i18n'
import { InboxDialog } from '../sessions/inbox'
import { sessions } from '../sessions/sessions-store'
import { Sidebar } from '../sessions/sidebar'
import { ShortcutList } from '../settings/shortcut-list'
import { Button, IconButton } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { ErrorBoundary } from '../ui/error-boundary'
import { Spinner } from '../ui/spinner'
import { Toasts } from '../ui/toasts'
import { PanelLeft } from 'lucide-react'
import { PageContext, type PageActions } from './page-context'
import { isDark, preferences, setPreferences, usePreferences } from './preferences'
import { go, useRoute } from './router'
import { isMac, useShortcut } from './shortcuts'

const AgentsPage = lazy(() => import('../agents/agents-page').then((module) => ({ default: module.AgentsPage })))
const SettingsPage = lazy(() => import('../settings/settings-page').then((module) => ({ default: module.SettingsPage })))

const UsagePage = lazy(() => import('../usage/usage-page').then((module) => ({ default: module.UsagePage })))

export function App() {
  const t = useTexts()
  const language = useLanguage()
  const { theme, sidebar } = usePreferences()
  const agents = useAgents()
  const [drawer, setDrawer] = useState(false)
  const [inbox, setInbox] = useState(false)
  const [shortcuts, setShortcuts] = useState(false)
  const [freshId, setFreshId] = useState(() => crypto.randomUUID())
  const route = useRoute()

  useEffect(() => sessions.start(), [])
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en'
  }, [language])
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
  }, [theme])
  useEffect(() => {
    const leave = () => location.reload()
    window.addEventListener('concertino:signed-out', leave, { once: true })
    return () => window.removeEventListener('concertino:signed-out', leave)
  }, [])

  // Back at the start after a chat was begun there: the next one is another.
  useEffect(() => {
    if (route.page === 'start' && begunChats.has(freshId)) setFreshId(crypto.randomUUID())
  }, [route, freshId])

  const newChat = useCallback(() => {
    setFreshId(crypto.randomUUID())
    setDrawer(false)
    go({ page: 'start' })
  }, [])
  const page = useMemo<PageActions>(
    () => ({
      newChat,
      openSidebar: () => setDrawer(true),
      showShortcuts: () => setShortcuts(true),
      switchTheme: () => setPreferences({ theme: isDark(preferences().theme) ? 'light' : 'dark' }),
      switchLanguage: () => setPreferences({ language: resolveLanguage(preferences().language) === 'zh' ? 'en' : 'zh' }),
      modifier: isMac() ? '⌘' : 'Ctrl',
    }),
    [newChat],
  )
  useShortcut('mod+j', newChat)
  useShortcut('mod+b', () => setPreferences({ sidebar: !preferences().sidebar }))
  useShortcut('mod+y', () => setInbox(true))
  useShortcut('mod+/', () => setShortcuts(true))

  const sidebarView = (
    <Sidebar
      showAgents={agents.length > 0}
      onHide={() => {
        setPreferences({ sidebar: false })
        setDrawer(false)
      }}
      onInbox={() => {
        setDrawer(false)
        setInbox(true)
      }}
      onChosen={() => setDrawer(false)}
    />
  )
  return (
    <PageContext value={page}>
      <Tooltip.Provider delayDuration={500} skipDelayDuration={200}>
        <a className="skip" href="#main">{t.skipToChat}</a>
        <div className={sidebar ? 'frame' : 'frame frame-wide'}>
          {sidebar && <div className="sidebar-place">{sidebarView}</div>}
          <main id="main" className="main" tabIndex={-1}>
            {!sidebar && (
              <IconButton label={t.showSidebar} className="sidebar-open" shortcut={`${page.modifier} B`} onClick={() => setPreferences({ sidebar: true })}>
                <PanelLeft size={17} />
              </IconButton>
            )}
            <ErrorBoundary watch={route} fallback={(error, again) => <Mistake error={error} again={again} />}>
              <Suspense fallback={<div className="centre"><Spinner label={t.loading} /></div>}>
                <Place freshId={freshId} />
              </Suspense>
            </ErrorBoundary>
          </main>
        </div>
        <Drawer open={drawer} onClose={() => setDrawer(false)} label={t.chats}>{sidebarView}</Drawer>
        <InboxDialog open={inbox} onClose={() => setInbox(false)} />
        <Dialog title={t.shortcuts} open={shortcuts} onClose={() => setShortcuts(false)}>
          <ShortcutList />
        </Dialog>
        <Toasts />
      </Tooltip.Provider>
    </PageContext>
  )
}

function Place({ freshId }: { freshId: string }) {
  const t = useTexts()
  const route = useRoute()
  switch (route.page) {
    case 'start':
      return <ChatPage key={freshId} id={freshId} fresh agent={route.agent} />
    case 'chat':
      // The chat that was just begun keeps its place on the screen when it gets its address.
      return <ChatPage key={route.id} id={route.id} fresh={route.id === freshId} />
    case 'settings':
      return <SettingsPage />
    case 'usage':
      return <UsagePage />
    case 'agents':
      return <AgentsPage name={route.name} copy={route.copy} />
    case 'missing':
      return (
        <div className="centre">
          <p>{t.notFound}</p>
          <Button onClick={() => go({ page: 'start' })}>{t.toStart}</Button>
        </div>
      )
  }
}

function Drawer({ open, onClose, label, children }: { open: boolean; onClose: () => void; label: string; children: React.ReactNode }) {
  useEffect(() => {
    if (!open) return
    const close = (event: KeyboardEvent) => {
      if (event.key === 'Escape') onClose()
    }
    window.addEventListener('keydown', close)
    return () => window.removeEventListener('keydown', close)
  }, [open, onClose])
  if (!open) return null
  return (
    <div className="drawer" role="dialog" aria-modal="true" aria-label={label}>
      <div className="drawer-shade" onClick={onClose} />
      {children}
    </div>
  )
}

function Mistake({ error, again }: { error: Error; again: () => void }) {
  const t = useTexts()
  return (
    <div className="centre" role="alert">
      <p>
        <strong>{t.errorRender}</strong>
      </p>
      <p className="quiet">{error.message}</p>
      <div className="edit-actions">
        <Button onClick={again}>{t.retry}</Button>
        <Button kind="primary" onClick={() => location.reload()}>{t.reload}</Button>
      </div>
    </div>
  )
}
