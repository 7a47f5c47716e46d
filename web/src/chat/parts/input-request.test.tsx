import { cleanup, render, screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Tooltip } from 'radix-ui'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ApiProblem } from '../../api/problem'
import type { InputForm, UserAnswer } from '../../api/workspace-types'
import { sessions } from '../../sessions/sessions-store'
import { ChatContext, type ChatSurroundings } from '../chat-context'
import type { ChatMessage, Part } from '../message-types'
import { SubAgentLanes } from '../sub-agent-lane'
import { MessageParts } from './message-parts'

afterEach(() => {
  cleanup()
  vi.restoreAllMocks()
})
beforeEach(() => {
  sessions.state = { ...sessions.state, approvals: [] }
  vi.spyOn(sessions, 'refresh').mockResolvedValue()
})

const colours: InputForm = {
  short: true,
  fields: [
    {
      key: 'answer',
      label: 'Which colour?',
      type: 'choice',
      options: [{ label: 'red' }, { label: 'blue', description: 'like the sky' }],
      customInput: true,
      required: true,
    },
  ],
}

const login: InputForm = {
  title: 'Sign in',
  fields: [
    { key: 'user', label: 'User', type: 'text', required: true, pattern: '[a-z]+', patternMessage: 'Small letters only.' },
    { key: 'password', label: 'Password', type: 'secret', required: true, minLength: 8 },
    { key: 'region', label: 'Region', type: 'select', required: false, options: [{ label: 'eu' }, { label: 'us' }] },
  ],
}

function asked(form: InputForm) {
  const approval = { id: 'apr_1', kind: 'input', run: 'r', message: 'm', toolCall: 'c1', tool: 'request-user-input', input: {}, status: 'pending', askedAt: 0 } as const
  sessions.state = { ...sessions.state, approvals: [{ chatId: 'c', title: null, approval, question: { why: 'The agent asks you.', form } }] }
}

function show(state: object, fillIn: ChatSurroundings['fillIn'] = vi.fn(() => Promise.resolve()), metadata: ChatMessage['metadata'] = {}, call = 'c1') {
  const surroundings: ChatSurroundings = { chatId: 'c', lanes: new SubAgentLanes(), readOnly: false, answer: vi.fn(), fillIn, openAgent: vi.fn() }
  const part = { type: 'tool-request-user-input', toolCallId: call, input: {}, ...state } as unknown as Part
  const message: ChatMessage = { id: 'm', role: 'assistant', metadata, parts: [part] }
  return render(
    <Tooltip.Provider>
      <ChatContext value={surroundings}>
        <MessageParts message={message} streaming={false} />
      </ChatContext>
    </Tooltip.Provider>,
  )
}

const open = { state: 'input-available' }

describe('a request for input', () => {
  it('a question is answered with an option', async () => {
    asked(colours)
    const fillIn = vi.fn(() => Promise.resolve())
    show(open, fillIn)
    screen.getByRole('heading', { name: 'Which colour?' })
    await userEvent.click(screen.getByRole('radio', { name: /blue/ }))
    await userEvent.click(screen.getByRole('button', { name: 'Send answer' }))
    expect(fillIn).toHaveBeenCalledWith('apr_1', { selected: 'blue' } satisfies UserAnswer)
  })

  it('a question is answered in own words, or skipped', async () => {
    asked(colours)
    const fillIn = vi.fn(() => Promise.resolve())
    const view = show(open, fillIn)
    await userEvent.click(screen.getByRole('radio', { name: 'Other' }))
    await userEvent.type(screen.getByRole('textbox', { name: 'Your own answer' }), 'teal{Enter}')
    expect(fillIn).toHaveBeenLastCalledWith('apr_1', { customInput: 'teal' })
    view.unmount()
    show(open, fillIn)
    await userEvent.click(screen.getByRole('button', { name: 'Skip' }))
    expect(fillIn).toHaveBeenLastCalledWith('apr_1', { cancelled: true })
  })

  it('several options are sent as a list', async () => {
    const [field] = colours.fields
    asked({ ...colours, fields: field ? [{ ...field, multiSelect: true }] : [] })
    const fillIn = vi.fn(() => Promise.resolve())
    show(open, fillIn)
    await userEvent.click(screen.getByRole('checkbox', { name: /blue/ }))
    await userEvent.click(screen.getByRole('checkbox', { name: 'red' }))
    await userEvent.click(screen.getByRole('button', { name: 'Send answer' }))
    expect(fillIn).toHaveBeenCalledWith('apr_1', { selected: ['blue', 'red'] })
  })

  it('a form says at its fields what does not fit, and sends when all fits', async () => {
    asked(login)
    const fillIn = vi.fn(() => Promise.resolve())
    show(open, fillIn)
    await userEvent.type(screen.getByRole('textbox', { name: 'User' }), 'EVE')
    await userEvent.type(screen.getByLabelText('Password'), 'short{Enter}')
    expect(screen.getAllByRole('alert').map((one) => one.textContent)).toEqual(['Small letters only.', 'At least 8 characters are required.'])
    expect(fillIn).not.toHaveBeenCalled()
    expect(screen.getByLabelText('Password').getAttribute('type')).toBe('password')
    await userEvent.clear(screen.getByRole('textbox', { name: 'User' }))
    await userEvent.type(screen.getByRole('textbox', { name: 'User' }), 'eve')
    await userEvent.type(screen.getByLabelText('Password'), 'er-secret')
    await userEvent.click(screen.getByRole('button', { name: 'Send answer' }))
    expect(fillIn).toHaveBeenCalledWith('apr_1', { answers: { user: 'eve', password: 'shorter-secret' } })
  })

  it('what the server refuses stands at its field', async () => {
    asked(colours)
    const problem = { title: 'Bad Request', status: 400, detail: 'no', code: 'invalid_message' as const, problems: [{ path: 'answers.answer', code: 'not_an_option', message: 'The answer is none of the options.', fix: '' }] }
    show(open, vi.fn(() => Promise.reject(new ApiProblem('invalid_message', 400, 'no', problem))))
    await userEvent.click(screen.getByRole('radio', { name: 'red' }))
    await userEvent.click(screen.getByRole('button', { name: 'Send answer' }))
    await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('The answer is none of the options.'))
  })

  it('the copy of a sub-agent’s request is found by the original call', () => {
    asked(colours)
    show(open, undefined, { raisedCalls: { copy: { agentName: 'a', messageId: 'inner', toolCallId: 'c1' } } }, 'copy')
    screen.getByRole('radio', { name: 'red' })
  })

  it('afterwards it shows question and answer, and never a secret', () => {
    const input = { questions: [{ key: 'user', label: 'User' }, { key: 'password', label: 'Password', type: 'secret' }] }
    const { container } = show({ state: 'output-available', input, output: { answers: { user: 'eve', password: 'secret://abc' } } })
    expect(container.textContent).toContain('Usereve')
    expect(container.textContent).toContain('••••••')
    expect(container.textContent).not.toContain('secret://')
  })

  it('a skipped question says so', () => {
    const { container } = show({ state: 'output-available', input: { question: 'Which?' }, output: { cancelled: true, message: 'x' } })
    expect(container.textContent).toContain('You skipped this question')
  })
})
