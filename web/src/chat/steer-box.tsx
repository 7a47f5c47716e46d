// A word to an agent at work, in its own conversation.

import { ArrowUp, Square } from 'lucide-react'
import { useState } from 'react'
import { useTexts } from '../i18n'
import { IconButton } from '../ui/button'
import { showToast } from '../ui/toasts'
import { steer } from './routes'

export function SteerBox({ id, onStop }: { id: string; onStop: () => void }) {
  const t = useTexts()
  const [text, setText] = useState('')
  const say = () => {
    const said = text.trim()
    if (!said) return
    setText('')
    steer(id, said).catch((error: unknown) => {
      setText(said)
      showToast({ kind: 'error', text: error instanceof Error ? error.message : t.errorRequest })
    })
  }
  return (
    <form
      className="steer"
      onSubmit={(event) => {
        event.preventDefault()
        say()
      }}
    >
      <input className="field" value={text} placeholder={t.steerAgent} aria-label={t.steerAgent} onChange={(event) => setText(event.target.value)} />
      <IconButton label={t.send} type="submit" disabled={!text.trim()}>
        <ArrowUp size={17} />
      </IconButton>
      <IconButton label={t.stopAgent} onClick={onStop}>
        <Square size={14} />
      </IconButton>
    </form>
  )
}
