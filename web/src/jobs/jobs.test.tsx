import { act, cleanup, render, renderHook, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Tooltip } from 'radix-ui'
import { useState } from 'react'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeServer, problem, type FakeServer } from '../api/fake-server.fixture'
import type { Job, JobEvent, JobInput } from '../api/workspace-types'
import { preferences, setPreferences } from '../app/preferences'
import { JobsChip } from '../chat/jobs-chip'
import type { ChatMessage, Part } from '../chat/message-types'
import { SubAgentLanes } from '../chat/sub-agent-lane'
import { followJob } from './follow-job'
import { InputQueue } from './input-queue'
import { JobsContext } from './jobs-context'
import { eventStream, jobRoutes, makeJob } from './jobs.fixture'
import { JobsPanel } from './jobs-panel'
import { isWeak } from './sandbox-chip'
import { countCommands, seen, useJobs } from './use-jobs'
import { keyNames, quoteWords, shortLine } from './words'

let server: FakeServer
beforeEach(() => {
  server = fakeServer()
})
afterEach(() => {
  cleanup()
  vi.useRealTimers()
  vi.unstubAllGlobals()
  setPreferences({ language: 'system' })
})

const output = (offset: number, text: string): JobEvent => ({ type: 'output', offset, text })
const ended = (job: Job): JobEvent => ({ type: 'ended', job: { ...job, state: 'ended', exitCode: 0 } })

function Panel({ first }: { first?: string }) {
  const jobs = useJobs('c', true, '')
  const [shown, setShown] = useState(first)
  return (
    <Tooltip.Provider>
      <JobsContext value={{ list: jobs.list ?? [], shown, show: setShown }}>
        <JobsPanel jobs={jobs} />
      </JobsContext>
    </Tooltip.Provider>
  )
}

describe('the list of commands', () => {
  const jobs = [
    makeJob('old', { state: 'ended', exitCode: 0, startedAt: 1, durationMs: 1500, outputBytes: 2048 }),
    makeJob('bad', { state: 'ended', exitCode: 2, startedAt: 2 }),
    makeJob('late', { state: 'ended', timedOut: true, signal: 'SIGKILL', startedAt: 3 }),
    makeJob('killed', { state: 'ended', signal: 'SIGTERM', startedAt: 4 }),
    makeJob('live', { startedAt: 0, durationMs: 61_000, tty: true, workdir: '/workspace/src' }),
  ]

  it('has the running ones first, and says how the others ended', async () => {
    jobRoutes(server, () => jobs)
    render(<Panel />)
    const rows = within(await screen.findByRole('list', { name: 'Commands' })).getAllByRole('listitem')
    expect(rows.map((row) => row.querySelector('code')?.textContent)).toEqual(['run live', 'run killed', 'run late', 'run bad', 'run old'])
    expect(rows[0]?.textContent).toMatch(/running1 min 1 sin \/workspace\/src terminal/)
    expect(rows.slice(1).map((row) => row.querySelector('.ending')?.textContent)).toEqual(['ended by SIGTERM', 'timed out', 'exit code 2', 'exit code 0'])
    expect(rows[4]?.textContent).toContain('2.0 kB of output')
    expect(screen.getAllByRole('button', { name: /^Stop/ })).toHaveLength(1)
  })

  it('counts on while a command runs', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] })
    jobRoutes(server, () => [makeJob('live', { durationMs: 4000 })])
    render(<Panel />)
    await vi.waitFor(() => expect(screen.getByText('4.0 s')).toBeTruthy())
    act(() => void vi.advanceTimersByTime(1000))
    expect(screen.getByText('5.0 s')).toBeTruthy()
  })

  it('is empty without commands, also on a server that has none', async () => {
    render(<Panel />)
    expect(await screen.findByText('Commands that agents run in this chat are listed here.')).toBeTruthy()
    expect(server.calls[0]?.query.get('chatId')).toBe('c')
  })

  it('says why it cannot be loaded, and tries again', async () => {
    server.on('GET /api/jobs', () => problem(503, 'The store is away.'))
    render(<Panel />)
    expect((await screen.findByRole('alert')).textContent).toContain('The store is away.')
    jobRoutes(server, () => jobs)
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByText('run live')).toBeTruthy()
    expect(screen.queryByRole('alert')).toBeNull()
  })

  it('is there in Chinese', async () => {
    setPreferences({ language: 'zh' })
    jobRoutes(server, () => jobs)
    render(<Panel />)
    const list = await screen.findByRole('list', { name: '命令' })
    expect(list.textContent).toMatch(/运行中.*被 SIGTERM 终止.*已超时.*退出码 2.*退出码 0/)
  })

  it('asks before a command is stopped', async () => {
    let stopped = false
    const live = makeJob('live')
    jobRoutes(server, () => [stopped ? { ...live, state: 'ended', signal: 'SIGTERM' } : live])
    render(<Panel />)
    await userEvent.click(await screen.findByRole('button', { name: 'Stop run live' }))
    const dialog = screen.getByRole('dialog', { name: 'Stop this command?' })
    expect(dialog.textContent).toContain('run live')
    await userEvent.click(within(dialog).getByRole('button', { name: 'Cancel' }))
    expect(server.called('DELETE /api/jobs/live')).toHaveLength(0)
    await userEvent.click(screen.getByRole('button', { name: 'Stop run live' }))
    stopped = true
    await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Stop' }))
    await screen.findByText('ended by SIGTERM')
    expect(server.called('DELETE /api/jobs/live')).toHaveLength(1)
    expect(screen.queryByRole('button', { name: /^Stop/ })).toBeNull()
  })

  it('says why a command was not stopped', async () => {
    jobRoutes(server, () => [makeJob('live')])
    server.on('DELETE /api/jobs/live', () => problem(500, 'It does not listen.'))
    render(<Panel />)
    await userEvent.click(await screen.findByRole('button', { name: 'Stop run live' }))
    await userEvent.click(within(screen.getByRole('dialog')).getByRole('button', { name: 'Stop' }))
    expect((await screen.findByRole('alert')).textContent).toBe('The command was not stopped. It does not listen.')
  })
})

