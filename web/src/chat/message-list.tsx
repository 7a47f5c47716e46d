// The conversation: only what is on the screen exists as elements. Follows the newest words while the reader is at the
// end, and leaves them alone everywhere else.

import { ArrowDown } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react'
import { Virtualizer, type VirtualizerHandle } from 'virtua'
import type { BranchPoint } from '../api/types.gen'
import { useTexts } from '../i18n'
import { IconButton } from '../ui/button'
import { Spinner } from '../ui/spinner'
import { MessageView, type MessageActions } from './message'
import type { ChatMessage } from './message-types'
import { useFollow } from './use-follow'

interface MessageListProps {
  messages: ChatMessage[]
  busy: boolean
  /** The request is out, nothing has come back yet. */
  waiting: boolean
  readOnly: boolean
  branches: readonly BranchPoint[]
  actions: MessageActions
  hasEarlier: boolean
  loadEarlier: () => Promise<void>
  footer?: ReactNode
}

export function MessageList(props: MessageListProps) {
  const { messages, busy, waiting, readOnly, branches, actions, hasEarlier, loadEarlier, footer } = props
  const t = useTexts()
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const virtual = useRef<VirtualizerHandle>(null)
  const { following, toEnd } = useFollow(scroller, content)
  const [loading, setLoading] = useState(false)
  const first = messages[0]?.id
  const firstBefore = useRef(first)
  // Messages put before the others must not move what is being read.
  const prepended = firstBefore.current !== first && firstBefore.current !== undefined && messages.some((message) => message.id === firstBefore.current)
  useEffect(() => {
    firstBefore.current = first
  }, [first])

  const loadMore = useCallback(() => {
    if (loading || !hasEarlier) return
    setLoading(true)
    loadEarlier()
      .catch(() => undefined)
      .finally(() => setLoading(false))
  }, [loading, hasEarlier, loadEarlier])

  // A person who just wrote wants to see what comes of it.
  const newestOwn = useMemo(() => messages.findLast((message) => message.role === 'user')?.id, [messages])
  useEffect(() => toEnd('instant'), [newestOwn, toEnd])

  const branchOf = useMemo(() => new Map(branches.map((branch) => [branch.messageId, branch])), [branches])
  const newest = messages.at(-1)
  return (
    <div className="list-frame">
      <div
        className="list"
        ref={scroller}
        role="log"
        aria-label={t.conversation}
        aria-live="off"
        tabIndex={0}
        onScroll={() => {
          if ((scroller.current?.scrollTop ?? 1000) < 600) loadMore()
        }}
      >
        <div className="list-content" ref={content}>
          {hasEarlier && (
            <div className="earlier">
              {loading ? <Spinner label={t.loadingEarlier} /> : <button type="button" className="button button-quiet" onClick={loadMore}>{t.earlier}</button>}
            </div>
          )}
          <Virtualizer ref={virtual} scrollRef={scroller} shift={prepended} bufferSize={900}>
            {messages.map((message, at) => (
              <div key={message.id} className="row">
                <MessageView
                  message={message}
                  last={at === messages.length - 1}
                  streaming={busy && !waiting && message === newest && message.role === 'assistant'}
                  busy={busy}
                  readOnly={readOnly}
                  branch={branchOf.get(message.id)}
                  actions={actions}
                />
              </div>
            ))}
          </Virtualizer>
          {waiting && newest?.role === 'user' && (
            <div className="row">
              <div className="message message-agent">
                <Spinner label={t.working} />
              </div>
            </div>
          )}
          <div className="row row-end">{footer}</div>
        </div>
      </div>
      {!following && (
        <IconButton label={t.jumpToEnd} className="jump" onClick={() => toEnd('smooth')}>
          <ArrowDown size={17} />
        </IconButton>
      )}
    </div>
  )
}
