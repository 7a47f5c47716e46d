// Chat with tools, approvals, branches, attachments, the list of chats, the keyboard.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { answers, finished, gate, Stage, until, write } from './stage'
import type { Asked, Step } from './upstream'

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPj/HwADBwIAMCbHYQAAAABJRU5ErkJggg=='

let held = gate()

function script({ text, results }: Asked): Step[] {
  if (text.includes('two tools')) {
    if (results > 0) return [{ say: 'Both clocks agree.' }]
    return [
      { think: 'I need both.' },
      { say: 'Let me look.' },
      { call: 'time-now', input: { actionName: 'Look at the clock in Tokyo', timezone: 'Asia/Tokyo' } },
      { call: 'time-now', input: { actionName: 'Look at a wrong clock', timezone: 'Nowhere/None' } },
    ]
  }
  if (text.includes('ask me')) {
    return results > 0 ? [{ say: 'Settled.' }] : [{ call: 'test-approval', input: { actionName: 'Delete the old logs', note: 'logs/*.old' } }]
  }
  if (text.includes('strictly')) return results > 0 ? [{ say: 'Settled.' }] : [{ call: 'conf_approve', input: { text: 'a text' } }]
  if (text.includes('slowly')) return [{ say: 'It begins. ' }, { wait: held.opened }, { say: 'It ends.' }]
  if (text.includes('markdown')) {
    return [{ say: '# Heading\n\nSome **bold** text with `code` and $e^{i\\pi}+1=0$.\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```rust\nfn main() { println!("hi"); }\n```\n\n- [x] done\n- [ ] open\n', pieces: 40 }]
  }
  return [{ say: `You said: ${text}` }]
}

