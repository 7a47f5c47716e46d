// A question the agent waits on: what will happen, and the answers. Works with the keyboard alone.

import { Check, ShieldQuestion, X } from 'lucide-react'
import { useId, useRef, useState, type KeyboardEvent } from 'react'
import { useTexts } from '../../i18n'
import { Button } from '../../ui/button'
import { showToast } from '../../ui/toasts'
import { useSurroundings } from '../chat-context'
import { toolName, type ToolPart } from '../message-types'
import { ApprovalSubject } from './approval-subject'
import { titleOf } from './tool-words'

export function ApprovalCard({ part, approvalId }: { part: ToolPart; approvalId: string }) {
  const t = useTexts()
  const { answer, readOnly } = useSurroundings()
  return (
    <Question
      title={titleOf(part, t)}
      tool={toolName(part)}
      input={part.input}
      readOnly={readOnly}
      onAnswer={(approved, reason) => answer(approvalId, { approved, ...(reason ? { reason } : {}) })}
    />
  )
}

interface QuestionProps {
  title: string
  tool: string
  input: unknown
  readOnly?: boolean
  onAnswer: (approved: boolean, reason?: string) => Promise<void>
}

export function Question({ title, tool, input, readOnly = false, onAnswer }: QuestionProps) {
  const t = useTexts()
  const titleId = useId()
  const [sending, setSending] = useState(false)
  const [denying, setDenying] = useState(false)
  const [reason, setReason] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)

  const give = (approved: boolean) => {
    setSending(true)
    onAnswer(approved, approved ? undefined : reason.trim()).catch((error: unknown) => {
      setSending(false)
      showToast({ kind: 'error', text: `${t.answerFailed} ${error instanceof Error ? error.message : ''}` })
    })
  }
  const askWhy = () => {
    setDenying(true)
    requestAnimationFrame(() => field.current?.focus())
  }
  const keys = (event: KeyboardEvent) => {
    if (sending || readOnly || event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLTextAreaElement) return
    if (event.key === 'a') give(true)
    else if (event.key === 'd') askWhy()
    else return
    event.preventDefault()
  }

  return (
    <section className="approval" role="group" aria-labelledby={titleId} tabIndex={0} onKeyDown={keys}>
      <header>
        <ShieldQuestion size={17} aria-hidden />
        <div>
          <h4 id={titleId}>{title}</h4>
          <p>
            {t.approvalWhy} <code>{tool}</code>
          </p>
        </div>
      </header>
      <ApprovalSubject input={input} />
      {!readOnly && denying && (
        <textarea
          ref={field}
          className="field"
          rows={2}
          value={reason}
          placeholder={t.denyReason}
          aria-label={t.denyReason}
          onChange={(event) => setReason(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
              event.preventDefault()
              give(false)
            } else if (event.key === 'Escape') setDenying(false)
          }}
        />
      )}
      {!readOnly && (
        <footer>
          {denying ? (
            <>
              <Button kind="danger" disabled={sending} onClick={() => give(false)}>
                <X size={15} aria-hidden /> {t.denySend}
              </Button>
              <Button kind="quiet" disabled={sending} onClick={() => setDenying(false)}>
                {t.cancel}
              </Button>
            </>
          ) : (
            <>
              <Button kind="primary" disabled={sending} onClick={() => give(true)}>
                <Check size={15} aria-hidden /> {t.approve}
              </Button>
              <Button kind="plain" disabled={sending} onClick={askWhy}>
                <X size={15} aria-hidden /> {t.deny}
              </Button>
            </>
          )}
        </footer>
      )}
    </section>
  )
}
