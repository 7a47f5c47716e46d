// Where a message is written: grows with it, takes files by drop and paste, offers commands and agents, and asks what to
// do with a message while the agent is at work.

import { ArrowUp, Clock, Paperclip, Square, Zap } from 'lucide-react'
import type { FileUIPart } from 'ai'
import { useEffect, useId, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode, type Ref } from 'react'
import type { AgentInfo } from '../api/types.gen'
import { formatSize, useTexts } from '../i18n'
import { IconButton } from '../ui/button'
import { Menu } from '../ui/menu'
import { showToast } from '../ui/toasts'
import { LARGEST_FILE, MOST_FILES, readFiles } from './attachments'
import { AttachmentRow } from './attachment-row'
import { isCommand, suggestionsFor, wordAt, type Command, type Suggestion } from './suggestions'
import { SuggestionList } from './suggestion-list'

export interface ComposerHandle {
  focus: () => void
  insert: (text: string) => void
  /** Adds files to the message, like a drop. */
  attach: (files: readonly File[]) => void
}

interface Draft {
  text: string
  files: FileUIPart[]
}

interface ComposerProps {
  ref?: Ref<ComposerHandle>
  /** Drafts are kept per chat. */
  draftKey: string
  busy: boolean
  disabled?: boolean
  agents: readonly AgentInfo[]
  /** Agent and model, below the text. */
  tools?: ReactNode
  onSend: (text: string, files: FileUIPart[], whenBusy?: 'queue' | 'interrupt') => void
  onStop: () => void
  onCommand: (command: Command) => void
}

const drafts = new Map<string, Draft>()
const draftChanged = new EventTarget()

/** Puts a message that came back where it was written, before what was written since. */
export function restoreDraft(draftKey: string, text: string, files: FileUIPart[]): void {
  const present = drafts.get(draftKey)
  const since = present?.text.trim() ? `\n\n${present.text}` : ''
  drafts.set(draftKey, { text: text + since, files: [...files, ...(present?.files ?? [])] })
  draftChanged.dispatchEvent(new Event(draftKey))
}

