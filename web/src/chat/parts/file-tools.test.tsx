import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Tooltip } from 'radix-ui'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { fakeServer, type FakeServer } from '../../api/fake-server.fixture'
import type { FileDiff, Question } from '../../api/workspace-types'
import { textsOf } from '../../i18n'
import { sessions } from '../../sessions/sessions-store'
import { ChatContext, type ChatSurroundings } from '../chat-context'
import type { Part } from '../message-types'
import { SubAgentLanes } from '../sub-agent-lane'
import { diffsOf, lineOf, plannedDiffs, readLines } from './file-tools'
import { MessageParts } from './message-parts'

let server: FakeServer
beforeEach(() => {
  server = fakeServer()
  sessions.state = { ...sessions.state, approvals: [] }
  vi.spyOn(sessions, 'refresh').mockResolvedValue()
})
afterEach(() => {
  cleanup()
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const t = textsOf('en')
const diff: FileDiff = { path: 'src/a.rs', kind: 'modified', added: 1, removed: 1, diff: '@@ -1 +1 @@\n-old words\n+new words\n' }

function show(part: object) {
  const answer = vi.fn(() => Promise.resolve())
  const surroundings: ChatSurroundings = { chatId: 'c', lanes: new SubAgentLanes(), readOnly: false, answer, fillIn: vi.fn(), openAgent: vi.fn() }
  render(
    <Tooltip.Provider>
      <ChatContext value={surroundings}>
        <MessageParts message={{ id: 'm', role: 'assistant', parts: [{ toolCallId: 'c1', ...part } as Part] }} streaming={false} />
      </ChatContext>
    </Tooltip.Provider>,
  )
  return answer
}

describe('one line for a call', () => {
  const line = (tool: string, input: unknown, output?: unknown) => lineOf({ tool, input, output, running: false }, t)

  it('says what was read, listed and found', () => {
    expect(line('read-file', { path: '/workspace/src/main.rs' }, 'L1: a\nL2: b\n')).toBe('Read src/main.rs, lines 1–2')
    expect(line('read-file', { path: 'a' }, { text: 'L7: x' })).toBe('Read a, line 7')
    expect(line('read-file', { path: 'a' }, { odd: true })).toBe('Read a')
    expect(line('list-dir', { path: '/workspace' }, { entries: [1, 2] })).toBe('Listed . — 2 entries')
    expect(line('list-dir', {}, 'text')).toBe('Listed .')
    expect(line('grep-files', { pattern: 'foo' }, { files: ['a', 'b'] })).toBe('Searched “foo” — 2 files')
    expect(line('grep-files', { pattern: 'foo' }, { matches: [1] })).toBe('Searched “foo” — 1 match')
    expect(line('glob-files', { pattern: '*.rs' }, ['a'])).toBe('Searched “*.rs” — 1 file')
  })

  it('says what was changed', () => {
    expect(line('write-file', { path: 'a' }, { path: 'a', bytes: 1500, created: true })).toBe('Created a — 1.5 kB')
    expect(line('write-file', { path: 'a' }, { path: 'a', bytes: 10, created: false })).toBe('Wrote a — 10 B')
    expect(line('edit-file', { path: 'a' }, { files: [diff] })).toBe('Edited a')
    expect(line('apply-patch', { patch: '' }, { files: [diff, diff] })).toBe('Patched 2 files')
    expect(line('apply-patch', { patch: '' }, { files: [{ ...diff, kind: 'deleted' }] })).toBe('Deleted src/a.rs')
  })

  it('is in the present while the call runs, and is left to others for other tools', () => {
    expect(lineOf({ tool: 'edit-file', input: { path: 'a' }, running: true }, t)).toBe('Editing a')
    expect(line('read-file', { path: 3 })).toBeUndefined()
    expect(line('shell', { command: 'ls' })).toBeUndefined()
  })
})

describe('results', () => {
  it('are changes only when all of them are', () => {
    expect(diffsOf({ files: [diff] })).toEqual([diff])
    for (const odd of [undefined, 'x', {}, { files: [] }, { files: ['a'] }, { files: [diff, { path: 'b' }] }, { files: [{ ...diff, from: 1 }] }]) expect(diffsOf(odd)).toBeUndefined()
  })

  it('are lines only when they are numbered', () => {
    expect(readLines('L1: a\nL2: \nL3:   b\n(2 more lines)\n')).toEqual({ lines: [{ number: 1, text: 'a' }, { number: 2, text: '' }, { number: 3, text: '  b' }], notes: ['(2 more lines)'] })
    for (const odd of ['plain text', '', 7, null, { text: 3 }, 'L1: a\nb\nc\nd\ne']) expect(readLines(odd)).toBeUndefined()
  })

  it('of an edit can be told from its input', () => {
    expect(plannedDiffs('edit-file', { path: 'a', edits: [{ oldText: 'x\ny\n', newText: 'z' }] })).toEqual([{ path: 'a', kind: 'modified', added: 1, removed: 2, diff: '@@ -0 +0 @@\n-x\n-y\n+z' }])
    expect(plannedDiffs('edit-file', { path: 'a', edits: [{ oldText: 1 }] })).toBeUndefined()
    expect(plannedDiffs('write-file', { path: 'a', content: 'x' })).toBeUndefined()
  })
})

describe('the card of a call', () => {
  it('that edited a file has counts, and the diff on demand', async () => {
    show({ type: 'tool-edit-file', state: 'output-available', input: { actionName: 'Rename it', path: 'src/a.rs', edits: [] }, output: { files: [diff] } })
    const head = screen.getByRole('button', { name: /Edited src\/a\.rs.*Rename it.*1 line added, 1 removed/ })
    expect(screen.queryByRole('table')).toBeNull()
    await userEvent.click(head)
    expect(screen.getByRole('table', { name: 'Changed lines of src/a.rs' }).textContent).toContain('new words')
  })

  it('that read a file shows its lines', async () => {
    show({ type: 'tool-read-file', state: 'output-available', input: { path: 'a.txt', offset: 5 }, output: 'L5: five\nL6: six' })
    await userEvent.click(screen.getByRole('button', { name: /Read a\.txt, lines 5–6/ }))
    expect([...screen.getByRole('table', { name: 'a.txt' }).querySelectorAll('tr')].map((row) => row.textContent)).toEqual(['5five', '6six'])
  })

  it('that wrote a file shows what it wrote', async () => {
    show({ type: 'tool-write-file', state: 'output-available', input: { path: 'a.txt', content: 'one\ntwo\n' }, output: { path: 'a.txt', bytes: 8, created: true } })
    await userEvent.click(screen.getByRole('button', { name: /Created a\.txt/ }))
    expect(screen.getByRole('table', { name: 'a.txt' }).querySelectorAll('tr')).toHaveLength(2)
  })

  it('with a result of another shape is the general one', async () => {
    show({ type: 'tool-apply-patch', state: 'output-available', input: { patch: 'x' }, output: { odd: 1 } })
    await userEvent.click(screen.getByRole('button', { name: /Apply a patch/ }))
    expect(screen.getByText('odd')).toBeTruthy()
  })

  it('that failed says why', async () => {
    show({ type: 'tool-edit-file', state: 'output-error', input: { path: 'a' }, errorText: 'conflict: read it first' })
    await userEvent.click(screen.getByRole('button', { name: /Edit a.*failed/ }))
    expect(screen.getByText('conflict: read it first')).toBeTruthy()
  })
})

describe('an approval of a change', () => {
  const asking = { type: 'tool-write-file', state: 'approval-requested', input: { actionName: 'Save it', path: 'src/a.rs', content: 'all of it' }, approval: { id: 'apr_1' } }
  const answers = (question: Question) => server.on('GET /api/approvals/apr_1', () => ({ chatId: 'c', approval: {}, question }))

  it('shows the diff, and what "always" would allow, in the chat or in the workspace', async () => {
    answers({ why: 'It changes a file.', always: { tools: ['write-file'], path: 'src/**' }, files: [diff] })
    const answer = show(asking)
    expect(await screen.findByRole('table', { name: 'Changed lines of src/a.rs' })).toBeTruthy()
    expect(screen.queryByText('all of it')).toBeNull()
    const workspace = screen.getByRole('button', { name: 'Always in this workspace' })
    expect(document.getElementById(workspace.getAttribute('aria-describedby') ?? '')?.textContent).toContain('calls of write-file on files that match src/**')
    await userEvent.click(workspace)
    expect(answer).toHaveBeenCalledExactlyOnceWith('apr_1', { approved: true, always: 'workspace' })
  })

  it('can be answered with the keyboard alone, but not from the window of the diff', async () => {
    answers({ why: 'It changes a file.', always: { tools: ['write-file'] }, files: [diff] })
    const answer = show(asking)
    await screen.findByRole('table')
    await userEvent.click(screen.getByRole('button', { name: 'Open in a large window' }))
    expect(screen.getAllByRole('table')).toHaveLength(2)
    await userEvent.keyboard('w')
    expect(answer).not.toHaveBeenCalled()
    await userEvent.click(screen.getByRole('button', { name: 'Close' }))
    screen.getByRole('group', { name: 'Save it' }).focus()
    await userEvent.keyboard('w')
    expect(answer).toHaveBeenCalledExactlyOnceWith('apr_1', { approved: true, always: 'workspace' })
  })

  it('that is sensitive says so and offers no "always"', async () => {
    answers({ why: 'It changes settings.', sensitive: true, always: { tools: ['write-file'] }, files: [diff] })
    const answer = show(asking)
    expect(await screen.findByText(/This call is sensitive/)).toBeTruthy()
    expect(screen.queryByRole('button', { name: /Always/ })).toBeNull()
    screen.getByRole('group').focus()
    await userEvent.keyboard('sw')
    expect(answer).not.toHaveBeenCalled()
  })

  it('without a diff from the server shows the input', async () => {
    show(asking)
    expect(await screen.findByText('all of it')).toBeTruthy()
    cleanup()
    show({ ...asking, type: 'tool-edit-file', input: { path: 'a.txt', edits: [{ oldText: 'x', newText: 'y' }] } })
    expect(await screen.findByRole('table', { name: 'Changed lines of a.txt' })).toBeTruthy()
  })
})
