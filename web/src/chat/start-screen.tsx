// A chat before its first message.

import type { ReactNode } from 'react'
import { useTexts } from '../i18n'
import { DemoBanner } from './demo-banner'

export function StartScreen({ composer, notices, onExample }: { composer: ReactNode; notices: ReactNode; onExample: (text: string) => void }) {
  const t = useTexts()
  return (
    <div className="start">
      <div className="start-inner">
        <h2>{t.greeting}</h2>
        <p>{t.greetingSub}</p>
        {notices}
        {composer}
        <ul className="examples">
          {t.examples.map((example) => (
            <li key={example.text}>
              <button type="button" onClick={() => onExample(example.text)}>
                <strong>{example.label}</strong>
                <span>{example.text}</span>
              </button>
            </li>
          ))}
        </ul>
        <DemoBanner />
      </div>
    </div>
  )
}
