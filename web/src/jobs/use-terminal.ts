// A terminal in the page that shows the output of a command and sends what is typed.

import { FitAddon } from '@xterm/addon-fit'
import { Terminal } from '@xterm/xterm'
import { useEffect, useRef, useState, type RefObject } from 'react'
import { usePreferences } from '../app/preferences'
import { isMissing } from '../api/problem'
import type { Job } from '../api/workspace-types'
import { safeLink } from '../markdown/links'
import { followJob } from './follow-job'
import { InputQueue } from './input-queue'
import { sendInput } from './routes'
import { terminalTheme } from './terminal-theme'

export interface TerminalState {
  gap: number
  lost: boolean
  gone: boolean
  problem: string | undefined
  /** Why the last input was not sent. */
  notSent: string | undefined
}

interface TerminalHearer {
  onEnded: (job: Job) => void
  /** The person wants to leave with the keyboard. */
  onLeave: () => void
  inputLabel: string
}

const START: TerminalState = { gap: 0, lost: false, gone: false, problem: undefined, notSent: undefined }
const SCROLLBACK = 5000
/** Answers to questions that the output asks the terminal: where the cursor is, what it is, which colours it has. */
const REPORT = /^\x1b(?:\[[?>=]?[\d;]*[cRnyt]|\]\d|P)/

export function useTerminal(place: RefObject<HTMLDivElement | null>, job: Job, hearer: TerminalHearer): TerminalState {
  const { id } = job
  const [state, setState] = useState<TerminalState>(START)
  const { theme } = usePreferences()
  const terminal = useRef<Terminal>(undefined)
  const latest = useRef({ job, hearer })
  latest.current = { job, hearer }

  useEffect(() => {
    const element = place.current
    if (!element) return
    const change = (what: Partial<TerminalState>) => setState((before) => ({ ...before, ...what }))
    const gone = new AbortController()
    // Output up to here is from before: the questions in it have been answered or given up long ago.
    const old = latest.current.job.outputBytes
    let replaying = 0
    const view = makeTerminal(element, latest.current.hearer.inputLabel)
    const fit = new FitAddon()
    view.loadAddon(fit)
    terminal.current = view
    const queue = new InputQueue((input) => sendInput(id, input), (error) => change({ notSent: error?.message }))
    const running = () => latest.current.job.state === 'running'
    view.onData((chars) => {
      if (running() && !(replaying > 0 && REPORT.test(chars))) queue.type(chars)
    })
    view.onResize(({ cols, rows }) => running() && queue.resize({ columns: cols, rows }))
    view.attachCustomKeyEventHandler((event) => {
      if (event.key !== 'F6') return true
      event.preventDefault()
      if (event.type === 'keydown') latest.current.hearer.onLeave()
      return false
    })
    const resize = new ResizeObserver(() => fit.fit())
    resize.observe(element)
    fit.fit()
    if (running()) {
      queue.resize({ columns: view.cols, rows: view.rows })
      view.focus()
    }
    const stop = () => {
      view.options.disableStdin = true
      view.options.cursorBlink = false
      queue.close()
    }
    void followJob(
      id,
      {
        output: (text, offset) => {
          if (offset >= old) return view.write(text)
          replaying++
          view.write(text, () => replaying--)
        },
        gap: (bytes) => setState((before) => ({ ...before, gap: before.gap + bytes })),
        connection: (now) => change({ lost: now === 'lost' }),
        ended: (last) => {
          stop()
          change({ lost: false, notSent: undefined })
          latest.current.hearer.onEnded(last)
        },
        failed: (error) => {
          stop()
          change({ lost: false, gone: isMissing(error), problem: error.message })
        },
      },
      gone.signal,
    )
    return () => {
      gone.abort()
      resize.disconnect()
      queue.close()
      view.dispose()
      terminal.current = undefined
      setState(START)
    }
  }, [id, place])

  useEffect(() => {
    const element = place.current
    if (!element) return
    const paint = () => {
      if (terminal.current) terminal.current.options.theme = terminalTheme(element)
    }
    // The attribute on the page changes in an effect of its own.
    const frame = requestAnimationFrame(paint)
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', paint)
    return () => {
      cancelAnimationFrame(frame)
      system.removeEventListener('change', paint)
    }
  }, [place, theme])
  return state
}

function makeTerminal(element: HTMLElement, inputLabel: string): Terminal {
  const view = new Terminal({
    fontFamily: getComputedStyle(element).fontFamily,
    fontSize: 13,
    scrollback: SCROLLBACK,
    cursorBlink: true,
    screenReaderMode: true,
    minimumContrastRatio: 4.5,
    theme: terminalTheme(element),
    // Links come from a program: only plain web addresses open, in a tab that knows nothing of this one.
    linkHandler: {
      activate: (_event, address) => {
        const link = safeLink(address)
        if (link) window.open(link, '_blank', 'noopener,noreferrer')
      },
    },
  })
  view.open(element)
  view.textarea?.setAttribute('aria-label', inputLabel)
  return view
}
