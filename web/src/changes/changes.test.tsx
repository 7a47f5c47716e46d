import { act, cleanup, render, renderHook, screen, waitFor, within } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Tooltip } from 'radix-ui'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeServer, problem, type FakeServer } from '../api/fake-server.fixture'
import type { ChangeList, ChangedFile } from '../api/workspace-types'
import type { ChatMessage, Part } from '../chat/message-types'
import { SubAgentLanes } from '../chat/sub-agent-lane'
import { ChangesPanel } from './changes-panel'
import { runTitle } from './run-title'
import { countFileChanges, useChanges, type Changes } from './use-changes'

let server: FakeServer
beforeEach(() => {
  server = fakeServer()
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const changed = (path: string, change: Partial<ChangedFile> = {}): ChangedFile => ({ path, kind: 'modified', added: 3, removed: 1, revertible: true, ...change })

const list: ChangeList = {
  files: [changed('src/a.rs'), changed('new.txt', { kind: 'created', removed: 0 }), changed('taken.txt', { revertible: false, reason: 'it was changed since' })],
  runs: [{ messageId: 'm2', at: 2_000, files: [changed('src/a.rs')] }, { messageId: 'gone', at: 1_000, files: [changed('new.txt', { kind: 'created' })] }],
  changes: [{ id: 'chg_1', messageId: 'm2', tool: 'edit-file', agent: ['master', 'coder'], at: 2_000, status: 'applied', files: [{ path: '/workspace/src/a.rs' }] }],
}

const messages: ChatMessage[] = [
  { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'Rename the\nfunction' }] },
  { id: 'm2', role: 'assistant', parts: [] },
]

function show(change: Partial<Changes> = {}, busy = false) {
  const refresh = vi.fn()
  render(
    <Tooltip.Provider>
      <ChangesPanel chatId="c 1" changes={{ list, problem: undefined, refresh, ...change }} messages={messages} busy={busy} />
    </Tooltip.Provider>,
  )
  return refresh
}

describe('the panel of changes', () => {
  it('lists files with what became of them, and why one cannot be reverted', () => {
    show()
    expect(screen.getByRole('status').textContent).toContain('3 files changed')
    expect(within(screen.getByRole('button', { name: /new\.txt.*/, expanded: false })).getByRole('img', { name: 'created' })).toBeTruthy()
    expect(screen.getByText('Cannot be reverted: it was changed since')).toBeTruthy()
    expect((screen.getByRole('button', { name: 'Revert taken.txt' }) as HTMLButtonElement).disabled).toBe(true)
  })

  it('fetches a diff when it is wanted, for the chat or for one run', async () => {
    server.on('GET /api/chat/c%201/changes/diff', ({ query }) => ({ path: query.get('path'), kind: 'modified', added: 1, removed: 1, diff: '@@ -1 +1 @@\n-old\n+new\n' }))
    show()
    expect(server.calls).toHaveLength(0)
    await userEvent.click(screen.getByRole('button', { name: /a\.rs/, expanded: false }))
    expect(await screen.findByRole('table', { name: 'Changed lines of src/a.rs' })).toBeTruthy()
    expect(server.calls[0]?.query.get('messageId')).toBeNull()
    await userEvent.click(screen.getByRole('radio', { name: 'By run' }))
    expect(screen.getByRole('heading', { name: 'Rename the function' })).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: /a\.rs/, expanded: false }))
    await screen.findByRole('table')
    expect(server.calls.at(-1)?.query.get('messageId')).toBe('m2')
  })

  it('a diff that cannot be fetched can be tried again', async () => {
    let tries = 0
    server.on('GET /api/chat/c%201/changes/diff', () => (++tries === 1 ? problem(503, 'The store is away.') : { path: 'src/a.rs', kind: 'modified', added: 0, removed: 0, diff: '' }))
    show()
    await userEvent.click(screen.getByRole('button', { name: /a\.rs/, expanded: false }))
    expect((await screen.findByRole('alert')).textContent).toContain('The store is away.')
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
    expect(await screen.findByText(/empty or binary/)).toBeTruthy()
  })

  it('asks before it reverts, says what happens to each file, and reverts exactly that', async () => {
    server.on('POST /api/chat/c%201/changes/revert', () => ({ reverted: ['src/a.rs', 'new.txt'], refused: [] }))
    const refresh = show()
    await userEvent.click(screen.getByRole('button', { name: 'Revert all' }))
    const dialog = screen.getByRole('dialog', { name: 'Revert all changes of this chat?' })
    expect(dialog.textContent).toContain('2 files are restored to their state before this chat.')
    expect(within(dialog).getByText('is deleted').closest('li')?.textContent).toContain('new.txt')
    expect(within(dialog).getByText('it was changed since').closest('li')?.textContent).toContain('taken.txt')
    expect(server.calls).toHaveLength(0)
    await userEvent.click(within(dialog).getByRole('button', { name: 'Revert 2 files' }))
    await waitFor(() => expect(refresh).toHaveBeenCalledOnce())
    expect(server.calls.map((call) => call.body)).toEqual([{}])
    await waitFor(() => expect(screen.queryByText('2 files are restored to their state before this chat.')).toBeNull())
  })

  it('reverts one file of one run', async () => {
    server.on('POST /api/chat/c%201/changes/revert', () => ({ reverted: ['src/a.rs'], refused: [] }))
    show()
    await userEvent.click(screen.getByRole('radio', { name: 'By run' }))
    await userEvent.click(screen.getByRole('button', { name: 'Revert src/a.rs' }))
    expect(screen.getByText('The file is restored to its state before this run.')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Revert 1 file' }))
    await waitFor(() => expect(server.calls.map((call) => call.body)).toEqual([{ messageId: 'm2', paths: ['src/a.rs'] }]))
  })

  it('shows the files that were refused with their reasons', async () => {
    server.on('POST /api/chat/c%201/changes/revert', () => ({ reverted: ['new.txt'], refused: [{ path: 'src/a.rs', reason: 'somebody changed it' }] }))
    show()
    await userEvent.click(screen.getByRole('button', { name: 'Revert all' }))
    await userEvent.click(screen.getByRole('button', { name: 'Revert 2 files' }))
    expect(await screen.findByText('1 file was not reverted')).toBeTruthy()
    expect(screen.getByText('somebody changed it').closest('li')?.textContent).toContain('src/a.rs')
    await userEvent.click(screen.getAllByRole('button', { name: 'Close' }).at(-1) as HTMLElement)
    expect(screen.queryByText('1 file was not reverted')).toBeNull()
  })

  it('says why nothing was reverted, and lets it be tried again', async () => {
    server.on('POST /api/chat/c%201/changes/revert', () => problem(409, 'A run is active. Stop it first.'))
    const refresh = show()
    await userEvent.click(screen.getByRole('button', { name: 'Revert all' }))
    await userEvent.click(screen.getByRole('button', { name: 'Revert 2 files' }))
    expect((await screen.findByRole('alert')).textContent).toBe('Nothing was reverted. A run is active. Stop it first.')
    expect(refresh).not.toHaveBeenCalled()
    expect((screen.getByRole('button', { name: 'Revert 2 files' }) as HTMLButtonElement).disabled).toBe(false)
  })

  it('reverts nothing while the agent works', () => {
    show({}, true)
    expect((screen.getByRole('button', { name: 'Revert all' }) as HTMLButtonElement).disabled).toBe(true)
    expect(screen.getByText(/when the agent has finished/)).toBeTruthy()
  })

  it('has words for nothing, for loading and for a failure', async () => {
    show({ list: { files: [], runs: [], changes: [] } })
    expect(screen.getByText('This chat has not changed any files.')).toBeTruthy()
    cleanup()
    show({ list: undefined })
    expect(screen.getByRole('status', { name: 'Loading' })).toBeTruthy()
    cleanup()
    const refresh = show({ list: undefined, problem: 'The server cannot be reached.' })
    expect(screen.getByRole('alert').textContent).toContain('The server cannot be reached.')
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }))
    expect(refresh).toHaveBeenCalledOnce()
  })

  it('keeps the record of every change', async () => {
    show()
    await userEvent.click(screen.getByRole('button', { name: 'History: 1 change' }))
    expect(screen.getByText('edit-file').closest('li')?.textContent).toMatch(/src\/a\.rs.*master › coder/)
  })
})

