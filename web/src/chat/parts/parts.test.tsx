import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Tooltip } from 'radix-ui'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ChatContext, type ChatSurroundings } from '../chat-context'
import type { Question } from '../../api/workspace-types'
import type { ChatMessage, Part } from '../message-types'
import { SubAgentLanes } from '../sub-agent-lane'
import { sessions } from '../../sessions/sessions-store'
import { MessageParts } from './message-parts'

afterEach(() => {
  cleanup()
  vi.restoreAllMocks()
})
beforeEach(() => {
  sessions.state = { ...sessions.state, approvals: [] }
  vi.spyOn(sessions, 'refresh').mockResolvedValue()
})

function show(parts: Part[], change: Partial<ChatSurroundings> = {}, metadata: ChatMessage['metadata'] = {}) {
  const surroundings: ChatSurroundings = { chatId: 'c', lanes: new SubAgentLanes(), readOnly: false, answer: vi.fn(() => Promise.resolve()), fillIn: vi.fn(() => Promise.resolve()), openAgent: vi.fn(), ...change }
  const message: ChatMessage = { id: 'm', role: 'assistant', metadata, parts }
  const view = render(
    <Tooltip.Provider>
      <ChatContext value={surroundings}>
        <MessageParts message={message} streaming={false} />
      </ChatContext>
    </Tooltip.Provider>,
  )
  return { ...view, surroundings }
}

const tool = (state: object, name = 'look-up'): Part => ({ type: `tool-${name}`, toolCallId: 'c1', input: { actionName: 'Read it', path: 'a.txt' }, ...state }) as Part

function waiting(question: Question) {
  const approval = { id: 'apr_1', kind: 'approval', run: 'r', message: 'm', toolCall: 'c', tool: 'shell', input: {}, status: 'pending', askedAt: 0 } as const
  sessions.state = { ...sessions.state, approvals: [{ chatId: 'c', title: null, approval, question }] }
}