describe('the output of a command', () => {
  it('is shown as it comes, with colours, and says how it ended', async () => {
    const job = makeJob('live')
    jobRoutes(server, () => [job], () => eventStream([output(0, '\x1b[31mred\x1b[0m 1%'), output(16, '\r100\n'), ended(job)]))
    render(<Panel />)
    await userEvent.click(await screen.findByRole('button', { name: /^run live/ }))
    const region = await screen.findByRole('region', { name: 'Output of run live' })
    await waitFor(() => expect(region.textContent).toBe('100 1%\n'))
    expect(await screen.findByText('exit code 0')).toBeTruthy()
    expect(screen.queryByRole('button', { name: 'Stop' })).toBeNull()
    await userEvent.click(screen.getByRole('button', { name: 'Back to the commands' }))
    expect((document.activeElement as HTMLElement).dataset.job).toBe('live')
  })

  it('says what is no longer kept', async () => {
    const job = makeJob('long', { state: 'ended', exitCode: 0 })
    jobRoutes(server, () => [job], () => eventStream([output(1_000_000, 'tail\n'), ended(job)]))
    render(<Panel first="long" />)
    expect(await screen.findByText('1.0 MB of older output are no longer kept.')).toBeTruthy()
    expect((await screen.findByRole('region', { name: 'Output of run long' })).textContent).toBe('tail\n')
  })

  it('of a command that the list does not know is looked for by its id', async () => {
    server.on('GET /api/jobs', () => ({ jobs: [] }))
    server.on('GET /api/jobs/other', () => makeJob('other', { chatId: 'sub' }))
    server.on('GET /api/jobs/other/output', () => eventStream([output(0, 'found\n')], 'wait'))
    render(<Panel first="other" />)
    expect((await screen.findByRole('region', { name: 'Output of run other' })).textContent).toBe('found\n')
  })

  it('that is gone says so', async () => {
    render(<Panel first="gone" />)
    expect((await screen.findByRole('alert')).textContent).toContain('The server no longer keeps the output of this command.')
  })

  it('can be empty', async () => {
    const job = makeJob('quiet', { state: 'ended', exitCode: 0 })
    jobRoutes(server, () => [job], () => eventStream([ended(job)]))
    render(<Panel first="quiet" />)
    expect(await screen.findByText('No output.')).toBeTruthy()
  })
})

