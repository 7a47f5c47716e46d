// What may happen to a page: reload, a lost network, a server that dies, a second tab, a refusal, nonsense.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { answers, finished, gate, Stage, until, write } from './stage'

let held = gate()

describe('whatever happens', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.open({
      script: ({ text }) =>
        text.includes('long') ? [{ say: 'Part one. ' }, { wait: held.opened }, { say: 'Part two.' }] : [{ say: `Echo: ${text}` }],
    })
  })
  afterEach(() => stage.expectNoComplaints())
  afterAll(() => stage.close())

  it('a reload in the middle of an answer goes on with the same message', async () => {
    held = gate()
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'a long one')
    await page.getByText('Part one.').waitFor()
    await page.reload()
    await page.getByText('Part one.').waitFor()
    held.open()
    await page.getByText('Part one. Part two.').waitFor()
    await finished(page)
    expect(await answers(page).count()).toBe(1)
  })

  it('a lost network is said, and what was missed comes without duplicates', async () => {
    held = gate()
    const page = await stage.page({}, /ERR_INTERNET_DISCONNECTED|ERR_NETWORK/)
    await page.goto(stage.url)
    await write(page, 'a long one over a bad line')
    await page.getByText('Part one.').waitFor()
    await page.context().setOffline(true)
    await page.getByText('You are offline.').waitFor()
    // The browser does not cut a stream that is open; a cut line does.
    held.open()
    await page.context().setOffline(false)
    await page.getByText('Part one. Part two.').waitFor()
    expect(await answers(page).count()).toBe(1)
    await until(async () => (await page.getByText('You are offline.').count()) === 0 || page.getByText('You are offline.').isHidden())
  })

  it('a server that is killed and started again in the middle of an answer finishes it', async () => {
    held = gate()
    const page = await stage.page({}, /ERR_|Failed to load resource/)
    await page.goto(stage.url)
    await write(page, 'a long one through a crash')
    await page.getByText('Part one.').waitFor()
    await stage.killServer()
    await page.getByText(/Reconnecting|does not answer/).waitFor()
    held.open()
    await stage.startServer()
    await page.getByText('Part two.').waitFor()
    await finished(page)
    expect(await answers(page).count()).toBe(1)
    const id = decodeURIComponent(page.url().split('/c/')[1] ?? '')
    const stored = (await (await fetch(`${stage.url}/api/chat/${id}/messages`)).json()) as { parts: { text?: string }[] }[]
    const shown = await answers(page).locator('.md').allInnerTexts()
    expect(shown.join(' ').replace(/\s+/g, ' ')).toBe(stored[1]?.parts.map((part) => part.text ?? '').filter(Boolean).join(' ').replace(/\s+/g, ' ').trim())
  })

  it('two tabs show the same chat, whoever writes', async () => {
    held = gate()
    const one = await stage.page()
    await one.goto(stage.url)
    await write(one, 'hello from one')
    await finished(one)
    const two = await one.context().newPage()
    await two.goto(one.url())
    await two.getByText('Echo: hello from one').waitFor()
    await write(two, 'a long one from two')
    await one.getByText('a long one from two').first().waitFor()
    await one.getByText('Part one.').waitFor()
    held.open()
    for (const page of [one, two]) {
      await page.getByText('Part one. Part two.').waitFor()
      await finished(page)
      expect(await answers(page).count()).toBe(2)
    }
  })

  it('a refused request, an unreadable stream and a failed answer have different words, and the page lives on', async () => {
    const page = await stage.page({}, /400|Failed to load resource|bad json/)
    await page.goto(stage.url)
    await page.route('**/api/chat', (route) => route.fulfill({ status: 400, body: 'The message is empty: write something.', headers: { 'x-error-code': 'empty_message' } }))
    await write(page, 'refused')
    await page.getByRole('alert').getByText('That did not work.').waitFor()
    await page.getByRole('alert').getByText('write something').waitFor()
    await page.unroute('**/api/chat')
    await page.route('**/api/chat', (route) => route.fulfill({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: 'data: {"type":"start","messageId":"m9"}\n\ndata: {bad json\n\n' }))
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').getByText('The server sent something this page cannot read.').waitFor()
    await page.unroute('**/api/chat')
    await page.route('**/api/chat', (route) => route.fulfill({ status: 200, headers: { 'content-type': 'text/event-stream' }, body: 'data: {"type":"start","messageId":"m10"}\n\ndata: {"type":"error","errorText":"The model is out of breath."}\n\n' }))
    await write(page, 'once more')
    await page.getByRole('alert').getByText('The stream was interrupted.').waitFor()
    await page.unroute('**/api/chat')
    await write(page, 'and now for real')
    await page.getByText('Echo: and now for real').waitFor()
  })

  it('an address that leads nowhere and a chat that is unknown are said plainly', async () => {
    const page = await stage.page({}, /404/)
    await page.goto(`${stage.url}/nowhere/at/all`)
    await page.getByText('There is nothing at this address.').waitFor()
    await page.goto(`${stage.url}/c/never-begun`)
    await page.getByRole('heading', { name: 'What shall we work on?' }).waitFor()
  })
})
