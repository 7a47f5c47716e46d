// Tries an agent out where it is defined: one question, its answer as in any chat, and the way into that chat.

import { ExternalLink, Play, Square } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { addressOf, go } from '../app/router'
import { ChatContext, type ChatSurroundings } from '../chat/chat-context'
import { TroubleNotice } from '../chat/notices'
import { MessageParts } from '../chat/parts/message-parts'
import { useSessionChat } from '../chat/use-session-chat'
import { useTexts } from '../i18n'
import { Button } from '../ui/button'
import { Spinner } from '../ui/spinner'

export function TestRun({ agent }: { agent: string }) {
  const t = useTexts()
  const [task, setTask] = useState('')
  const [chatId, setChatId] = useState(() => crypto.randomUUID())
  const [sent, setSent] = useState<string>()
  const run = () => {
    if (!task.trim()) return
    if (sent !== undefined) setChatId(crypto.randomUUID())
    setSent(task.trim())
  }
  return (
    <section className="group" aria-label={t.agentTry}>
      <h2>{t.agentTry}</h2>
      <div className="group-body">
        <textarea
          className="field"
          rows={2}
          value={task}
          placeholder={t.agentTryTask}
          aria-label={t.agentTryTask}
          onChange={(event) => setTask(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault()
              run()
            }
          }}
        />
        {sent === undefined ? (
          <div className="form-actions">
            <Button disabled={!task.trim()} onClick={run}>
              <Play size={14} aria-hidden /> {t.agentTryRun}
            </Button>
          </div>
        ) : (
          <Answer key={chatId} chatId={chatId} agent={agent} task={sent} again={run} />
        )}
      </div>
    </section>
  )
}

function Answer({ chatId, agent, task, again }: { chatId: string; agent: string; task: string; again: () => void }) {
  const t = useTexts()
  const choices = useCallback(() => ({ agentId: agent }), [agent])
  const initial = useMemo(() => [], [])
  const chat = useSessionChat({ id: chatId, initial, hasEarlier: false, known: false, choices })
  const { send } = chat
  const begun = useRef(false)
  useEffect(() => {
    if (begun.current) return
    begun.current = true
    send(task, [])
  }, [send, task])
  const surroundings = useMemo<ChatSurroundings>(
    () => ({ chatId, lanes: chat.lanes, readOnly: false, answer: chat.answer, fillIn: chat.fillIn, openAgent: (sub) => go({ page: 'chat', id: chatId, agent: sub }) }),
    [chatId, chat.lanes, chat.answer, chat.fillIn],
  )
  const message = chat.messages.findLast((one) => one.role === 'assistant')
  return (
    <ChatContext value={surroundings}>
      <div className="parts test-answer" aria-busy={chat.busy} aria-live="polite">
        {message && <MessageParts message={message} streaming={chat.busy} />}
        {chat.busy && !message?.parts.some((part) => part.type !== 'step-start') && <Spinner label={t.working} />}
        {message?.metadata?.status === 'failed' && <p className="complaint">{message.metadata.error}</p>}
      </div>
      <TroubleNotice trouble={chat.trouble} onRetry={undefined} onDismiss={chat.dismissTrouble} />
      <div className="form-actions">
        {chat.busy ? (
          <Button onClick={chat.stop}>
            <Square size={13} aria-hidden /> {t.stop}
          </Button>
        ) : (
          <Button onClick={again}>
            <Play size={14} aria-hidden /> {t.agentTryAgain}
          </Button>
        )}
        <a
          className="link"
          href={addressOf({ page: 'chat', id: chatId })}
          onClick={(event) => {
            event.preventDefault()
            go({ page: 'chat', id: chatId })
          }}
        >
          <ExternalLink size={13} aria-hidden /> {t.agentTryOpen}
        </a>
      </div>
    </ChatContext>
  )
}
