// Any JSON value, readable: texts as texts, flat objects as a list of fields, everything else indented.

import { useState } from 'react'
import { formatSize, useTexts } from '../i18n'
import { Button } from './button'

const FIRST = 6000

export function DataView({ value }: { value: unknown }) {
  if (typeof value === 'string') return <LongText text={value} />
  if (isFlat(value)) {
    return (
      <dl className="fields">
        {Object.entries(value).map(([name, field]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof field === 'string' ? <LongText text={field} /> : <code>{JSON.stringify(field)}</code>}</dd>
          </div>
        ))}
      </dl>
    )
  }
  return <LongText text={JSON.stringify(value, null, 2) ?? String(value)} mono />
}

export function LongText({ text, mono = false }: { text: string; mono?: boolean }) {
  const t = useTexts()
  const [all, setAll] = useState(false)
  const cut = !all && text.length > FIRST * 1.2
  return (
    <>
      <pre className={mono || /[\n{}<>;|]/.test(text) ? 'data data-mono' : 'data'} tabIndex={text.length > 600 ? 0 : undefined}>
        {cut ? text.slice(0, FIRST) : text}
      </pre>
      {cut && (
        <Button kind="quiet" className="data-more" onClick={() => setAll(true)}>
          {t.showAll(formatSize(text.length))}
        </Button>
      )}
    </>
  )
}

function isFlat(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const fields = Object.values(value)
  return fields.length > 0 && fields.length <= 16 && fields.every((field) => typeof field !== 'object' || field === null)
}
