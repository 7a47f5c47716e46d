import { cleanup, render, screen, waitFor } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeServer, problem, type FakeServer } from '../api/fake-server.fixture'
import type { Job, JobEvent } from '../api/workspace-types'
import { eventStream, jobRoutes, makeJob } from './jobs.fixture'
import { TerminalView } from './terminal-view'

/** Stands in for xterm, which draws only in a real browser. */
class FakeTerminal {
  static made: FakeTerminal[] = []
  options: Record<string, unknown>
  cols = 80
  rows = 24
  written = ''
  textarea = document.createElement('textarea')
  data: (chars: string) => void = () => undefined
  resized: (size: { cols: number; rows: number }) => void = () => undefined
  keys: (event: KeyboardEvent) => boolean = () => true
  focus = vi.fn()
  dispose = vi.fn()
  open = vi.fn()
  loadAddon = vi.fn()
  constructor(options: Record<string, unknown>) {
    this.options = options
    FakeTerminal.made.push(this)
  }
  onData(listener: (chars: string) => void) {
    this.data = listener
  }
  onResize(listener: (size: { cols: number; rows: number }) => void) {
    this.resized = listener
  }
  attachCustomKeyEventHandler(handler: (event: KeyboardEvent) => boolean) {
    this.keys = handler
  }
  write(text: string, done?: () => void) {
    // As a terminal does that is asked what it is.
    if (text.includes('\x1b[c')) this.data('\x1b[?1;2c')
    this.written += text
    done?.()
  }
}
vi.mock('@xterm/xterm', () => ({ Terminal: vi.fn(function (options: Record<string, unknown>) { return new FakeTerminal(options) }) }))
vi.mock('@xterm/addon-fit', () => ({ FitAddon: class { fit() {} } }))

let server: FakeServer
beforeEach(() => {
  server = fakeServer()
  FakeTerminal.made = []
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const job = makeJob('t', { tty: true, outputBytes: 10 })
const output = (offset: number, text: string): JobEvent => ({ type: 'output', offset, text })

function show(events: JobEvent[], then: 'end' | 'wait' = 'wait', shown: Job = job) {
  jobRoutes(server, () => [shown], () => eventStream(events, then))
  const onEnded = vi.fn()
  const onLeave = vi.fn()
  const view = render(<TerminalView job={shown} onEnded={onEnded} onLeave={onLeave} />)
  const [terminal] = FakeTerminal.made
  if (!terminal) throw new Error('no terminal')
  return { ...view, terminal, onEnded, onLeave }
}

const inputs = () => server.called('POST /api/jobs/t/input').map((call) => call.body)

describe('the terminal of a command', () => {
  it('shows what comes, sends its size and what is typed', async () => {
    const { terminal } = show([output(0, 'old\r\n'), output(10, 'new')])
    await waitFor(() => expect(terminal.written).toBe('old\r\nnew'))
    expect(terminal.focus).toHaveBeenCalled()
    terminal.data('l')
    terminal.data('s\r')
    terminal.resized({ cols: 100, rows: 30 })
    await waitFor(() => expect(inputs().at(-1)).toMatchObject({ size: { columns: 100, rows: 30 } }))
    expect(inputs()[0]).toMatchObject({ size: { columns: 80, rows: 24 } })
    expect(inputs().map((input) => (input as { chars: string }).chars).join('')).toBe('ls\r')
    expect(screen.getByText(/F6 leaves it/)).toBeTruthy()
  })

  it('answers questions of the program, but not those of long ago', async () => {
    const { terminal } = show([output(0, 'a\x1b[c'), output(10, 'b\x1b[c')])
    await waitFor(() => expect(terminal.written).toContain('b'))
    await waitFor(() => expect(inputs().map((input) => (input as { chars: string }).chars).join('')).toBe('\x1b[?1;2c'))
  })

  it('takes no more input when the command has ended', async () => {
    const last: Job = { ...job, state: 'ended', exitCode: 0 }
    const { terminal, onEnded, rerender, onLeave } = show([output(10, 'bye'), { type: 'ended', job: last }], 'end')
    await waitFor(() => expect(onEnded).toHaveBeenCalledExactlyOnceWith(last))
    expect(terminal.options.disableStdin).toBe(true)
    rerender(<TerminalView job={last} onEnded={onEnded} onLeave={onLeave} />)
    const before = inputs().length
    terminal.data('x')
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect(inputs().length).toBe(before)
    expect(screen.queryByText(/F6/)).toBeNull()
    expect(server.called('GET /api/jobs/t/output')).toHaveLength(1)
  })

  it('says when input was not sent', async () => {
    const { terminal } = show([])
    server.on('POST /api/jobs/t/input', () => problem(409, 'The command has ended.'))
    await new Promise((resolve) => setTimeout(resolve, 40))
    terminal.data('x')
    await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('What you typed was not sent. The command has ended.'))
  })

  it('is left with F6, keeps its keys from the page, and is gone with its view', () => {
    const heard = vi.fn()
    window.addEventListener('keydown', heard)
    const { terminal, onLeave, unmount } = show([])
    expect(terminal.keys(new KeyboardEvent('keydown', { key: 'a' }))).toBe(true)
    expect(terminal.keys(new KeyboardEvent('keydown', { key: 'F6' }))).toBe(false)
    expect(onLeave).toHaveBeenCalledOnce()
    screen.getByRole('group', { name: 'Terminal of run t' }).dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }))
    expect(heard).not.toHaveBeenCalled()
    unmount()
    expect(terminal.dispose).toHaveBeenCalledOnce()
    window.removeEventListener('keydown', heard)
  })

  it('of a command that the server does not know says so', async () => {
    jobRoutes(server, () => [job])
    server.on('GET /api/jobs/t/output', () => problem(404, 'no such job', 'not_found'))
    render(<TerminalView job={job} onEnded={() => undefined} onLeave={() => undefined} />)
    expect((await screen.findByRole('alert')).textContent).toBe('The server no longer keeps the output of this command.')
  })
})