describe('following a command', () => {
  const hearer = () => ({ output: vi.fn<(text: string, offset: number) => void>(), gap: vi.fn(), connection: vi.fn(), ended: vi.fn(), failed: vi.fn() })
  const said = (hearing: ReturnType<typeof hearer>) => hearing.output.mock.calls.map(([text]) => text).join('')

  it('goes on after a lost connection without losing or repeating anything', async () => {
    const job = makeJob('j')
    const whole = new TextEncoder().encode('one\nzwölf\n中文\nlast\n')
    const offsets: number[] = []
    const piece = (from: number, to: number) => output(from, new TextDecoder().decode(whole.subarray(from, to)))
    jobRoutes(server, () => [job], (_id, offset) => {
      offsets.push(offset)
      // The server cuts as it likes: smaller, equal, larger than before.
      if (offsets.length === 1) return eventStream([piece(0, 4), piece(4, 14)], 'break')
      if (offsets.length === 2) return eventStream([piece(offset, offset + 2)], 'break')
      if (offsets.length === 3) return eventStream([piece(offset, offset + 2), piece(offset + 2, 18)])
      return eventStream([piece(offset, whole.length), ended(job)])
    })
    const hearing = hearer()
    await followJob('j', hearing, new AbortController().signal)
    expect(said(hearing)).toBe('one\nzwölf\n中文\nlast\n')
    expect(offsets).toEqual([0, 4, 4, 6])
    expect(hearing.gap).not.toHaveBeenCalled()
    expect(hearing.connection.mock.calls.map(([state]) => state)).toEqual(['fine', 'lost', 'fine', 'lost', 'fine', 'lost', 'fine'])
    expect(hearing.ended).toHaveBeenCalledExactlyOnceWith({ ...job, state: 'ended', exitCode: 0 })
  })

  it('does not take bytes that are no text for a gap or for known output', async () => {
    const job = makeJob('j')
    // Two broken bytes are two replacement characters of three bytes each.
    jobRoutes(server, () => [job], () => eventStream([output(0, '��'), output(2, 'ab'), ended(job)]))
    const hearing = hearer()
    await followJob('j', hearing, new AbortController().signal)
    expect(said(hearing)).toBe('��ab')
    expect(hearing.gap).not.toHaveBeenCalled()
  })

  it('ends when the server refuses, and when nobody listens any more', async () => {
    const hearing = hearer()
    await followJob('missing', hearing, new AbortController().signal)
    expect(hearing.failed).toHaveBeenCalledOnce()
    const gone = new AbortController()
    jobRoutes(server, () => [makeJob('j')], () => eventStream([output(0, 'x')]))
    const other = hearer()
    other.connection.mockImplementation((state) => state === 'lost' && gone.abort())
    await followJob('j', other, gone.signal)
    expect(said(other)).toBe('x')
    expect(server.called('GET /api/jobs/j/output')).toHaveLength(1)
  })
})

describe('what a person types', () => {
  it('goes out in order, together while a request is under way', async () => {
    const sent: JobInput[] = []
    const done: (() => void)[] = []
    const queue = new InputQueue((input) => new Promise((resolve) => {
      sent.push(input)
      done.push(resolve)
    }), () => undefined)
    queue.type('l')
    queue.type('s')
    await vi.waitFor(() => expect(sent).toEqual([{ chars: 'ls' }]))
    queue.type(' ')
    queue.type('-a\r')
    queue.resize({ columns: 80, rows: 24 })
    queue.resize({ columns: 100, rows: 30 })
    expect(sent).toHaveLength(1)
    done[0]?.()
    await vi.waitFor(() => expect(sent[1]).toEqual({ chars: ' -a\r', size: { columns: 100, rows: 30 } }))
  })

  it('goes in pieces that cut no character, and is dropped with its rest when it fails', async () => {
    const sent: string[] = []
    const failed = vi.fn()
    const queue = new InputQueue(async ({ chars }) => {
      sent.push(chars)
      if (sent.length === 3) throw new Error('away')
    }, failed)
    const text = `${'x'.repeat(16_383)}😀tail`
    queue.type(text)
    await vi.waitFor(() => expect(sent.join('')).toBe(text))
    expect(sent[0]).toHaveLength(16_383)
    queue.type('y'.repeat(40_000))
    await vi.waitFor(() => expect(failed).toHaveBeenLastCalledWith(new Error('away')))
    await new Promise((resolve) => setTimeout(resolve, 40))
    expect(sent).toHaveLength(3)
  })
})

