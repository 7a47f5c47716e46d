// A titled part of the settings.

import { useId, type ReactNode } from 'react'

export function Group({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className="group" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <div className="group-body">{children}</div>
    </section>
  )
}
