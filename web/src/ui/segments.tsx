// One of a few choices, all of them visible.

import { useId } from 'react'

interface SegmentsProps<T extends string> {
  label: string
  value: T
  choices: readonly (readonly [T, string])[]
  onChange: (value: T) => void
}

/** Without a visible label: it stands where its meaning is clear. */
export function Segments<T extends string>({ label, value, choices, onChange }: SegmentsProps<T>) {
  const name = useId()
  return (
    <div className="segments" role="radiogroup" aria-label={label}>
      {choices.map(([key, text]) => (
        <label key={key} className={key === value ? 'segment segment-on' : 'segment'}>
          <input type="radio" className="sr-only" name={name} value={key} checked={key === value} onChange={() => onChange(key)} />
          {text}
        </label>
      ))}
    </div>
  )
}
