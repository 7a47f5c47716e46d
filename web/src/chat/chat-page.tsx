// A chat by its address: fetches the newest page of its history, then shows the conversation.

import { useEffect, useState } from 'react'
import { isMissing } from '../api/problem'
import { useTexts } from '../i18n'
import { Button } from '../ui/button'
import { Spinner } from '../ui/spinner'
import { Conversation } from './conversation'
import type { ChatMessage } from './message-types'
import { fetchHistory } from './routes'
import { PAGE } from './use-session-chat'

/** Chats that were begun on this page: coming back to one, its history is fetched like any other's. */
export const begunChats = new Set<string>()

type Loaded = { state: 'loading' } | { state: 'failed'; text: string } | { state: 'ready'; messages: ChatMessage[]; known: boolean }

interface ChatPageProps {
  id: string
  fresh: boolean
  readOnly?: boolean
  /** The agent a new chat begins with. */
  agent?: string | undefined
}

export function ChatPage({ id, fresh: isNew, readOnly = false, agent }: ChatPageProps) {
  const t = useTexts()
  const [fresh] = useState(() => isNew && !begunChats.has(id))
  const [loaded, setLoaded] = useState<Loaded>(fresh ? { state: 'ready', messages: [], known: false } : { state: 'loading' })
  const [tries, setTries] = useState(0)
  useEffect(() => {
    if (fresh) return
    let wanted = true
    fetchHistory(id, { limit: PAGE }).then(
      (messages) => wanted && setLoaded({ state: 'ready', messages, known: true }),
      (error: unknown) => {
        if (!wanted) return
        if (isMissing(error)) setLoaded({ state: 'ready', messages: [], known: false })
        else setLoaded({ state: 'failed', text: error instanceof Error ? error.message : String(error) })
      },
    )
    return () => {
      wanted = false
    }
  }, [id, fresh, tries])

  if (loaded.state === 'loading') {
    return (
      <div className="centre">
        <Spinner label={t.loading} />
      </div>
    )
  }
  if (loaded.state === 'failed') {
    return (
      <div className="centre">
        <p role="alert">{loaded.text}</p>
        <Button onClick={() => {
          setLoaded({ state: 'loading' })
          setTries(tries + 1)
        }}>{t.retry}</Button>
      </div>
    )
  }
  return <Conversation id={id} initial={loaded.messages} known={loaded.known} readOnly={readOnly} firstAgent={agent} />
}