describe('a chat', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.open({ script })
  })
  afterEach(() => stage.expectNoComplaints())
  afterAll(() => stage.close())

  it('shows tools as folded cards in their order, with input, result and error inside', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'use two tools')
    await finished(page)
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('')
    const parts = page.locator('.message-agent .parts > *')
    await expect(parts.allTextContents()).resolves.toSatisfy((texts: string[]) => {
      const order = ['Thought', 'Let me look.', 'Look at the clock in Tokyo', 'Look at a wrong clock', 'Both clocks agree.']
      const places = order.map((text) => texts.findIndex((one) => one.includes(text)))
      return places.every((place, at) => place !== -1 && (at === 0 || place > (places[at - 1] ?? -1)))
    })
    expect(await page.locator('.card-body').count()).toBe(0)
    await page.getByRole('button', { name: /Look at the clock in Tokyo/ }).click()
    await page.locator('.card-body').getByText('Asia/Tokyo').first().waitFor()
    await page.getByRole('button', { name: /Look at a wrong clock/ }).click()
    await page.locator('.card-error').waitFor()
  })

  it('draws Markdown, code, maths and tables', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'markdown please')
    await finished(page)
    await page.locator('.md h3', { hasText: 'Heading' }).waitFor()
    await page.locator('.code .hljs-keyword', { hasText: 'fn' }).waitFor()
    await page.locator('.formula .katex').waitFor()
    await page.locator('.md-table td', { hasText: '2' }).waitFor()
    expect(await page.locator('.md-task input:checked').count()).toBe(1)
  })

  it('an approval waits in the inbox, and an approved call goes on in the same message', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'ask me first')
    const card = page.getByRole('group', { name: 'Delete the old logs' })
    await card.getByText('logs/*.old').waitFor()
    await page.getByLabel('1 approval is waiting for you').waitFor()
    await page.reload()
    await card.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('Settled.').waitFor()
    expect(await answers(page).count()).toBe(1)
    await until(async () => (await page.getByLabel('1 approval is waiting for you').count()) === 0)
  })

  it('a denial takes a reason and the keyboard is enough', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'ask me again')
    const card = page.getByRole('group', { name: 'Delete the old logs' })
    await card.waitFor()
    await card.focus()
    await page.keyboard.press('d')
    await page.getByPlaceholder(/Reason \(optional\)/).fill('they are needed')
    await page.keyboard.press('Enter')
    await page.getByText('Settled.').waitFor()
    await page.getByRole('button', { name: /Delete the old logs/ }).click()
    await page.getByText('You denied this: they are needed').waitFor()
  })

  it('says why it asks; an edited call runs edited; always is asked once and holds for the chat', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'ask me with an edit')
    const card = page.getByRole('group', { name: 'Delete the old logs' })
    await card.getByText('only shows how approvals look').waitFor()
    await card.focus()
    await page.keyboard.press('e')
    await page.getByRole('textbox', { name: 'note' }).fill('logs/2024.old')
    await page.keyboard.press('Control+Enter')
    await page.getByText('Settled.').waitFor()
    const call = page.getByRole('button', { name: /Delete the old logs.*edited/ })
    await call.click()
    await page.getByText('Input after your changes').waitFor()
    await page.locator('.card-body').getByText('logs/2024.old').first().waitFor()
    await page.reload()
    await call.waitFor()
    await write(page, 'ask me for good')
    await card.getByText('runs calls of test-approval without asking').waitFor()
    await card.focus()
    await page.keyboard.press('s')
    await until(async () => (await page.getByText('Settled.').count()) === 2)
    await write(page, 'ask me a third time')
    await until(async () => (await page.getByText('Settled.').count()) === 3)
    expect(await card.count()).toBe(0)
  })

  it('an edit that the tool refuses is told at the card, and nothing runs', async () => {
    const page = await stage.page({}, /400 .*api.approvals/)
    await page.goto(stage.url)
    await write(page, 'strictly')
    const card = page.getByRole('group', { name: /conf.approve/i })
    await card.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.route('**/api/approvals/*', (route) => route.continue({ postData: JSON.stringify({ approved: true, input: {} }) }), { times: 1 })
    await card.getByRole('button', { name: 'Approve with changes' }).click()
    await card.locator('label', { hasText: /^text/ }).getByRole('alert').getByText(/does not fit/).waitFor()
    await card.getByRole('button', { name: 'Cancel' }).click()
    await card.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('Settled.').waitFor()
  })

  it('the inbox answers an approval of another chat', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'ask me in the background')
    await page.getByRole('group', { name: 'Delete the old logs' }).waitFor()
    await page.keyboard.press('Control+j')
    await page.getByRole('heading', { name: 'What shall we work on?' }).waitFor()
    await page.getByLabel('1 approval is waiting for you').waitFor()
    await page.keyboard.press('Control+y')
    await page.getByRole('dialog').getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByRole('dialog').getByText('Nothing is waiting for you.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: /ask me in the background/ }).click()
    await page.getByText('Settled.').waitFor()
  })

  it('retry and edit make branches that can be switched', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'first version')
    await finished(page)
    await answers(page).getByRole('button', { name: 'Try again' }).click()
    await page.getByLabel('Version 2 of 2').waitFor()
    await page.locator('.message-user').hover()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('textbox', { name: 'Edit your message' }).fill('second version')
    await page.getByRole('button', { name: 'Send as a new branch' }).click()
    await page.getByText('You said: second version').waitFor()
    await page.locator('.message-user').getByRole('button', { name: 'Previous version' }).click()
    await page.getByText('You said: first version').waitFor()
    await page.reload()
    await page.getByText('You said: first version').waitFor()
    await page.locator('.message-user').getByRole('button', { name: 'Next version' }).click()
    await page.getByText('You said: second version').waitFor()
  })

  it('stops, goes on, queues and interrupts', async () => {
    held = gate()
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'speak slowly')
    await page.getByText('It begins.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('Stopped.').waitFor()
    await write(page, 'slowly, the second time')
    await until(async () => (await page.getByText('It begins.').count()) === 2)
    await write(page, 'and then this')
    await page.getByText('Will be sent when the agent is done').waitFor()
    held.open()
    await page.getByText('You said: and then this').waitFor()
    await finished(page)
    held = gate()
    await write(page, 'slowly, the third time')
    await until(async () => (await page.getByText('It begins.').count()) === 3)
    await page.getByRole('textbox', { name: 'Message' }).fill('now this')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Stop it and send now' }).click()
    await page.getByText('You said: now this').waitFor()
    await finished(page)
  })

  it('takes files by choice and by paste, shows them, and keeps them', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await page.locator('input[type=file]').setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('some notes') },
    ])
    await page.locator('.attachments img').waitFor()
    await page.getByRole('button', { name: 'Remove notes.txt' }).click()
    await page.getByRole('textbox', { name: 'Message' }).evaluate((area) => {
      const data = new DataTransfer()
      data.items.add(new File(['pasted text'], 'pasted.txt', { type: 'text/plain' }))
      area.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
    })
    await page.locator('.attachments').getByText('pasted.txt').waitFor()
    await write(page, 'look at these')
    await finished(page)
    await page.reload()
    await page.locator('.message-user .file-image').waitFor()
    await page.locator('.message-user .file', { hasText: 'pasted.txt' }).waitFor()
  })

  it('gives a message back when its file cannot be sent, with everything in it', async () => {
    const page = await stage.page({}, /status of 422/)
    await page.goto(stage.url)
    await page.locator('input[type=file]').setInputFiles([{ name: 'sound.mp3', mimeType: 'audio/mpeg', buffer: Buffer.from('ID3\u0003\0\0\0\0\0\u0000TSSE', 'latin1') }])
    await write(page, 'listen to this')
    await page.getByRole('alert').getByText('sound.mp3').waitFor()
    const box = page.getByRole('textbox', { name: 'Message' })
    await expect.poll(() => box.inputValue()).toBe('listen to this')
    await page.locator('.attachments').getByText('sound.mp3').waitFor()
    await page.getByRole('button', { name: 'Remove sound.mp3' }).click()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByText('You said: listen to this').waitFor()
  })

  it('chats are found, pinned, renamed, exported and deleted with a way back', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'zanzibar and more')
    await finished(page)
    const row = page.locator('.session', { hasText: 'zanzibar' })
    const choose = async (name: string) => {
      await row.hover()
      await row.getByRole('button').click()
      await page.getByRole('menuitem', { name }).click()
    }
    await choose('Pin')
    await page.getByRole('heading', { name: 'Pinned' }).waitFor()
    await choose('Rename')
    await page.getByRole('textbox', { name: 'Title of the chat' }).fill('zanzibar renamed')
    await page.keyboard.press('Enter')
    await page.locator('.session', { hasText: 'zanzibar renamed' }).waitFor()
    const saved = page.waitForEvent('download')
    await choose('Export as Markdown')
    expect((await saved).suggestedFilename()).toBe('zanzibar-renamed.md')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('ZANZIBAR')
    await until(async () => (await page.locator('.session').count()) === 1)
    await page.keyboard.press('Escape')
    await choose('Delete')
    await page.getByRole('button', { name: 'Undo' }).click()
    await row.waitFor()
    await choose('Delete')
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await until(async () => (await row.count()) === 0)
    await until(async () => !JSON.stringify(await (await fetch(`${stage.url}/api/sessions`)).json()).includes('zanzibar'))
  })

  it('commands are offered and done from the keyboard', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await page.getByRole('textbox', { name: 'Message' }).fill('/')
    await page.getByRole('option', { name: /\/help/ }).waitFor()
    await page.keyboard.type('he')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('textbox', { name: 'Message' }).fill('/theme')
    await page.keyboard.press('Enter')
    await until(async () => (await page.evaluate(() => document.documentElement.dataset.theme)) === 'dark')
  })
})