describe('parts of a message', () => {
  it('come in their order', () => {
    const { container } = show([
      { type: 'text', text: 'before', state: 'done' },
      tool({ state: 'output-available', output: 'x' }),
      { type: 'text', text: 'after', state: 'done' },
    ])
    expect(container.textContent).toMatch(/before.*Read it.*after/)
  })

  it('a finished call is folded and opens on demand', async () => {
    show([tool({ state: 'output-available', output: { lines: 3 } })])
    const head = screen.getByRole('button', { name: /Read it/ })
    expect(head.getAttribute('aria-expanded')).toBe('false')
    await userEvent.click(head)
    expect(screen.getByText('lines')).toBeTruthy()
    expect(screen.getByText('a.txt', { selector: 'pre' })).toBeTruthy()
  })

  it('a failed call says why', async () => {
    show([tool({ state: 'output-error', errorText: 'no such file' })])
    await userEvent.click(screen.getByRole('button', { name: /failed/ }))
    expect(screen.getByText('no such file')).toBeTruthy()
  })

  it('an approval shows the command and sends one answer', async () => {
    const { surroundings } = show([{ type: 'tool-shell', toolCallId: 'c', state: 'approval-requested', input: { actionName: 'Clean', command: 'rm -r build' }, approval: { id: 'apr_1' } } as Part])
    expect(screen.getByText(/rm -r build/)).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: 'Approve' }))
    expect(surroundings.answer).toHaveBeenCalledExactlyOnceWith('apr_1', { approved: true })
    expect((screen.getByRole('button', { name: 'Approve' }) as HTMLButtonElement).disabled).toBe(true)
  })

  it('a denial can carry a reason', async () => {
    const { surroundings } = show([{ type: 'tool-shell', toolCallId: 'c', state: 'approval-requested', input: {}, approval: { id: 'apr_1' } } as Part])
    await userEvent.click(screen.getByRole('button', { name: 'Deny' }))
    await userEvent.type(screen.getByRole('textbox'), 'not today{Enter}')
    expect(surroundings.answer).toHaveBeenCalledExactlyOnceWith('apr_1', { approved: false, reason: 'not today' })
  })

  it('an approval says why it was asked and offers what the server offers', async () => {
    const asking = { type: 'tool-shell', toolCallId: 'c', state: 'approval-requested', input: { command: 'ls' }, approval: { id: 'apr_1' } } as Part
    const first = show([asking])
    expect(screen.queryByRole('button', { name: 'Always in this chat' })).toBeNull()
    expect(sessions.refresh).toHaveBeenCalledOnce()
    first.unmount()
    waiting({ why: 'It runs a command.', always: { tools: ['shell'], command: 'ls' } })
    const { surroundings } = show([asking])
    expect(screen.getByText(/It runs a command/)).toBeTruthy()
    expect(screen.getByText(/runs calls of shell with commands that begin with “ls” without asking/)).toBeTruthy()
    screen.getByRole('group').focus()
    await userEvent.keyboard('s')
    expect(surroundings.answer).toHaveBeenCalledExactlyOnceWith('apr_1', { approved: true, always: 'session' })
  })

  it('the input can be edited with the keyboard alone, and a refusal stands at its field', async () => {
    const answer = vi.fn().mockRejectedValueOnce(new Error('The edited input does not fit: field `count`: is too large.')).mockResolvedValue(undefined)
    show([{ type: 'tool-shell', toolCallId: 'c', state: 'approval-requested', input: { actionName: 'Clean', command: 'rm a', count: 1 }, approval: { id: 'apr_1' } } as Part], { answer })
    screen.getByRole('group').focus()
    await userEvent.keyboard('e')
    const command = screen.getByRole('textbox', { name: 'command' })
    expect(document.activeElement).toBe(command)
    await userEvent.type(command, 'b')
    const count = screen.getByRole('textbox', { name: /^count/ })
    await userEvent.clear(count)
    await userEvent.keyboard('{Control>}{Enter}{/Control}')
    expect(screen.getByRole('alert').textContent).toBe('This is not valid JSON.')
    expect(answer).not.toHaveBeenCalled()
    await userEvent.type(count, '99{Control>}{Enter}{/Control}')
    expect(answer).toHaveBeenCalledExactlyOnceWith('apr_1', { approved: true, input: { actionName: 'Clean', command: 'rm ab', count: 99 } })
    const alert = await screen.findByRole('alert')
    expect(alert.closest('label')?.textContent).toMatch(/^count/)
    await userEvent.keyboard('{Escape}')
    expect(screen.queryByRole('textbox')).toBeNull()
    expect(document.activeElement).toBe(screen.getByRole('group'))
  })

  it('a call that ran with an edited input says so and shows both', async () => {
    show([tool({ state: 'output-available', output: 'x' })], {}, { editedCalls: { c1: { input: { path: 'b.txt' } } } })
    expect(screen.getByText('edited')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: /Read it/ }))
    expect(screen.getByText('b.txt', { selector: 'pre' })).toBeTruthy()
    expect(screen.getByText('a.txt', { selector: 'pre' })).toBeTruthy()
  })

  it('an answer that does not arrive can be given again', async () => {
    const { surroundings } = show([{ type: 'tool-shell', toolCallId: 'c', state: 'approval-requested', input: {}, approval: { id: 'apr_1' } } as Part], { answer: vi.fn(() => Promise.reject(new Error('away'))) })
    await userEvent.click(screen.getByRole('button', { name: 'Approve' }))
    await vi.waitFor(() => expect((screen.getByRole('button', { name: 'Approve' }) as HTMLButtonElement).disabled).toBe(false))
    expect(surroundings.answer).toHaveBeenCalledOnce()
  })

  it('a sub-agent is a card with its own message inside, to any depth', async () => {
    const inner: ChatMessage = {
      id: 'm2', role: 'assistant',
      metadata: { agent: { kind: 'sub', name: 'r', displayName: 'Researcher', depth: 1, path: ['g', 'r'] }, chatId: 'sub-1', status: 'finished' },
      parts: [tool({ state: 'output-available', output: 'found' }), { type: 'text', text: 'All found.', state: 'done' }],
    }
    const outer: ChatMessage = { ...inner, id: 'm1', metadata: { ...inner.metadata, chatId: 'sub-0', agent: { kind: 'sub', name: 'p', displayName: 'Planner', depth: 1, path: ['g', 'p'] } }, parts: [{ type: 'tool-sub-agent', toolCallId: 'c9', state: 'output-available', input: { task: 'look deeper' }, output: inner } as Part] }
    const { surroundings } = show([{ type: 'tool-sub-agent', toolCallId: 'c8', state: 'output-available', input: { name: 'planner', task: 'plan it' }, output: outer } as Part])
    await userEvent.click(screen.getByRole('button', { name: /Planner/ }))
    expect(screen.getByText('All found.')).toBeTruthy()
    await userEvent.click(screen.getByRole('button', { name: /Researcher/ }))
    expect(screen.getByRole('button', { name: /Read it/ })).toBeTruthy()
    await userEvent.click(screen.getAllByRole('button', { name: 'Open its conversation' })[1] as HTMLElement)
    expect(surroundings.openAgent).toHaveBeenCalledWith('sub-1', 'Researcher')
  })

  it('a plan is a checklist', () => {
    show([{ type: 'data-plan', id: 'plan', data: { steps: [{ step: 'a', status: 'completed' }, { step: 'b', status: 'in_progress' }] } } as Part])
    expect(screen.getByText('1 of 2 done')).toBeTruthy()
  })

  it('a compaction is one line that opens to its summary', async () => {
    show([{ type: 'data-compaction', id: 'x', data: { status: 'done', trigger: 'command', summary: 'They spoke of **boats**.', open: ['An approval waits.'], tokensBefore: 12_000, tokensAfter: 900 } } as Part])
    expect(screen.getByText('12k → 900 tokens')).toBeTruthy()
    expect(screen.queryByText('boats')).toBeNull()
    await userEvent.click(screen.getByRole('button', { name: /is summarised/ }))
    expect(screen.getByText('boats').tagName).toBe('STRONG')
    expect(screen.getByText('An approval waits.')).toBeTruthy()
  })

  it('a compaction that is on, or that makes no sense, has nothing to open', () => {
    show([{ type: 'data-compaction', id: 'x', data: { status: 'running', trigger: 'window' } } as Part, { type: 'data-compaction', data: { status: 'odd' } } as Part])
    expect((screen.getByRole('button', { name: /Summarising/ }) as HTMLButtonElement).disabled).toBe(true)
    expect(screen.getAllByRole('button')).toHaveLength(1)
  })

  it('a part that cannot be drawn leaves the others alone', () => {
    const silent = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    show([{ type: 'text', text: 12 } as unknown as Part, { type: 'text', text: 'still here', state: 'done' }])
    expect(screen.getByText('This part cannot be shown.')).toBeTruthy()
    expect(screen.getByText('still here')).toBeTruthy()
    silent.mockRestore()
  })

  it('unknown data is left out', () => {
    const { container } = show([{ type: 'data-other', data: { x: 1 } } as Part, { type: 'step-start' }])
    expect(container.textContent).toBe('')
  })
})
