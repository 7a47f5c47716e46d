// A question the agent waits on: what will happen, why it is asked, and the answers. Works with the keyboard alone.

import { Check, CheckCheck, Pencil, ShieldAlert, ShieldQuestion, X } from 'lucide-react'
import { useId, useRef, useState, type KeyboardEvent } from 'react'
import type { Question as Asked } from '../../api/workspace-types'
import { useLanguage, useTexts } from '../../i18n'
import { reasonIn } from '../../i18n/policy-reasons'
import { Button } from '../../ui/button'
import { showToast } from '../../ui/toasts'
import { coveredCalls } from '../call-words'
import { useSurroundings } from '../chat-context'
import { toolName, type ToolPart } from '../message-types'
import type { Answer } from '../routes'
import { useQuestion } from '../use-question'
import { ApprovalSubject } from './approval-subject'
import { InputEditor } from './input-editor'
import { titleOf } from './tool-words'

export function ApprovalCard({ part, approvalId }: { part: ToolPart; approvalId: string }) {
  const t = useTexts()
  const { answer, readOnly } = useSurroundings()
  const { question, loading } = useQuestion(approvalId, toolName(part))
  return (
    <Question
      title={titleOf(part, t)}
      tool={toolName(part)}
      input={part.input}
      asked={question}
      loading={loading}
      readOnly={readOnly}
      onAnswer={(given) => answer(approvalId, given)}
    />
  )
}

interface QuestionProps {
  title: string
  tool: string
  input: unknown
  asked: Asked | undefined
  /** The files that would change are still to come. */
  loading?: boolean
  readOnly?: boolean
  onAnswer: (answer: Answer) => Promise<void>
}

type Doing = 'deciding' | 'denying' | 'editing'

export function Question({ title, tool, input, asked, loading = false, readOnly = false, onAnswer }: QuestionProps) {
  const t = useTexts()
  const language = useLanguage()
  const titleId = useId()
  const noteId = useId()
  const [sending, setSending] = useState(false)
  const [doing, setDoing] = useState<Doing>('deciding')
  const [refusal, setRefusal] = useState<string>()
  const card = useRef<HTMLElement>(null)
  const sensitive = asked?.sensitive === true
  const always = sensitive ? undefined : asked?.always

  const give = (answer: Answer) => {
    setSending(true)
    setRefusal(undefined)
    onAnswer(answer).catch((error: unknown) => {
      setSending(false)
      const text = error instanceof Error ? error.message : ''
      if (answer.input === undefined) showToast({ kind: 'error', text: `${t.answerFailed} ${text}` })
      else setRefusal(text)
    })
  }
  const back = () => {
    setDoing('deciding')
    setRefusal(undefined)
    card.current?.focus()
  }
  const keys = (event: KeyboardEvent) => {
    const writing = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement
    if (sending || readOnly || doing !== 'deciding' || writing || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'a') give({ approved: true })
    else if (event.key === 's' && always) give({ approved: true, always: 'session' })
    else if (event.key === 'w' && always) give({ approved: true, always: 'workspace' })
    else if (event.key === 'e') setDoing('editing')
    else if (event.key === 'd') setDoing('denying')
    else return
    event.preventDefault()
  }

  return (
    <section ref={card} className={sensitive ? 'approval approval-danger' : 'approval'} role="group" aria-labelledby={titleId} tabIndex={0} onKeyDown={keys}>
      <header>
        {sensitive ? <ShieldAlert size={17} aria-hidden /> : <ShieldQuestion size={17} aria-hidden />}
        <div>
          <h4 id={titleId}>{title}</h4>
          <p>
            {asked ? reasonIn(language, asked.why) : t.approvalWhy} <code>{tool}</code>
          </p>
          {sensitive && <p className="approval-sensitive">{t.approvalSensitive}</p>}
        </div>
      </header>
      {doing !== 'editing' && <ApprovalSubject tool={tool} input={input} files={asked?.files} loading={loading} />}
      {!readOnly && doing === 'editing' && (
        <InputEditor input={input} sending={sending} refusal={refusal} onSend={(changed) => give({ approved: true, input: changed })} onCancel={back} />
      )}
      {!readOnly && doing === 'denying' && <Denial sending={sending} onDeny={(reason) => give({ approved: false, ...(reason ? { reason } : {}) })} onCancel={back} />}
      {!readOnly && doing === 'deciding' && (
        <footer>
          <Button kind="primary" disabled={sending} onClick={() => give({ approved: true })}>
            <Check size={15} aria-hidden /> {t.approve}
          </Button>
          {always && (
            <>
              <Button disabled={sending} aria-describedby={noteId} onClick={() => give({ approved: true, always: 'session' })}>
                <CheckCheck size={15} aria-hidden /> {t.approveAlways}
              </Button>
              <Button disabled={sending} aria-describedby={noteId} onClick={() => give({ approved: true, always: 'workspace' })}>
                <CheckCheck size={15} aria-hidden /> {t.approveWorkspace}
              </Button>
            </>
          )}
          <Button disabled={sending} onClick={() => setDoing('editing')}>
            <Pencil size={14} aria-hidden /> {t.editInput}
          </Button>
          <Button disabled={sending} onClick={() => setDoing('denying')}>
            <X size={15} aria-hidden /> {t.deny}
          </Button>
          {always && (
            <p className="approval-note" id={noteId}>
              {t.alwaysCovers(coveredCalls(always, t))}
            </p>
          )}
        </footer>
      )}
    </section>
  )
}

function Denial({ sending, onDeny, onCancel }: { sending: boolean; onDeny: (reason: string) => void; onCancel: () => void }) {
  const t = useTexts()
  const [reason, setReason] = useState('')
  return (
    <>
      <textarea
        className="field"
        rows={2}
        value={reason}
        placeholder={t.denyReason}
        aria-label={t.denyReason}
        // The person just asked to deny.
        autoFocus
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault()
            onDeny(reason.trim())
          } else if (event.key === 'Escape') {
            event.preventDefault()
            onCancel()
          }
        }}
      />
      <footer>
        <Button kind="danger" disabled={sending} onClick={() => onDeny(reason.trim())}>
          <X size={15} aria-hidden /> {t.denySend}
        </Button>
        <Button kind="quiet" disabled={sending} onClick={onCancel}>
          {t.cancel}
        </Button>
      </footer>
    </>
  )
}
