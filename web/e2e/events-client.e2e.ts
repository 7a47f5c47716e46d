// The example client of the session events, opened as a page of another origin: the list of agents, a switch, streamed text,
// an approval, a question and an abort.

import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gate, Stage, TOKEN } from './stage'
import type { Asked, Step } from './upstream'

const PAGE = '../examples/events-client/index.html'

let held = gate()

function script({ text, results }: Asked): Step[] {
  if (text === 'which colour') {
    return results > 0 ? [{ say: 'Thank you.' }] : [{ call: 'request-user-input', input: { question: 'Which colour?', options: ['red', 'blue'], multiSelect: false } }]
  }
  return [{ say: 'One moment. ' }, { wait: held.opened }, { say: 'Done.' }]
}

/** The page from an origin of its own. */
async function serve(): Promise<{ server: Server; origin: string }> {
  const server = createServer((request, response) => {
    if (request.url !== '/') return void response.writeHead(204).end()
    void readFile(PAGE).then((page) => response.writeHead(200, { 'content-type': 'text/html' }).end(page))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Not watched for requests that leave: it is a page of another origin. */
async function connect(stage: Stage, origin: string): Promise<{ page: Page; errors: string[] }> {
  const page = await (await stage.browser.newContext({ locale: 'en-GB' })).newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
  page.setDefaultTimeout(20_000)
  await page.goto(origin)
  await page.getByLabel('Server').fill(stage.url)
  await page.getByLabel('Token').fill(TOKEN)
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByLabel('Message').and(page.locator(':enabled')).waitFor()
  return { page, errors }
}

async function write(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}

const state = (page: Page, text: string) => page.locator('#state', { hasText: text }).waitFor()

describe('the example client', () => {
  let server: Server
  let origin: string
  beforeAll(async () => {
    ;({ server, origin } = await serve())
  })
  afterAll(() => {
    server.close()
  })

  it('lists the agents, switches to one, shows streamed text and approves a call of the demo model', async () => {
    const stage = await Stage.open({ auth: true, environment: { CONCERTINO_ALLOWED_ORIGINS: origin } })
    try {
      const { page, errors } = await connect(stage, origin)
      const agents = page.getByLabel('Main agent')
      expect(await agents.locator('option').allTextContents()).toEqual(['General', 'Requirement Analyzer', 'Debugger'])
      expect(await agents.inputValue()).toBe('general')
      await agents.selectOption('debugger')
      await page.getByText('Debugger answers from now on.').waitFor()

      // How long the text is, whenever it changes.
      await page.evaluate(() => {
        const lengths: number[] = []
        Object.assign(window, { lengths })
        new MutationObserver(() => lengths.push(document.querySelector('.agent')?.textContent?.length ?? 0)).observe(document.body, { subtree: true, childList: true, characterData: true })
      })
      await write(page, 'Hello')
      await state(page, 'finished')
      await page.getByText(/^Hello! I am Concertino's demo model: .* to begin\.$/).waitFor()
      const lengths = await page.evaluate(() => (window as unknown as { lengths: number[] }).lengths)
      expect(new Set(lengths.filter((length) => length > 0)).size).toBeGreaterThan(1)

      await write(page, 'Ask me before you delete the old logs')
      await page.getByRole('button', { name: 'Approve' }).click()
      await page.getByText('test-approval: success').waitFor()
      await state(page, 'finished')
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0)

      const headers = { authorization: `Bearer ${TOKEN}` }
      const { sessions } = (await (await fetch(`${stage.url}/api/sessions`, { headers })).json()) as { sessions: { agentId: string }[] }
      expect(sessions.map((session) => session.agentId)).toEqual(['debugger'])
      expect(errors).toEqual([])
    } finally {
      await stage.close()
    }
  })

  it('answers a question, cannot switch while the agent works, and aborts', async () => {
    const stage = await Stage.open({ script, auth: true, environment: { CONCERTINO_ALLOWED_ORIGINS: origin } })
    held = gate()
    try {
      const { page, errors } = await connect(stage, origin)
      await write(page, 'which colour')
      await page.getByRole('button', { name: 'blue' }).click()
      await page.getByText('Thank you.').waitFor()
      expect(stage.upstream?.calls.at(-1)?.result).toContain('blue')
      await state(page, 'finished')

      page.once('dialog', (dialog) => void dialog.accept('lilac'))
      await write(page, 'which colour')
      await page.getByRole('button', { name: 'Other…' }).click()
      await page.getByText('Thank you.').nth(1).waitFor()
      expect(stage.upstream?.calls.at(-1)?.result).toContain('lilac')
      await state(page, 'finished')

      await write(page, 'take your time')
      await page.getByText('One moment.').waitFor()
      await page.getByLabel('Main agent').selectOption('debugger')
      await page.getByText(/^agent_busy: /).waitFor()
      expect(await page.getByLabel('Main agent').inputValue()).toBe('general')
      await page.getByRole('button', { name: 'Abort' }).click()
      await state(page, 'cancelled')
      await page.getByLabel('Main agent').selectOption('debugger')
      await page.getByText('Debugger answers from now on.').waitFor()
      expect(errors).toEqual([])
    } finally {
      held.open()
      await stage.close()
    }
  })

  it('goes on with the last event after the server was restarted', async () => {
    const stage = await Stage.open({ auth: true, environment: { CONCERTINO_ALLOWED_ORIGINS: origin } })
    try {
      const { page } = await connect(stage, origin)
      await page.getByLabel('Main agent').selectOption('debugger')
      await page.getByText('Debugger answers from now on.').waitFor()
      await stage.killServer()
      await state(page, 'reconnecting')
      await stage.startServer()
      await state(page, 'connected')
      expect(await page.getByLabel('Main agent').inputValue()).toBe('debugger')
      await write(page, 'Hello')
      await state(page, 'finished')
    } finally {
      await stage.close()
    }
  })
})
