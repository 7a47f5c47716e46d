// The first visit, with the model that needs nothing.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { answers, finished, Stage, TOKEN, write } from './stage'

describe('with the demo model', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.open({ auth: true })
  })
  afterEach(() => stage.expectNoComplaints())
  afterAll(() => stage.close())

  it('a stranger is told how to sign in, and the link signs in', async () => {
    const page = await stage.page({}, /401/)
    await page.goto(`${stage.url}/c/somewhere`)
    await expect(page.textContent('h1')).resolves.toContain('Sign in')
    await page.goto(`${stage.url}/?token=${TOKEN}`)
    await page.getByRole('heading', { name: 'What shall we work on?' }).waitFor()
    expect(page.url()).toBe(`${stage.url}/`)
    await page.getByText('This is the built-in demo model').first().waitFor()
    await page.getByRole('button', { name: 'Connect a real model' }).click()
    await page.getByRole('dialog').getByText('OPENAI_BASE_URL').waitFor()
    await page.keyboard.press('Escape')
  })

  it('the settings list this browser; one that is revoked elsewhere is shown how to sign in', async () => {
    const page = await stage.page({}, /401/)
    await page.goto(`${stage.url}/?token=${TOKEN}`)
    await page.getByRole('heading', { name: 'What shall we work on?' }).waitFor()
    await page.goto(`${stage.url}/settings`)
    const browsers = page.getByRole('region', { name: 'Signed-in browsers' })
    await browsers.getByText('this browser').waitFor()
    expect((await stage.browser.contexts().at(-1)?.cookies())?.map((cookie) => [cookie.httpOnly, cookie.value.includes(TOKEN)])).toEqual([[true, false]])
    const headers = { authorization: `Bearer ${TOKEN}` }
    const list = (await (await fetch(`${stage.url}/api/sign-ins`, { headers })).json()) as { signIns: { id: number }[] }
    for (const { id } of list.signIns) await fetch(`${stage.url}/api/sign-ins/${id}`, { method: 'DELETE', headers })
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('signing out asks first, and leads to the page that says how to sign in', async () => {
    const page = await stage.page({}, /401/)
    await page.goto(`${stage.url}/settings?token=${TOKEN}`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('a link on another site leads into the page', async () => {
    // Not watched: it leaves the server on purpose. Another host name is another site.
    const page = await (await stage.browser.newContext({ locale: 'en-GB' })).newPage()
    await page.goto(`${stage.url}/?token=${TOKEN}`)
    await page.getByRole('heading', { name: 'What shall we work on?' }).waitFor()
    const elsewhere = stage.url.replace('127.0.0.1', 'localhost')
    await page.goto(`${elsewhere}/sign-in.css`)
    await page.evaluate((address) => location.assign(address), `${stage.url}/settings`)
    await page.getByRole('heading', { name: 'Settings' }).waitFor()
  })

  it('an example starts a chat that gets an address, a title and a place in the list', async () => {
    const page = await stage.page()
    await page.goto(`${stage.url}/?token=${TOKEN}`)
    await page.getByRole('button', { name: /What can you do/ }).click()
    await page.getByText('built-in demo model. I am not a language model').waitFor()
    await finished(page)
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('')
    expect(page.url()).toMatch(/\/c\/[\w-]+$/)
    await page.getByRole('link', { name: 'What can you do?' }).waitFor()
    await page.reload()
    await page.getByText('built-in demo model. I am not a language model').waitFor()
    expect(await answers(page).count()).toBe(1)
  })

  it('a plan is a checklist, in the message and beside it', async () => {
    const page = await stage.page()
    await page.goto(`${stage.url}/?token=${TOKEN}`)
    await write(page, 'Plan my trip to Kyoto')
    await finished(page)
    expect(await page.locator('.message-agent .checklist li').count()).toBeGreaterThan(3)
    await page.getByRole('button', { name: 'Show details' }).click()
    await page.locator('.panel .checklist li').first().waitFor()
    await page.locator('.panel').getByText('Input tokens').waitFor()
  })

  it('/compact leaves a card with the summary, /summary-title names the chat', async () => {
    const page = await stage.page()
    await page.goto(`${stage.url}/?token=${TOKEN}`)
    for (const text of ['Hello, I am planning a trip to Kyoto', 'What time is it in Tokyo?', 'Plan my trip to Kyoto']) {
      await write(page, text)
      await finished(page)
    }
    await page.getByRole('textbox', { name: 'Message' }).fill('/comp')
    await page.getByRole('option', { name: /\/compact/ }).waitFor()
    await page.keyboard.press('Enter')
    const card = page.getByRole('region', { name: 'The earlier conversation is summarised' })
    await card.waitFor()
    await finished(page)
    await card.getByRole('button').click()
    await card.getByText(/Kyoto/).first().waitFor()
    await page.reload()
    await card.waitFor()
    const named = page.waitForResponse((response) => response.url().endsWith('/title'))
    await page.getByRole('textbox', { name: 'Message' }).fill('/summary-title')
    await page.keyboard.press('Enter')
    const answer = await named
    expect(answer.status()).toBe(200)
    const { title } = (await answer.json()) as { title: string }
    await page.locator('.session-active', { hasText: title }).waitFor()
    expect(await page.locator('.message-user', { hasText: '/summary-title' }).count()).toBe(0)
  })

  it('speaks Chinese when the browser does, and when told to', async () => {
    const page = await stage.page({ locale: 'zh-CN' })
    await page.goto(`${stage.url}/?token=${TOKEN}`)
    await page.getByRole('heading', { name: '今天想做些什么？' }).waitFor()
    await write(page, '删除旧日志之前先问我')
    await page.getByRole('button', { name: '批准' }).click()
    await finished(page)
    await page.getByRole('link', { name: '设置' }).click()
    await page.getByText('English').click()
    await page.getByRole('heading', { name: 'Appearance' }).waitFor()
    await page.getByText('Dark', { exact: true }).click()
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark')
    await page.reload()
    expect(await page.evaluate(() => [document.documentElement.dataset.theme, document.documentElement.lang])).toEqual(['dark', 'en'])
  })
})
