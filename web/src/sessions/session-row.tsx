// One chat in the list: its title, what is going on in it, and what can be done with it.

import { Download, Ellipsis, FileJson, Pencil, Pin, PinOff, Trash2 } from 'lucide-react'
import { memo, useState } from 'react'
import type { SessionInfo } from '../api/types.gen'
import { addressOf, go, useRoute } from '../app/router'
import { usePage } from '../app/page-context'
import { useTexts } from '../i18n'
import { Menu } from '../ui/menu'
import { Spinner } from '../ui/spinner'
import { showToast } from '../ui/toasts'
import { exportJson, exportMarkdown } from './export'
import { sessions } from './sessions-store'

export const SessionRow = memo(function SessionRow({ session, active, onChosen }: { session: SessionInfo; active: boolean; onChosen: () => void }) {
  const t = useTexts()
  const route = useRoute()
  const page = usePage()
  const [renaming, setRenaming] = useState(false)
  const title = session.title ?? t.untitled
  const fail = (error: unknown) => showToast({ kind: 'error', text: error instanceof Error ? error.message : t.errorRequest })

  const remove = () => {
    let back = false
    sessions.hide(session.id)
    if (route.page === 'chat' && route.id === session.id) page.newChat()
    showToast({
      text: t.removed(title),
      action: {
        label: t.undo,
        run: () => {
          back = true
          sessions.unhide(session.id)
        },
      },
      onGone: () => {
        if (back) return
        sessions.remove(session.id).catch((error: unknown) => {
          sessions.unhide(session.id)
          fail(error)
        })
      },
    })
  }

  if (renaming) {
    return (
      <li>
        <input
          className="field rename"
          aria-label={t.titleOf}
          defaultValue={session.title ?? ''}
          maxLength={200}
          // The person just asked to write here.
          autoFocus
          onFocus={(event) => event.target.select()}
          onBlur={() => setRenaming(false)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') setRenaming(false)
            if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
            const changed = event.currentTarget.value.trim()
            setRenaming(false)
            if (changed && changed !== session.title) sessions.rename(session.id, changed).catch(fail)
          }}
        />
      </li>
    )
  }
  return (
    <li className={active ? 'session session-active' : 'session'}>
      <a
        href={addressOf({ page: 'chat', id: session.id })}
        aria-current={active ? 'page' : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey) return
          event.preventDefault()
          go({ page: 'chat', id: session.id })
          onChosen()
        }}
      >
        <Mark session={session} active={active} />
        <span className="session-title">{title}</span>
      </a>
      <Menu
        trigger={
          <button type="button" className="icon-button icon-button-small session-more" aria-label={t.actionsFor(title)}>
            <Ellipsis size={15} />
          </button>
        }
        items={[
          {
            label: session.pinned ? t.unpin : t.pin,
            icon: session.pinned ? <PinOff size={15} /> : <Pin size={15} />,
            onSelect: () => void sessions.pin(session.id, !session.pinned).catch(fail),
          },
          // After the menu has given the focus back.
          { label: t.rename, icon: <Pencil size={15} />, onSelect: () => setTimeout(() => setRenaming(true), 0) },
          { label: t.exportMarkdown, icon: <Download size={15} />, onSelect: () => void exportMarkdown(session.id, title).catch(fail) },
          { label: t.exportJson, icon: <FileJson size={15} />, onSelect: () => void exportJson(session.id, title).catch(fail) },
          'line',
          { label: t.remove, icon: <Trash2 size={15} />, danger: true, onSelect: remove },
        ]}
      />
    </li>
  )
})

function Mark({ session, active }: { session: SessionInfo; active: boolean }) {
  const t = useTexts()
  if (session.status === 'running') return <Spinner label={t.statusRunning} />
  if (session.status === 'waiting') return <span className="dot dot-waiting" role="img" aria-label={t.statusWaiting} title={t.statusWaiting} />
  if (!active && sessions.isUnread(session)) return <span className="dot dot-unread" role="img" aria-label={t.unread} title={t.unread} />
  return null
}