export function Composer({ ref, draftKey, busy, disabled = false, agents, tools, onSend, onStop, onCommand }: ComposerProps) {
  const t = useTexts()
  const [text, setText] = useState(() => drafts.get(draftKey)?.text ?? '')
  const [files, setFiles] = useState<FileUIPart[]>(() => drafts.get(draftKey)?.files ?? [])
  const [dragging, setDragging] = useState(false)
  const [caret, setCaret] = useState(0)
  const [chosen, setChosen] = useState(0)
  const [dismissed, setDismissed] = useState(false)
  const area = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const listId = useId()

  // What is in the box is the draft, until it is sent.
  useEffect(() => {
    if (text || files.length > 0) drafts.set(draftKey, { text, files })
    else drafts.delete(draftKey)
  }, [draftKey, text, files])

  useEffect(() => {
    const restore = () => {
      const draft = drafts.get(draftKey)
      if (!draft) return
      setText(draft.text)
      setFiles(draft.files)
    }
    draftChanged.addEventListener(draftKey, restore)
    return () => draftChanged.removeEventListener(draftKey, restore)
  }, [draftKey])

  useLayoutEffect(() => {
    const element = area.current
    if (!element) return
    element.style.height = 'auto'
    element.style.height = `${Math.min(element.scrollHeight, window.innerHeight * 0.4)}px`
    // The placeholder counts as well, and it changes with `busy`.
  }, [text, busy])

  const suggestions = useMemo(() => (dismissed ? [] : suggestionsFor(text, caret, agents, t)), [dismissed, text, caret, agents, t])
  const place = Math.min(chosen, Math.max(0, suggestions.length - 1))
  const ready = text.trim() !== '' || files.length > 0

  const add = (list: readonly File[]) => {
    if (list.length === 0) return
    readFiles(list, files.length).then(
      ({ parts, refused }) => {
        setFiles((present) => [...present, ...parts])
        for (const one of refused) {
          showToast({ kind: 'error', text: one.why === 'size' ? t.fileTooLarge(one.name, formatSize(LARGEST_FILE)) : t.tooManyFiles(MOST_FILES) })
        }
      },
      (error: unknown) => showToast({ kind: 'error', text: error instanceof Error ? error.message : t.errorRequest }),
    )
  }

  useImperativeHandle(ref, () => ({
    focus: () => area.current?.focus(),
    insert: (more) => {
      setText((present) => (present.trim() ? `${present.trimEnd()}\n\n${more}` : more))
      area.current?.focus()
    },
    attach: add,
  }))

  const send = (whenBusy?: 'queue' | 'interrupt') => {
    const message = text.trim()
    if (!ready || disabled) return
    const word = /^\/([a-z]+)$/.exec(message)?.[1]
    if (word !== undefined && isCommand(word)) {
      setText('')
      onCommand(word)
      return
    }
    // Before anything else: sending may move the composer to another place on the page.
    drafts.delete(draftKey)
    setText('')
    onSend(message, files, whenBusy ?? (busy ? 'queue' : undefined))
    setFiles([])
  }

  const take = (suggestion: Suggestion) => {
    const at = wordAt(text, caret)
    if (suggestion.kind === 'command' && isCommand(suggestion.key)) {
      setText('')
      onCommand(suggestion.key)
    } else if (at) {
      const changed = `${text.slice(0, at.from)}${suggestion.label} ${text.slice(caret)}`
      setText(changed)
      setCaret(at.from + suggestion.label.length + 1)
    }
    area.current?.focus()
  }

  const keys = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return
    const current = suggestions[place]
    if (current) {
      const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
      if (step !== 0) {
        event.preventDefault()
        setChosen((place + step + suggestions.length) % suggestions.length)
        return
      }
      if (event.key === 'Enter' || event.key === 'Tab') {
        event.preventDefault()
        take(current)
        return
      }
      if (event.key === 'Escape') {
        event.stopPropagation()
        setDismissed(true)
        return
      }
    }
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      send()
    }
  }

  return (
    <form
      className={dragging ? 'composer composer-drag' : 'composer'}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
      onDragOver={(event) => {
        event.preventDefault()
        setDragging(true)
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setDragging(false)
      }}
      onDrop={(event) => {
        event.preventDefault()
        setDragging(false)
        add([...event.dataTransfer.files])
      }}
    >
      {suggestions.length > 0 && <SuggestionList id={listId} suggestions={suggestions} chosen={place} onTake={take} />}
      <AttachmentRow files={files} onRemove={(at) => setFiles((present) => present.filter((_, one) => one !== at))} />
      <textarea
        ref={area}
        rows={1}
        value={text}
        aria-label={t.composerLabel}
        aria-autocomplete="list"
        aria-controls={suggestions.length > 0 ? listId : undefined}
        aria-activedescendant={suggestions.length > 0 ? `${listId}-${place}` : undefined}
        placeholder={dragging ? t.dropHere : busy ? t.composerBusy : t.composerPlaceholder}
        enterKeyHint="send"
        onChange={(event) => {
          setText(event.target.value)
          setCaret(event.target.selectionStart)
          setChosen(0)
          setDismissed(false)
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={keys}
        onPaste={(event) => {
          const pasted = [...event.clipboardData.files]
          if (pasted.length === 0) return
          event.preventDefault()
          add(pasted)
        }}
      />
      <div className="composer-bar">
        <IconButton label={t.attach} onClick={() => picker.current?.click()}>
          <Paperclip size={17} />
        </IconButton>
        <input ref={picker} type="file" multiple hidden aria-hidden tabIndex={-1} onChange={(event) => {
          add([...(event.target.files ?? [])])
          event.target.value = ''
        }} />
        <div className="composer-tools">{tools}</div>
        {busy && ready && (
          <Menu
            side="top"
            trigger={
              <button type="button" className="send" aria-label={t.send}>
                <ArrowUp size={18} />
              </button>
            }
            items={[
              { label: t.queueIt, icon: <Clock size={15} />, onSelect: () => send('queue') },
              { label: t.interruptIt, icon: <Zap size={15} />, onSelect: () => send('interrupt') },
            ]}
          />
        )}
        {busy ? (
          <IconButton label={t.stop} className="send send-stop" shortcut="Esc" onClick={onStop}>
            <Square size={13} fill="currentColor" />
          </IconButton>
        ) : (
          <IconButton label={t.send} className="send" type="submit" disabled={!ready || disabled}>
            <ArrowUp size={18} />
          </IconButton>
        )}
      </div>
    </form>
  )
}

export function QueuedMessages({ texts }: { texts: readonly string[] }) {
  const t = useTexts()
  return texts.map((text, at) => (
    <div key={at} className="queued" role="status">
      <Clock size={14} aria-hidden />
      <span className="queued-text">{text}</span>
      <span className="quiet">{t.queued}</span>
    </div>
  ))
}

