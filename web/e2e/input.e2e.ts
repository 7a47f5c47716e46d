// An agent asks the person for input: answered with the keyboard, after a reload, in the inbox and in the dark.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { finished, Stage, write } from './stage'
import type { Asked, Step } from './upstream'

const SECRET = 'hunter2-not-to-be-shown'

function script({ text, results, result }: Asked): Step[] {
  if (results > 0) return [{ say: `I read: ${result}` }]
  const questions = [
    { key: 'user', label: 'User', pattern: '[a-z]+', patternMessage: 'Small letters only.' },
    { key: 'password', label: 'Password', type: 'secret' },
  ]
  const input = text.includes('sign in') ? { title: 'Your account', questions } : { question: 'Which colour?', options: ['red', 'blue'] }
  return [{ call: 'request-user-input', input }]
}

describe('a request for input', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.open({ script })
  })
  afterEach(() => stage.expectNoComplaints())
  afterAll(() => stage.close())

  it('is answered with the keyboard alone, and shown in short afterwards', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'paint it')
    await page.getByRole('radio', { name: 'red' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByText('I read: {"answer":"blue"}').waitFor()
    await finished(page)
    await page.getByText('You answered').waitFor()
    await page.reload()
    await page.getByText('You answered').waitFor()
    expect(await page.getByRole('radio').count()).toBe(0)
  })

  it('a form survives a reload, says what does not fit, and keeps a secret', async () => {
    const page = await stage.page({ colorScheme: 'dark' })
    await page.goto(stage.url)
    await write(page, 'sign in')
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    await page.reload()
    await page.getByLabel('User').fill('EVE')
    await page.getByLabel('Password').fill(SECRET)
    await page.getByRole('button', { name: 'Send answer' }).click()
    await page.getByText('Small letters only.').waitFor()
    await page.getByLabel('User').fill('eve')
    await page.getByRole('button', { name: 'Send answer' }).click()
    await page.getByText('I read:').waitFor()
    await finished(page)
    await page.getByText('••••••').waitFor()
    expect(await page.content()).not.toContain(SECRET)
  })

  it('is skipped in the inbox', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'paint it again')
    await page.getByRole('radio', { name: 'red' }).waitFor()
    await page.goto(`${stage.url}/settings`)
    await page.locator('.sidebar-foot').getByRole('button').first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Skip' }).click()
    await dialog.getByRole('heading', { name: 'Which colour?' }).waitFor({ state: 'detached' })
  })
})
