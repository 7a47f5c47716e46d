// Changes the input of a call before it is allowed: a field for each value, checked here as JSON and by the server as
// what the tool takes. What the server says about one field stands at that field.

import { Check } from 'lucide-react'
import { useId, useRef, useState, type KeyboardEvent } from 'react'
import { useTexts } from '../../i18n'
import { Button } from '../../ui/button'

interface InputEditorProps {
  input: unknown
  sending: boolean
  /** Why the server did not take it. */
  refusal: string | undefined
  onSend: (input: unknown) => void
  onCancel: () => void
}

export interface Field {
  /** Empty: the whole input is one value. */
  name: string
  text: string
  /** Written as it is, not as JSON. */
  plain: boolean
}

export function InputEditor({ input, sending, refusal, onSend, onCancel }: InputEditorProps) {
  const t = useTexts()
  const id = useId()
  const [fields, setFields] = useState(() => fieldsOf(input))
  const [broken, setBroken] = useState<string>()
  const first = useRef(true)
  const named = refusal === undefined ? undefined : fields.find((field) => field.name !== '' && refusal.includes(`\`${field.name}\``))?.name

  const send = () => {
    const read = readFields(input, fields)
    setBroken(read.broken)
    if (read.broken === undefined) onSend(read.input)
  }
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
    else if (event.key === 'Escape') onCancel()
    else return
    event.preventDefault()
  }
  return (
    <div className="input-editor" onKeyDown={keys}>
      {fields.map((field, at) => {
        const complaint = field.name === broken ? t.notJson : refusal !== undefined && (field.name === named || field.name === '') ? refusal : undefined
        return (
          <label key={field.name}>
            <span>{field.name || t.toolInput}</span>
            <textarea
              className={field.plain ? 'field' : 'field mono'}
              rows={Math.min(10, field.text.split('\n').length)}
              value={field.text}
              spellCheck={false}
              disabled={sending}
              aria-invalid={complaint !== undefined}
              aria-describedby={complaint === undefined ? undefined : `${id}-${at}`}
              ref={(area) => {
                if (!area || !first.current || at > 0) return
                first.current = false
                area.focus()
              }}
              onChange={(event) => setFields(fields.map((one) => (one === field ? { ...one, text: event.target.value } : one)))}
            />
            {complaint !== undefined && (
              <span id={`${id}-${at}`} className="complaint" role="alert">
                {complaint}
              </span>
            )}
          </label>
        )
      })}
      {refusal !== undefined && named === undefined && !fields.some((field) => field.name === '') && (
        <p className="complaint" role="alert">
          {refusal}
        </p>
      )}
      <footer>
        <Button kind="primary" disabled={sending} onClick={send}>
          <Check size={15} aria-hidden /> {t.approveEdited}
        </Button>
        <Button kind="quiet" disabled={sending} onClick={onCancel}>
          {t.cancel}
        </Button>
      </footer>
    </div>
  )
}

export function fieldsOf(input: unknown): Field[] {
  if (!isRecord(input)) return [oneField('', input)]
  const fields = Object.entries(input).filter(([name]) => name !== 'actionName')
  return fields.length === 0 ? [oneField('', input)] : fields.map(([name, value]) => oneField(name, value))
}

function oneField(name: string, value: unknown): Field {
  const plain = typeof value === 'string'
  return { name, plain, text: plain ? value : (JSON.stringify(value, null, 2) ?? '') }
}

/** What was written, or the name of the first field that cannot be read. */
export function readFields(before: unknown, fields: readonly Field[]): { input: unknown; broken?: string } {
  const values: [string, unknown][] = []
  for (const field of fields) {
    try {
      values.push([field.name, field.plain ? field.text : JSON.parse(field.text)])
    } catch {
      return { input: before, broken: field.name }
    }
  }
  const only = values[0]
  if (only && only[0] === '') return { input: only[1] }
  return { input: { ...(isRecord(before) ? before : {}), ...Object.fromEntries(values) } }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
