// A request for input that was answered or skipped: each question with its answer. Secrets are dots.

import { Check, CircleSlash } from 'lucide-react'
import { useTexts, type Texts } from '../../i18n'

export function AnsweredInput({ input, output }: { input: unknown; output: unknown }) {
  const t = useTexts()
  const fields = record(output)
  const skipped = fields.cancelled === true
  const given = 'answers' in fields ? record(fields.answers) : fields
  return (
    <div className="card tool input-answered">
      <div className="card-body">
        <p className="quiet">
          {skipped ? <CircleSlash size={14} className="mark-quiet" aria-hidden /> : <Check size={14} className="mark-ok" aria-hidden />} {skipped ? t.inputSkipped : t.inputAnswered}
        </p>
        <dl className="fields">
          {questionsOf(input).map(({ key, label }) => (
            <div key={key}>
              <dt>{label}</dt>
              <dd>{skipped ? '—' : <Value value={given[key]} t={t} />}</dd>
            </div>
          ))}
        </dl>
      </div>
    </div>
  )
}

function Value({ value, t }: { value: unknown; t: Texts }) {
  if (typeof value === 'string' && value.startsWith('secret://')) return <span aria-label={t.inputHidden}>••••••</span>
  const text = Array.isArray(value) ? value.filter((one) => typeof one === 'string').join(', ') : typeof value === 'string' ? value : ''
  return text === '' ? <span className="quiet">{t.inputEmpty}</span> : text
}

/** The questions as the agent wrote them, in the order of the form. */
function questionsOf(input: unknown): { key: string; label: string }[] {
  const { mode, questions, choices, question } = record(input)
  const lists = mode === 'choice' ? [choices] : [questions, choices]
  const list = lists.find((one) => Array.isArray(one) && one.length > 0)
  if (Array.isArray(list)) {
    return list.flatMap((entry) => {
      const { key, label, question: asked } = record(entry)
      const shown = typeof label === 'string' ? label : asked
      return typeof key === 'string' && typeof shown === 'string' ? [{ key, label: shown }] : []
    })
  }
  return typeof question === 'string' ? [{ key: 'answer', label: question }] : []
}

const record = (value: unknown): Record<string, unknown> => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {})
