// The files of a workspace: a change is approved by its diff, seen, and reverted; files are looked at and attached; a rule
// is given and revoked.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { finished, Stage, until, write } from './stage'
import type { Asked, Step } from './upstream'

const GREETING = 'Good morning,\nhow are you?\n'

function script({ text, results }: Asked): Step[] {
  if (text.includes('greeting')) {
    if (results === 0) return [{ call: 'read-file', input: { actionName: 'Look at it', path: 'greeting.txt' } }]
    if (results === 1) return [{ call: 'edit-file', input: { actionName: 'Greet in the evening', path: 'greeting.txt', edits: [{ oldText: 'morning', newText: 'evening' }] } }]
    return [{ say: 'Changed.' }]
  }
  if (text.includes('make a note')) {
    return results > 0 ? [{ say: 'Noted.' }] : [{ call: 'write-file', input: { actionName: 'Write a note', path: `notes/${text.split(' ').at(-1)}.txt`, content: 'a note\n' } }]
  }
  return [{ say: `You said: ${text}` }]
}

describe('the files of a workspace', () => {
  let stage: Stage
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'concertino-e2e-files-'))
    stage = await Stage.open({ script, environment: { CONCERTINO_WORKDIR: folder } })
  })
  beforeEach(async () => {
    await mkdir(join(folder, 'src/inner'), { recursive: true })
    await writeFile(join(folder, 'greeting.txt'), GREETING)
    await writeFile(join(folder, 'src/inner/main.rs'), 'fn main() {}\n')
    await writeFile(join(folder, 'data.bin'), Buffer.from([0, 1, 2, 3]))
  })
  afterEach(() => stage.expectNoComplaints())
  afterAll(async () => {
    await stage.close()
    await rm(folder, { recursive: true, force: true })
  })
  const greeting = () => readFile(join(folder, 'greeting.txt'), 'utf8')

  it('a change is approved by its diff, listed, and reverted', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'change the greeting')
    const card = page.getByRole('group', { name: 'Greet in the evening' })
    await card.getByRole('table', { name: 'Changed lines of greeting.txt' }).waitFor()
    expect(await card.locator('mark').allTextContents()).toEqual(['morning', 'evening'])
    await card.getByRole('button', { name: 'Show changes side by side' }).click()
    await card.locator('.diff-split').waitFor()
    expect(await greeting()).toBe(GREETING)
    await card.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('Changed.', { exact: true }).waitFor()
    expect(await greeting()).toBe('Good evening,\nhow are you?\n')
    await page.getByRole('button', { name: /Read greeting\.txt, lines 1–2/ }).waitFor()
    await page.getByRole('button', { name: /Edited greeting\.txt/ }).waitFor()

    await page.getByRole('button', { name: '1 file changed' }).click()
    await page.getByRole('button', { name: /greeting\.txt/, expanded: false }).last().click()
    await page.locator('.panel').getByRole('table', { name: 'Changed lines of greeting.txt' }).waitFor()
    await page.getByRole('button', { name: 'Revert all' }).click()
    await page.getByRole('dialog').getByText('gets its earlier content').waitFor()
    await page.getByRole('button', { name: 'Revert 1 file' }).click()
    await until(async () => (await greeting()) === GREETING)
    await page.getByRole('button', { name: /History: 2 changes/ }).waitFor()
  })

  it('a file that was changed since is not overwritten, and the reason is shown', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'change the greeting again')
    await page.getByRole('button', { name: 'Approve', exact: true }).click()
    await page.getByText('Changed.', { exact: true }).waitFor()
    await writeFile(join(folder, 'greeting.txt'), 'mine\n')
    await page.getByRole('button', { name: '1 file changed' }).click()
    await page.reload()
    await page.getByText(/^Cannot be reverted:/).waitFor()
    expect(await greeting()).toBe('mine\n')
  })

  it('the tree leads to a file, which is shown and attached', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await page.getByRole('button', { name: 'Show details' }).click()
    await page.getByRole('tab', { name: 'Files' }).click()
    await page.getByRole('treeitem', { name: 'src' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('treeitem', { name: 'inner' }).click()
    await page.getByRole('treeitem', { name: /main\.rs/ }).click()
    await page.getByRole('table', { name: 'src/inner/main.rs' }).getByText('fn').waitFor()
    await page.getByRole('button', { name: 'Attach main.rs to the message' }).click()
    await page.locator('.attachments').getByText('main.rs').waitFor()
    await write(page, 'what is this?')
    await finished(page)
    await page.locator('.message-user').getByText('main.rs').waitFor()
    await page.getByRole('button', { name: 'Back to the files' }).click()
    await page.getByRole('treeitem', { name: /data\.bin/ }).click()
    await page.getByText('This file is not text and cannot be shown.').waitFor()
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download', exact: true }).click()])
    expect(download.suggestedFilename()).toBe('data.bin')
  })

  it('an "always" for the workspace is a rule that holds in every chat until it is revoked', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'make a note one')
    await page.getByRole('button', { name: 'Always in this workspace' }).click()
    await page.getByText('Noted.').waitFor()
    await page.goto(stage.url)
    await write(page, 'make a note two')
    await page.getByText('Noted.').waitFor()
    await page.goto(`${stage.url}/settings`)
    const rule = page.locator('.rule-layer', { hasText: 'This workspace' }).getByRole('listitem').filter({ hasText: 'write-file' })
    await rule.getByRole('button', { name: /^Revoke the rule/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByText('There are no rules for this workspace.').waitFor()
    await page.goto(stage.url)
    await write(page, 'make a note three')
    await page.getByRole('group', { name: 'Write a note' }).waitFor()
  })
})
