import { describe, expect, it } from 'vitest'
import { ApiProblem } from '../api/problem'
import { someAgent } from '../agents/agents.fixture'
import { routeOf, addressOf } from '../app/router'
import { formatCount, formatDuration, formatSize, resolveLanguage } from '../i18n'
import { en } from '../i18n/en'
import { markdownOf } from '../sessions/export'
import { groupsOf } from '../sessions/sidebar'
import type { SessionInfo } from '../api/types.gen'
import { agentTree } from './agent-tree'
import { latestPlan, type ChatMessage, type Part } from './message-types'
import { readModels } from './models'
import { sumUsage } from './side-panel'
import { suggestionsFor, wordAt } from './suggestions'
import { isRefusedFile, troubleOf } from './trouble'
import { joinHistory } from './use-session-chat'

const message = (id: string, parts: Part[] = [], metadata: ChatMessage['metadata'] = {}): ChatMessage => ({ id, role: 'assistant', parts, metadata })
const session = (id: string, updatedAt: number, pinned = false): SessionInfo => ({ id, title: id, createdAt: 0, updatedAt, messageCount: 1, status: 'idle', agentId: 'general', pinned })

describe('a conversation', () => {
  it('takes the newest page in place of what is shown and keeps earlier pages', () => {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => message(id))
    if (!a || !b || !c || !d) throw new Error()
    expect(joinHistory([a, b, c], [b, d])).toEqual([a, b, d])
    expect(joinHistory([a], [c, d])).toEqual([c, d])
    expect(joinHistory([a], [])).toEqual([])
  })

  it('finds the newest plan', () => {
    const plan = (step: string): Part => ({ type: 'data-plan', id: 'plan', data: { steps: [{ step, status: 'pending' }] } }) as Part
    expect(latestPlan([message('a', [plan('old')]), message('b', [plan('new')]), message('c')])?.steps[0]?.step).toBe('new')
    expect(latestPlan([message('a', [{ type: 'data-plan', data: { steps: 'x' } } as Part])])).toBeUndefined()
  })

  it('adds up what its messages used', () => {
    const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3, cachedInputTokens: 0, reasoningTokens: 1 }
    expect(sumUsage([message('a', [], { usage }), message('b'), message('c', [], { usage })])).toMatchObject({ totalTokens: 6, reasoningTokens: 2 })
  })

  it('shows the tree of its agents, live ones before settled ones', () => {
    const inner = message('m2', [{ type: 'step-start' }], { chatId: 's', agent: { kind: 'sub', name: 'r', displayName: 'R', depth: 1, path: [] } })
    const running = { type: 'tool-sub-agent', toolCallId: 'c1', state: 'input-available', input: { name: 'r', task: 'go' } } as Part
    expect(agentTree([message('m', [running])], (parent, call) => (parent === 'm' && call === 'c1' ? inner : undefined))).toEqual([
      { call: 'm c1', name: 'R', task: 'go', state: 'running', steps: 1, toolCalls: 0, tokens: 0, chatId: 's', children: [] },
    ])
  })

  it('is exported as Markdown', () => {
    const text = markdownOf('T', [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'hi' }] }, message('a', [{ type: 'text', text: 'hello' }])])
    expect(text).toBe('# T\n\n## You\n\nhi\n\n## Assistant\n\nhello\n')
  })

  it('tells its troubles apart', () => {
    expect(troubleOf(new Error('the model failed')).kind).toBe('stream')
    expect(troubleOf(Object.assign(new Error('x'), { name: 'AI_JSONParseError' })).kind).toBe('parse')
    expect(troubleOf(new ApiProblem('invalid_message', 400, 'no')).kind).toBe('request')
    expect(isRefusedFile(new ApiProblem('unsupported_attachment', 422, 'no'))).toBe(true)
    expect(isRefusedFile(new ApiProblem('invalid_message', 400, 'no'))).toBe(false)
  })
})

describe('the composer', () => {
  it('offers commands at the beginning only and agents anywhere', () => {
    expect(wordAt('/he', 3)).toEqual({ sign: '/', word: 'he', from: 0 })
    expect(wordAt('a /he', 5)).toBeUndefined()
    expect(wordAt('ask @re', 7)).toEqual({ sign: '@', word: 're', from: 4 })
    expect(wordAt('me@example', 10)).toBeUndefined()
    expect(suggestionsFor('/re', 3, [], en).map((one) => one.label)).toEqual(['/retry'])
    const agents = [someAgent({ name: 'researcher', displayName: 'Researcher' }), someAgent({ name: 'search', available: false })]
    expect(suggestionsFor('@sea', 4, agents, en).map((one) => one.label)).toEqual(['@researcher'])
  })
})

describe('the page', () => {
  it('has addresses that lead back to where they came from', () => {
    for (const address of ['/', '/c/a%2Fb%20c', '/c/x?agent=sub-1', '/agents', '/agents?new=', '/agents?new=general', '/agents/general', '/usage', '/settings']) {
      expect(addressOf(routeOf(address))).toBe(address)
    }
    expect(routeOf('/a/b/c').page).toBe('missing')
    expect(routeOf('/c/%E0%A4%A').page).toBe('missing')
  })

  it('lists pinned chats first, then by day', () => {
    const now = new Date(2026, 5, 10, 12)
    const at = (days: number) => now.getTime() - days * 86_400_000
    const groups = groupsOf([session('a', at(0)), session('b', at(1)), session('c', at(3)), session('d', at(30)), session('e', at(30), true)], en, now)
    expect(groups.map((group) => [group.name, group.sessions.map((one) => one.id)])).toEqual([['Pinned', ['e']], ['Today', ['a']], ['Yesterday', ['b']], ['Last seven days', ['c']], ['Older', ['d']]])
  })

  it('speaks the first language it knows', () => {
    expect(resolveLanguage('system', ['fr', 'zh-TW', 'en'])).toBe('zh')
    expect(resolveLanguage('system', ['fr'])).toBe('en')
    expect(resolveLanguage('en', ['zh'])).toBe('en')
  })

  it('writes numbers short', () => {
    expect([formatSize(999), formatSize(1500), formatSize(2_500_000)]).toEqual(['999 B', '1.5 kB', '2.5 MB'])
    expect([formatCount(12), formatCount(4210), formatCount(1_000_000)]).toEqual(['12', '4.2k', '1M'])
    expect([formatDuration(120), formatDuration(2345), formatDuration(75_000)]).toEqual(['120 ms', '2.3 s', '1 min 15 s'])
  })

  it('reads the registry it is given and nothing else', () => {
    expect(readModels({ models: [{ id: 'x', provider: 'p', price: { input: 1, output: 2 } }, { no: 1 }] })).toEqual([
      { id: 'x', label: 'x', provider: 'p', familyId: 'p', tags: [], contextWindow: undefined, price: { input: 1, output: 2 }, available: true },
    ])
    expect(readModels('nonsense')).toEqual([])
  })
})
