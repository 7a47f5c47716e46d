// One field of a form that an agent asks for: a text, a secret, a list, or options to choose from.

import { useId } from 'react'
import type { InputField } from '../../api/workspace-types'
import { useTexts } from '../../i18n'
import type { Filled } from './input-answers'

interface FieldProps {
  field: InputField
  hideLabel: boolean
  value: Filled | undefined
  disabled: boolean
  complaint: string | undefined
  onChange: (value: Filled) => void
}

/** Types of HTML inputs that hold a line of text. */
const LINE_TYPES = new Set(['text', 'email', 'url', 'tel', 'number', 'date', 'time', 'datetime-local', 'month', 'week', 'search'])

export function InputRequestField(props: FieldProps) {
  const t = useTexts()
  const id = useId()
  const { field, hideLabel, complaint } = props
  const label = (
    <>
      {field.label}
      {!field.required && <span className="quiet"> ({t.inputOptional})</span>}
    </>
  )
  const notes = `${id}-notes`
  const described = field.type === 'secret' || complaint !== undefined
  return (
    <div className="input-field">
      {field.type === 'choice' ? (
        <fieldset aria-describedby={described ? notes : undefined}>
          <legend className={hideLabel ? 'sr-only' : undefined}>{label}</legend>
          <Options {...props} name={id} />
        </fieldset>
      ) : (
        <>
          <label htmlFor={id} className={hideLabel ? 'sr-only' : undefined}>
            {label}
          </label>
          <Control {...props} id={id} notes={described ? notes : undefined} />
        </>
      )}
      {described && (
        <div id={notes}>
          {field.type === 'secret' && <p className="quiet">{t.inputSecretHint}</p>}
          {complaint !== undefined && (
            <p className="complaint" role="alert">
              {complaint}
            </p>
          )}
        </div>
      )}
    </div>
  )
}

function Control({ field, value, disabled, complaint, onChange, id, notes }: FieldProps & { id: string; notes: string | undefined }) {
  const t = useTexts()
  const text = value?.chosen[0] ?? ''
  const change = (now: string) => onChange({ chosen: now === '' ? [] : [now], own: undefined })
  const common = {
    id,
    className: 'field',
    value: text,
    disabled,
    required: field.required,
    'aria-invalid': complaint !== undefined,
    'aria-describedby': notes,
    ...(field.placeholder === undefined ? {} : { placeholder: field.placeholder }),
  }
  switch (field.type) {
    case 'select':
      return (
        <select {...common} onChange={(event) => change(event.target.value)}>
          <option value="">{field.placeholder ?? t.inputChoose}</option>
          {field.options?.map((option) => (
            <option key={option.label} value={option.label}>
              {option.label}
            </option>
          ))}
        </select>
      )
    case 'textarea':
      return <textarea {...common} rows={3} onChange={(event) => change(event.target.value)} />
    case 'secret':
      return <input {...common} type="password" autoComplete="new-password" spellCheck={false} onChange={(event) => change(event.target.value)} />
    case 'text':
    case 'choice':
      return <input {...common} type={lineType(field.inputType)} autoComplete="off" onChange={(event) => change(event.target.value)} />
  }
}

function Options({ field, value, disabled, complaint, onChange, name }: FieldProps & { name: string }) {
  const t = useTexts()
  const { chosen = [], own } = value ?? {}
  const many = field.multiSelect === true
  const type = many ? 'checkbox' : 'radio'
  const toggle = (label: string, on: boolean) => {
    const others = chosen.filter((one) => one !== label)
    if (many) onChange({ chosen: on ? [...others, label] : others, own })
    else onChange({ chosen: [label], own: undefined })
  }
  const common = { type, name, disabled, 'aria-invalid': complaint !== undefined }
  return (
    <div className="input-options">
      {field.options?.map((option) => (
        <label key={option.label}>
          <input {...common} checked={chosen.includes(option.label)} onChange={(event) => toggle(option.label, event.target.checked)} />
          <span>
            {option.label}
            {option.description && <small>{option.description}</small>}
          </span>
        </label>
      ))}
      {field.customInput === true && (
        <label>
          <input
            {...common}
            checked={own !== undefined}
            onChange={(event) => onChange(event.target.checked ? { chosen: many ? chosen : [], own: '' } : { chosen, own: undefined })}
          />
          <span>{t.inputOther}</span>
        </label>
      )}
      {own !== undefined && (
        <input
          className="field"
          value={own}
          disabled={disabled}
          aria-label={t.inputOtherText}
          placeholder={t.inputOtherText}
          // The person just chose to write.
          autoFocus
          onChange={(event) => onChange({ chosen, own: event.target.value })}
        />
      )}
    </div>
  )
}

const lineType = (type: string | undefined): string => (type !== undefined && LINE_TYPES.has(type) ? type : 'text')
