// A form that an agent asks the person to fill in. What does not fit is said at its field, here and by the server. Enter
// sends it, Tab leads through it.

import { MessageCircleQuestion, Send } from 'lucide-react'
import { useId, useRef, useState, type FormEvent } from 'react'
import { ApiProblem } from '../../api/problem'
import type { InputForm, UserAnswer } from '../../api/workspace-types'
import { useTexts } from '../../i18n'
import { Button } from '../../ui/button'
import { showToast } from '../../ui/toasts'
import { answerOf, blank, complaintsOf, type Filled } from './input-answers'
import { InputRequestField } from './input-request-field'

interface InputRequestCardProps {
  form: InputForm
  readOnly?: boolean
  onAnswer: (answer: UserAnswer) => Promise<void>
}

export function InputRequestCard({ form, readOnly = false, onAnswer }: InputRequestCardProps) {
  const t = useTexts()
  const titleId = useId()
  const [filled, setFilled] = useState<Record<string, Filled>>(() => blank(form))
  const [complaints, setComplaints] = useState<Record<string, string>>({})
  const [sending, setSending] = useState(false)
  const card = useRef<HTMLFormElement>(null)

  const complain = (found: Record<string, string>) => {
    setComplaints(found)
    // The first field that does not fit, once it is marked.
    requestAnimationFrame(() => card.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
  }
  const give = (answer: UserAnswer) => {
    setSending(true)
    setComplaints({})
    onAnswer(answer).catch((error: unknown) => {
      setSending(false)
      const found = byField(error)
      if (Object.keys(found).length > 0) complain(found)
      else showToast({ kind: 'error', text: `${t.answerFailed} ${error instanceof Error ? error.message : ''}` })
    })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (sending || readOnly) return
    const found = complaintsOf(form, filled, t)
    if (Object.keys(found).length > 0) complain(found)
    else give(answerOf(form, filled))
  }
  const [only] = form.fields
  const isOne = form.short === true && only !== undefined
  return (
    <form ref={card} className="approval input-request" aria-labelledby={titleId} noValidate onSubmit={submit}>
      <header>
        <MessageCircleQuestion size={17} aria-hidden />
        <div>
          <h4 id={titleId}>{form.title ?? (isOne ? only.label : t.inputRequest)}</h4>
          {form.description && <p>{form.description}</p>}
        </div>
      </header>
      {form.fields.map((field) => (
        <InputRequestField
          key={field.key}
          field={field}
          // The title says it already.
          hideLabel={isOne && form.title === undefined}
          value={filled[field.key]}
          disabled={sending || readOnly}
          complaint={complaints[field.key]}
          onChange={(value) => {
            setFilled((before) => ({ ...before, [field.key]: value }))
            setComplaints((before) => Object.fromEntries(Object.entries(before).filter(([key]) => key !== field.key)))
          }}
        />
      ))}
      {!readOnly && (
        <footer>
          <Button kind="primary" type="submit" disabled={sending}>
            <Send size={14} aria-hidden /> {t.inputSend}
          </Button>
          <Button kind="quiet" disabled={sending} onClick={() => give({ cancelled: true })}>
            {t.inputSkip}
          </Button>
        </footer>
      )}
    </form>
  )
}

/** What the server said about single fields. */
function byField(error: unknown): Record<string, string> {
  const problems = error instanceof ApiProblem ? (error.problem?.problems ?? []) : []
  return Object.fromEntries(problems.flatMap(({ path, message }) => (path.startsWith('answers.') ? [[path.slice('answers.'.length), message]] : [])))
}
