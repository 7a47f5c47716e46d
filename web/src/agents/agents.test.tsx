import { cleanup, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { Tooltip } from 'radix-ui'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AgentInfo } from '../api/types.gen'
import { AgentForm } from './agent-form'
import { someAgent } from './agents.fixture'
import { complaintsAt, complaintsElsewhere, copyOf, draftOf, emptyDraft } from './draft'

interface Call { method: string; path: string; body: Record<string, unknown> }
const calls: Call[] = []
let answer: (call: Call) => [number, unknown] = () => [200, {}]

beforeEach(() => {
  calls.length = 0
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    const call = { method: init.method ?? 'GET', path, body: init.body ? (JSON.parse(init.body as string) as Record<string, unknown>) : {} }
    calls.push(call)
    const known: Record<string, unknown> = {
      '/api/agents': { agents: [someAgent({ id: 'agt_2', name: 'finder', displayName: 'Finder' })], groups: [], variables: [{ name: 'project', about: 'its name' }] },
      '/api/tools': { tools: [{ name: 'time-now', description: 'Tells the time. And more.', inputSchema: {} }] },
      '/api/models': { models: [] },
    }
    const [status, body] = call.method === 'GET' ? [200, known[path]] : answer(call)
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'x-error-code': status === 409 ? 'agent_changed' : 'invalid_agent' } }))
  })
})
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

function show(stored?: AgentInfo) {
  const onSaved = vi.fn()
  render(
    <Tooltip.Provider>
      <AgentForm first={stored ? draftOf(stored) : emptyDraft()} {...(stored ? { stored } : {})} onSaved={onSaved} onCancel={() => undefined} />
    </Tooltip.Provider>,
  )
  return onSaved
}

const problem = (path: string, message: string) => ({ path, code: 'x', message, fix: 'Mend it.' })

describe('the form of an agent', () => {
  it('shows what the server refuses at the field it belongs to', async () => {
    answer = ({ path }) => (path.endsWith('check=true') ? [200, { problems: [problem('name', 'The name is taken.'), problem('budget.tokens', 'Too many tokens.')], warnings: [] }] : [200, {}])
    show()
    const name = screen.getByRole('textbox', { name: 'Name' })
    await userEvent.type(name, 'reviewer')
    const told = await screen.findByText(/The name is taken/)
    expect(name.getAttribute('aria-invalid')).toBe('true')
    expect(document.getElementById(name.getAttribute('aria-describedby') ?? '')?.contains(told)).toBe(true)
    expect(screen.getByText(/Too many tokens/)).toBeTruthy()
    expect(screen.getByText('2 problems to fix')).toBeTruthy()
  })

  it('sends everything it was given, also what it does not show, with the version it has seen', async () => {
    answer = () => [200, someAgent({ version: 4 })]
    const onSaved = show(someAgent())
    await userEvent.click(await screen.findByRole('checkbox', { name: /time-now/ }))
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await vi.waitFor(() => expect(onSaved).toHaveBeenCalledOnce())
    const put = calls.find((call) => call.method === 'PUT')
    expect(put?.path).toBe('/api/agents/agt_1')
    expect(put?.body).toMatchObject({ version: 3, toolKeys: [], aliases: ['rev'], budget: { wallTimeMs: 600_000 } })
  })

  it('a definition that somebody else changed can be taken over or replaced', async () => {
    const theirs = someAgent({ version: 7, description: 'Theirs.' })
    answer = ({ body }) => (body.version === 7 ? [200, someAgent({ version: 8 })] : [409, { title: '', status: 409, detail: 'Changed.', code: 'agent_changed', current: theirs }])
    const onSaved = show(someAgent())
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await userEvent.click(await screen.findByRole('button', { name: 'Take their version' }))
    expect((screen.getByRole('textbox', { name: 'Description' }) as HTMLTextAreaElement).value).toBe('Theirs.')
    await userEvent.click(screen.getByRole('button', { name: 'Save' }))
    await vi.waitFor(() => expect(onSaved).toHaveBeenCalledOnce())
  })
})

describe('a draft', () => {
  it('a copy has a name of its own and no names of the other', () => {
    expect(copyOf(someAgent())).toMatchObject({ name: 'reviewer-2', enabled: true })
    expect(copyOf(someAgent())).not.toHaveProperty('aliases')
  })

  it('a complaint about an element is one about its field', () => {
    const told = [problem('toolKeys[1]', 'a'), problem('model.provider', 'b'), problem('', 'c')]
    expect(complaintsAt('toolKeys', told)).toHaveLength(1)
    expect(complaintsElsewhere(['toolKeys', 'model'], told).map((one) => one.message)).toEqual(['c'])
  })
})
