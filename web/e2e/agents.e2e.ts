// The agent tree, from a stream as the protocol describes it: the fast lane while sub-agents work, the nested messages
// when they are done, and the way into one agent's own conversation.

import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Stage, write } from './stage'

const agent = (name: string, displayName: string, depth: number) => ({ kind: depth ? 'sub' : 'main', name, displayName, depth, path: ['general', name].slice(0, depth + 1) })

const inner = {
  id: 'msg_inner', role: 'assistant',
  metadata: { agent: agent('search', 'Search', 2), chatId: 'sub-inner', status: 'finished', usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 0, reasoningTokens: 0 } },
  parts: [{ type: 'step-start' }, { type: 'text', text: 'Found three sources.', state: 'done' }],
}
const outer = {
  id: 'msg_outer', role: 'assistant',
  metadata: { agent: agent('research', 'Researcher', 1), chatId: 'sub-outer', status: 'finished', usage: { inputTokens: 1000, outputTokens: 500, totalTokens: 1500, cachedInputTokens: 0, reasoningTokens: 0 } },
  parts: [
    { type: 'step-start' },
    { type: 'tool-sub-agent', toolCallId: 'c_inner', state: 'output-available', input: { name: 'search', task: 'find sources' }, output: inner },
    { type: 'step-start' },
    { type: 'text', text: 'The report is written.', state: 'done' },
  ],
}

const sse = (chunks: object[]) => chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + 'data: [DONE]\n\n'
const lane = (call: string, message: string, chunk: object) => ({ type: 'data-sub-agent-chunk', transient: true, data: { toolCallId: call, messageId: message, seq: 0, chunk } })

const opening = [
  { type: 'start', messageId: 'msg_main', messageMetadata: { agent: agent('general', 'General', 0), model: 'script/x' } },
  { type: 'start-step' },
  { type: 'tool-input-available', toolCallId: 'c_outer', toolName: 'sub-agent', input: { name: 'research', task: 'Look into lighthouses' } },
]
const working = [
  { type: 'data-sub-agent-start', transient: true, data: { toolCallId: 'c_outer', messageId: 'msg_outer' } },
  lane('c_outer', 'msg_outer', { type: 'start', messageId: 'msg_outer', messageMetadata: outer.metadata }),
  lane('c_outer', 'msg_outer', { type: 'start-step' }),
  lane('c_outer', 'msg_outer', { type: 'text-start', id: 's0' }),
  lane('c_outer', 'msg_outer', { type: 'text-delta', id: 's0', delta: 'Reading about **lamps**' }),
]
const settled = [
  { type: 'tool-output-available', toolCallId: 'c_outer', output: outer },
  { type: 'finish-step' },
  { type: 'start-step' },
  { type: 'text-start', id: 's1' },
  { type: 'text-delta', id: 's1', delta: 'Here is what they found.' },
  { type: 'text-end', id: 's1' },
  { type: 'finish-step' },
  { type: 'finish', finishReason: 'stop', messageMetadata: { status: 'finished' } },
]

/** A stream that stays open: the fetch of the page itself is replaced, so that chunks come one after the other. */
async function scripted(page: Page, first: object[], rest: object[]) {
  await page.addInitScript(
    ([before, after]) => {
      const real = window.fetch
      window.fetch = (input, init) => {
        if (input !== '/api/chat' || init?.method !== 'POST') return real(input, init)
        const body = new ReadableStream({
          start(controller) {
            const text = new TextEncoder()
            controller.enqueue(text.encode(before))
            Object.assign(window, {
              goOn: () => {
                controller.enqueue(text.encode(after))
                controller.close()
              },
            })
          },
        })
        return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
      }
    },
    [sse(first).replace('data: [DONE]\n\n', ''), sse(rest)] as const,
  )
}

describe('the agent tree', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.open()
  })
  afterEach(() => stage.expectNoComplaints())
  afterAll(() => stage.close())

  it('shows sub-agents live, nested and folded when done, and leads into their conversations', async () => {
    const page = await stage.page({}, /404/)
    await scripted(page, [...opening, ...working], settled)
    await page.goto(stage.url)
    await write(page, 'look into lighthouses')
    const card = page.getByRole('region', { name: 'Researcher' })
    await card.locator('strong', { hasText: 'lamps' }).waitFor()
    await page.getByRole('button', { name: 'Show details' }).click()
    await page.locator('.tree-node', { hasText: 'Researcher' }).getByText('working').waitFor()

    await page.evaluate(() => (window as unknown as { goOn: () => void }).goOn())
    await page.getByText('Here is what they found.').waitFor()
    await card.getByText('The report is written.').waitFor()
    expect(await page.locator('.agent-body').count()).toBe(0)
    await page.locator('.tree-node', { hasText: 'Search' }).getByText('15 tokens').waitFor()
    await card.getByRole('button', { name: /Researcher.*lighthouses/ }).click()
    await card.getByRole('button', { name: /Search.*find sources/ }).click()
    await card.getByText('Found three sources.').last().waitFor()

    await page.route('**/api/chat/sub-outer/messages**', (route) => route.fulfill({ json: [{ id: 'task', role: 'user', parts: [{ type: 'text', text: 'Look into lighthouses' }] }, outer] }))
    await page.route('**/api/chat/sub-outer/stream', (route) => route.fulfill({ status: 204 }))
    await card.getByRole('button', { name: 'Open its conversation' }).first().click()
    const sheet = page.getByRole('dialog', { name: 'Conversation of Researcher' })
    await sheet.getByText('The report is written.').waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'hidden' })
  })
})
