// A field of a form with what is wrong with it right below.

import { useId, type ReactNode } from 'react'
import type { FieldProblem } from '../api/types.gen'

interface FormFieldProps {
  label: string
  hint?: ReactNode
  problems: readonly FieldProblem[]
  warnings?: readonly FieldProblem[]
  /** Gets what ties the control to its label and its complaints. */
  children: (control: { id: string; 'aria-invalid': boolean; 'aria-describedby': string | undefined }) => ReactNode
}

export function FormField({ label, hint, problems, warnings = [], children }: FormFieldProps) {
  const id = useId()
  const told = problems.length > 0 || warnings.length > 0
  return (
    <div className="form-field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': problems.length > 0, 'aria-describedby': told ? `${id}-told` : undefined })}
      <Complaints id={`${id}-told`} problems={problems} warnings={warnings} />
      {hint && <div className="form-hint">{hint}</div>}
    </div>
  )
}

export function Complaints({ id, problems, warnings = [] }: { id?: string; problems: readonly FieldProblem[]; warnings?: readonly FieldProblem[] }) {
  if (problems.length === 0 && warnings.length === 0) return null
  return (
    <div id={id} className="complaints" role="status">
      {problems.map((problem) => (
        <p key={`${problem.path} ${problem.code}`} className="complaint">
          {problem.message} {problem.fix}
        </p>
      ))}
      {warnings.map((problem) => (
        <p key={`${problem.path} ${problem.code}`} className="complaint complaint-mild">
          {problem.message} {problem.fix}
        </p>
      ))}
    </div>
  )
}

interface PickListProps {
  label: string
  options: readonly { value: string; about?: string; off?: boolean }[]
  chosen: readonly string[]
  problems: readonly FieldProblem[]
  warnings?: readonly FieldProblem[]
  onChange: (chosen: string[]) => void
}

/** Any number of known names. A name that is chosen but not known any more can only be taken out. */
export function PickList({ label, options, chosen, problems, warnings = [], onChange }: PickListProps) {
  const unknown = chosen.filter((value) => !options.some((option) => option.value === value)).map((value) => ({ value, about: undefined, off: true }))
  const all = [...options, ...unknown]
  if (all.length === 0) return null
  return (
    <fieldset className="form-field pick-list">
      <legend>{label}</legend>
      <ul>
        {all.map(({ value, about, off }) => (
          <li key={value} className={off ? 'row-off' : undefined}>
            <label>
              <input
                type="checkbox"
                checked={chosen.includes(value)}
                onChange={(event) => onChange(event.target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))}
              />
              <code>{value}</code>
              {about && <span className="quiet">{about}</span>}
            </label>
          </li>
        ))}
      </ul>
      <Complaints problems={problems} warnings={warnings} />
    </fieldset>
  )
}
