// One message with its actions: copy, quote, retry, edit, and the switch between versions.

import { ChevronLeft, ChevronRight, Pencil, Play, Quote, RotateCcw } from 'lucide-react'
import { memo, useState } from 'react'
import type { BranchPoint } from '../api/types.gen'
import { formatCount, formatSize, formatTime, useLanguage, useTexts } from '../i18n'
import { Button, IconButton } from '../ui/button'
import { CopyButton } from '../ui/copy-button'
import { Spinner } from '../ui/spinner'
import { textOf, type ChatMessage } from './message-types'
import { FilePart } from './parts/file-part'
import { MessageParts } from './parts/message-parts'

export interface MessageActions {
  edit: (messageId: string, text: string) => void
  retry: (messageId?: string) => void
  goOn: () => void
  quote: (text: string) => void
  switchBranch: (messageId: string, revision: number) => void
}

interface MessageViewProps {
  message: ChatMessage
  streaming: boolean
  last: boolean
  busy: boolean
  readOnly: boolean
  branch: BranchPoint | undefined
  actions: MessageActions
}

export const MessageView = memo(function MessageView(props: MessageViewProps) {
  return props.message.role === 'user' ? <UserMessage {...props} /> : <AgentMessage {...props} />
})

function UserMessage({ message, busy, readOnly, branch, actions }: MessageViewProps) {
  const t = useTexts()
  const [editing, setEditing] = useState(false)
  const text = textOf(message)
  const files = message.parts.filter((part) => part.type === 'file')
  if (editing) {
    return (
      <article className="message message-user" aria-label={t.you}>
        <EditBox text={text} onCancel={() => setEditing(false)} onSend={(changed) => {
          setEditing(false)
          actions.edit(message.id, changed)
        }} />
      </article>
    )
  }
  return (
    <article className="message message-user" aria-label={t.you}>
      {files.length > 0 && (
        <div className="message-files">
          {files.map((file, at) => (
            <FilePart key={at} file={file} />
          ))}
        </div>
      )}
      <div className="message-own">
        <footer className="message-actions">
          <BranchSwitch branch={branch} busy={busy} actions={actions} />
          <CopyButton text={text} />
          {!readOnly && (
            <IconButton label={t.edit} size="small" disabled={busy} onClick={() => setEditing(true)}>
              <Pencil size={14} />
            </IconButton>
          )}
        </footer>
        {text && <UserText text={text} />}
      </div>
    </article>
  )
}

const FIRST = 4000

function UserText({ text }: { text: string }) {
  const t = useTexts()
  const [all, setAll] = useState(false)
  const long = text.length > FIRST * 1.25
  return (
    <div className="bubble">
      <p>{long && !all ? `${text.slice(0, FIRST)}…` : text}</p>
      {long && (
        <Button kind="quiet" onClick={() => setAll(!all)}>
          {all ? t.showLess : t.showAll(formatSize(text.length))}
        </Button>
      )}
    </div>
  )
}

function EditBox({ text, onCancel, onSend }: { text: string; onCancel: () => void; onSend: (text: string) => void }) {
  const t = useTexts()
  const [draft, setDraft] = useState(text)
  return (
    <div className="edit-box">
      <textarea
        className="field"
        aria-label={t.editLabel}
        rows={Math.min(12, draft.split('\n').length + 1)}
        value={draft}
        // The person just asked to write here.
        autoFocus
        onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onCancel()
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing && draft.trim()) {
            event.preventDefault()
            onSend(draft.trim())
          }
        }}
      />
      <div className="edit-actions">
        <Button kind="quiet" onClick={onCancel}>{t.cancel}</Button>
        <Button kind="primary" disabled={!draft.trim()} onClick={() => onSend(draft.trim())}>{t.sendEdit}</Button>
      </div>
    </div>
  )
}

function AgentMessage({ message, streaming, last, busy, readOnly, branch, actions }: MessageViewProps) {
  const t = useTexts()
  const language = useLanguage()
  const { metadata } = message
  const nothingYet = !message.parts.some((part) => part.type !== 'step-start')
  return (
    <article className="message message-agent" aria-label={metadata?.agent?.displayName ?? t.assistant} aria-busy={streaming}>
      <div className="parts">
        <MessageParts message={message} streaming={streaming} />
        {streaming && nothingYet && <Spinner label={t.working} />}
      </div>
      {!streaming && metadata?.status === 'cancelled' && (
        <p className="ended">
          {t.stopped}
          {last && !readOnly && (
            <Button kind="quiet" disabled={busy} onClick={actions.goOn}>
              <Play size={13} aria-hidden /> {t.continueIt}
            </Button>
          )}
        </p>
      )}
      {!streaming && metadata?.status === 'failed' && (
        <div className="notice notice-danger" role="note">
          <p>
            <strong>{t.failed}</strong> {metadata.error}
          </p>
          {last && !readOnly && (
            <Button disabled={busy} onClick={() => actions.retry(message.id)}>
              <RotateCcw size={14} aria-hidden /> {t.retry}
            </Button>
          )}
        </div>
      )}
      {!streaming && (
        <footer className={last ? 'message-actions message-actions-last' : 'message-actions'}>
          <BranchSwitch branch={branch} busy={busy} actions={actions} />
          <CopyButton text={() => textOf(message)} />
          {!readOnly && (
            <>
              <IconButton label={t.quote} size="small" onClick={() => actions.quote(selected() || textOf(message))}>
                <Quote size={14} />
              </IconButton>
              <IconButton label={t.retry} size="small" disabled={busy} onClick={() => actions.retry(message.id)}>
                <RotateCcw size={14} />
              </IconButton>
            </>
          )}
          <span className="message-facts">
            {metadata?.createdAt !== undefined && <span>{formatTime(metadata.createdAt, language)}</span>}
            {metadata?.model && <span>{metadata.model}</span>}
            {metadata?.usage && metadata.usage.totalTokens > 0 && <span>{t.tokens(formatCount(metadata.usage.totalTokens))}</span>}
          </span>
        </footer>
      )}
    </article>
  )
}

const selected = (): string => window.getSelection()?.toString().trim() ?? ''

function BranchSwitch({ branch, busy, actions }: { branch: BranchPoint | undefined; busy: boolean; actions: MessageActions }) {
  const t = useTexts()
  if (!branch || branch.choices.length < 2) return null
  const go = (to: number) => {
    const choice = branch.choices[to]
    if (choice) actions.switchBranch(choice.messageId, choice.revision)
  }
  return (
    <span className="branch" role="group" aria-label={t.versionOf(branch.at + 1, branch.choices.length)}>
      <IconButton label={t.previousVersion} size="small" disabled={busy || branch.at === 0} onClick={() => go(branch.at - 1)}>
        <ChevronLeft size={14} />
      </IconButton>
      <span aria-hidden>
        {branch.at + 1} / {branch.choices.length}
      </span>
      <IconButton label={t.nextVersion} size="small" disabled={busy || branch.at === branch.choices.length - 1} onClick={() => go(branch.at + 1)}>
        <ChevronRight size={14} />
      </IconButton>
    </span>
  )
}