describe('words and marks', () => {
  it('of an argv are quoted as a shell would need it', () => {
    expect(quoteWords(['git', 'commit', '-m', "it's done"])).toBe("git commit -m 'it'\\''s done'")
    expect(quoteWords(['a/b.c-d_e', '', '$HOME', '~', '*', '=x', 'a=b', '中'])).toBe("a/b.c-d_e '' '$HOME' '~' '*' '=x' a=b '中'")
    expect(keyNames('ls\r\u0003\u001b[A\t\u007f')).toBe('ls⏎^C^[[A⇥⌫')
    expect(shortLine(` a\n b ${'x'.repeat(100)}`)).toHaveLength(60)
  })

  it('warn of a sandbox that lacks something', () => {
    expect(['files: landlock 7', 'missing: network', 'No sandbox: switched off'].map(isWeak)).toEqual([false, true, true])
  })

  it('the notice above the chat counts what runs and leads to it', async () => {
    setPreferences({ panel: false, panelTab: 'details' })
    const { container, rerender } = render(<JobsChip jobs={[seen(makeJob('a', { state: 'ended' }))]} />)
    expect(container.textContent).toBe('')
    rerender(<JobsChip jobs={[seen(makeJob('a')), seen(makeJob('b'))]} />)
    await userEvent.click(screen.getByRole('button', { name: '2 commands run' }))
    expect(preferences()).toMatchObject({ panel: true, panelTab: 'commands' })
    await userEvent.click(screen.getByRole('button', { name: '2 commands run', pressed: true }))
    expect(preferences().panel).toBe(false)
  })
})

describe('commands of a conversation', () => {
  it('are counted with those of sub-agents', () => {
    const call = (state: object, name = 'shell-command') => ({ type: `tool-${name}`, toolCallId: 'c', input: {}, ...state }) as Part
    const inner: ChatMessage = { id: 'i', role: 'assistant', parts: [call({ state: 'output-available', output: {} })] }
    const messages: ChatMessage[] = [
      { id: 'm', role: 'assistant', parts: [call({ state: 'input-available' }), call({ state: 'output-available', preliminary: true, output: {} }, 'exec-command'), call({ state: 'output-error', errorText: '' }), call({ state: 'approval-requested', approval: { id: 'a' } }), call({ state: 'approval-responded', approval: { id: 'b', approved: true } }), call({ state: 'output-available', output: inner }, 'spawn-agent')] },
    ]
    expect(countCommands(messages, new SubAgentLanes())).toEqual({ calls: 5, settled: 2 })
  })

  it('are fetched again while one runs, and not at all before there are any', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true })
    jobRoutes(server, () => [makeJob('a', { state: server.calls.length < 3 ? 'running' : 'ended' })])
    const { result, rerender } = renderHook(({ on }) => useJobs('c', on, ''), { initialProps: { on: false } })
    expect(server.calls).toHaveLength(0)
    rerender({ on: true })
    await waitFor(() => expect(result.current.list?.[0]?.state).toBe('running'))
    await act(() => vi.advanceTimersByTimeAsync(2100))
    await act(() => vi.advanceTimersByTimeAsync(2100))
    await waitFor(() => expect(result.current.list?.[0]?.state).toBe('ended'))
    const count = server.calls.length
    await act(() => vi.advanceTimersByTimeAsync(6000))
    expect(server.calls).toHaveLength(count)
  })

  it('are fetched again while a call is under way whose command is not listed yet', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true })
    jobRoutes(server, () => (server.calls.length < 2 ? [] : [makeJob('a')]))
    const { result } = renderHook(() => useJobs('c', true, '', true))
    await waitFor(() => expect(result.current.list).toEqual([]))
    await act(() => vi.advanceTimersByTimeAsync(2100))
    await waitFor(() => expect(result.current.list?.[0]?.id).toBe('a'))
  })
})