describe('the changes of a chat', () => {
  it('are fetched when wanted, and again when a call has settled', async () => {
    server.on('GET /api/chat/c/changes', () => list)
    const { result, rerender } = renderHook(({ on, signal }) => useChanges('c', on, signal), { initialProps: { on: false, signal: '0' } })
    expect(server.calls).toHaveLength(0)
    rerender({ on: true, signal: '0' })
    await waitFor(() => expect(result.current.list?.files).toHaveLength(3))
    rerender({ on: true, signal: '1' })
    await waitFor(() => expect(server.calls).toHaveLength(2))
    server.on('GET /api/chat/c/changes', () => problem(503, 'Away.'))
    act(() => result.current.refresh())
    await waitFor(() => expect(result.current.problem).toBe('Away.'))
    expect(result.current.list?.files).toHaveLength(3)
  })

  it('of a chat that is not stored yet are none', async () => {
    const { result } = renderHook(() => useChanges('new', true, ''))
    await waitFor(() => expect(result.current.list?.files).toEqual([]))
    expect(result.current.problem).toBeUndefined()
  })

  it('are counted in sub-agents too, when they have settled', () => {
    const write = (id: string, state: string): Part => ({ type: 'tool-write-file', toolCallId: id, state, input: {}, output: {} }) as Part
    const inner: ChatMessage = { id: 'i', role: 'assistant', parts: [write('a', 'output-available'), write('b', 'input-available')] }
    const outer: ChatMessage = { id: 'o', role: 'assistant', parts: [write('c', 'output-available'), { type: 'tool-sub-agent', toolCallId: 'd', state: 'output-available', input: {}, output: inner } as Part, { type: 'tool-read-file', toolCallId: 'e', state: 'output-available', input: {}, output: 'x' } as Part] }
    expect(countFileChanges([outer], new SubAgentLanes())).toBe(2)
  })

  it('a run is called by its question', () => {
    expect(runTitle(messages, 'm2')).toBe('Rename the function')
    expect(runTitle(messages, 'elsewhere')).toBeUndefined()
    expect(runTitle([{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'x'.repeat(200) }] }, { id: 'm', role: 'assistant', parts: [] }], 'm')).toHaveLength(80)
  })
})
