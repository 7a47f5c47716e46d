// Commands in the real sandbox of this machine: a job on a repository from the bug to the revert, output as it comes, a
// terminal to type into, jobs to stop, and commands that are refused or say too much.

import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { BUG, FIX, git, makeRepository, MEDIAN, PATCH } from './repository'
import { finished, Stage, until, write } from './stage'
import type { Asked, Step } from './upstream'

const command = (line: string, actionName: string): Step => ({ call: 'shell-command', input: { actionName, command: line } })
const session = (cmd: string, actionName: string): Step => ({ call: 'exec-command', input: { actionName, cmd, yieldTimeMs: 300 } })

/** One step per result that has come back. */
const JOB: Step[][] = [
  [{ say: 'I look at the history first.' }, command('git log --oneline', 'Read the history')],
  [command('grep -n "sort" src/median.js', 'Find the sorting')],
  [{ call: 'read-file', input: { actionName: 'Read the function', path: 'src/median.js' } }],
  [command('npm test', 'Run the tests')],
  [{ say: 'Numbers are compared as text.' }, { call: 'apply-patch', input: { actionName: 'Compare as numbers', patch: PATCH } }],
  [command('npm test', 'Run the tests again')],
  [command('git push', 'Publish the fix')],
  [{ say: 'Fixed, and not published.' }],
]

const WAITING = "echo begun; until [ -e go ]; do sleep .1; done; echo ended"
const ASKING = "sh -c 'read x; echo got $x'"
/** Nobody else sleeps this long. */
const SLEEPING = `sleep 86${process.pid}`

function script({ text, results }: Asked): Step[] {
  if (text.includes('find the bug')) return JOB[results] ?? []
  const calls: [string, Step][] = [
    ['tests once more', command('npm test', 'Run the tests once more')],
    ['wait for me', command(WAITING, 'Wait for a file')],
    ['ask me', session(ASKING, 'Ask for a word')],
    ['sleep', session(SLEEPING, 'Sleep')],
    ['administrator', command('sudo ls', 'List as administrator')],
    ['count', command('seq 1 200000', 'Count')],
  ]
  const call = calls.find(([word]) => text.includes(word))?.[1]
  return call && results === 0 ? [call] : [{ say: `Done: ${text}` }]
}

/** The card of a command that has begun. A line that ran several times has several. */
const cards = (page: Page, line: string) => page.getByRole('group', { name: `Command: ${line}`, exact: true })
const question = (page: Page, title: string) => page.getByRole('group', { name: title, exact: true })

describe('commands', () => {
  let stage: Stage
  let folder: string
  beforeAll(async () => {
    folder = await makeRepository()
    stage = await Stage.open({ script, environment: { CONCERTINO_WORKDIR: folder } })
  })
  afterEach(() => stage.expectNoComplaints())
  afterAll(async () => {
    await stage.close()
    await rm(folder, { recursive: true, force: true })
  })
  const source = () => readFile(join(folder, 'src/median.js'), 'utf8')
  const open = async (text: string) => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, text)
    return page
  }

  it('a job on a repository: the bug is found, tested, patched, tested again, not published, and reverted', async () => {
    const page = await open('Please find the bug')
    // What only reads runs unasked.
    await cards(page, 'git log --oneline').getByText('Test the median with larger numbers').waitFor()
    await cards(page, 'git log --oneline').locator('.ending-ok', { hasText: 'exit code 0' }).waitFor()
    await cards(page, 'grep -n "sort" src/median.js').getByText(`3:${BUG}`).waitFor()
    await page.getByRole('button', { name: /Read src\/median\.js, lines 1–7/ }).waitFor()

    const firstRun = question(page, 'Run the tests')
    expect(await firstRun.locator('pre.command').textContent()).toBe('$ npm test')
    await firstRun.getByText(/commands that begin with “npm test”/).waitFor()
    expect(await cards(page, 'npm test').count()).toBe(0)
    await firstRun.getByRole('button', { name: 'Approve', exact: true }).click()
    const red = cards(page, 'npm test').first()
    await red.locator('.ending-danger', { hasText: 'exit code 1' }).waitFor()
    await red.getByText('2 of 4 failed').waitFor()
    expect(await red.locator('.ansi-1').first().textContent()).toBe('FAIL')
    await red.getByRole('button', { name: 'Sandbox', exact: true }).click()
    await red.locator('.sandbox-line', { hasText: /landlock/i }).waitFor()

    const change = question(page, 'Compare as numbers')
    await change.getByRole('table', { name: 'Changed lines of src/median.js' }).waitFor()
    expect((await change.locator('mark').allTextContents()).join('')).toBe('(a, b) => a - b')
    expect(await source()).toBe(MEDIAN)
    await change.getByRole('button', { name: 'Approve', exact: true }).click()

    // The same line asks again: the first answer was for that call alone.
    await question(page, 'Run the tests again').getByRole('button', { name: 'Always in this chat' }).click()
    const green = cards(page, 'npm test').nth(1)
    await green.locator('.ending-ok', { hasText: 'exit code 0' }).waitFor()
    await green.getByText('all 4 passed').waitFor()
    expect(await source()).toBe(MEDIAN.replace(BUG, FIX))

    const push = question(page, 'Publish the fix')
    await push.getByText('It sends commits to another machine.').waitFor()
    await finished(page)
    await push.getByRole('button', { name: 'Deny' }).click()
    await page.getByRole('textbox', { name: /^Reason/ }).fill('People push here')
    await page.keyboard.press('Enter')
    await cards(page, 'git push').getByText('You denied this: People push here').waitFor()
    await page.getByText('Fixed, and not published.').waitFor()
    await finished(page)

    await page.getByRole('button', { name: '1 file changed' }).click()
    await page.getByRole('button', { name: 'Revert src/median.js' }).click()
    await page.getByRole('dialog').getByText('gets its earlier content').waitFor()
    await page.getByRole('button', { name: 'Revert 1 file' }).click()
    await page.getByText('1 file was reverted.').waitFor()
    expect(await source()).toBe(MEDIAN)
    expect(await git(folder, 'status', '--porcelain')).toBe('')
    expect(await git(folder, 'log', '--oneline', '--format=%s')).toBe('Test the median with larger numbers\nFind the value in the middle')

    // "Always" holds: nobody is asked, and the bug is back.
    await write(page, 'Run the tests once more')
    await cards(page, 'npm test').nth(2).locator('.ending-danger', { hasText: 'exit code 1' }).waitFor()
    await page.getByText('Done: Run the tests once more').waitFor()
  })

  it('output is shown while the command runs', async () => {
    const page = await open('wait for me')
    const card = cards(page, WAITING)
    const output = () => card.getByRole('group', { name: `Output of ${WAITING}` }).textContent()
    await until(async () => (await output()) === 'begun\n')
    await card.getByText('running', { exact: true }).waitFor()
    await page.getByRole('button', { name: '1 command runs' }).waitFor()
    await writeFile(join(folder, 'go'), '')
    await card.locator('.ending-ok', { hasText: 'exit code 0' }).waitFor()
    expect(await output()).toBe('begun\nended\n')
    await page.getByText('Done: wait for me').waitFor()
    await rm(join(folder, 'go'))
  })

  it('a terminal is opened from the card and typed into; another command is stopped, and its process is gone', async () => {
    const page = await open('ask me')
    await question(page, 'Ask for a word').getByRole('button', { name: 'Approve', exact: true }).click()
    await cards(page, ASKING).getByText('still runs').waitFor()
    await page.getByText('Done: ask me').waitFor()
    await cards(page, ASKING).getByRole('button', { name: 'Open the terminal' }).click()
    const terminal = page.getByRole('group', { name: `Terminal of ${ASKING}` })
    await terminal.getByRole('textbox', { name: 'Terminal input' }).focus()
    await page.keyboard.type('lantern\n')
    await terminal.getByText('got lantern').first().waitFor()
    const view = page.locator('.job-view')
    await view.locator('.ending-ok', { hasText: 'exit code 0' }).waitFor()
    await cards(page, ASKING).locator('.ending-ok', { hasText: 'exit code 0' }).waitFor()
    await page.getByRole('button', { name: 'Back to the commands' }).click()

    await write(page, 'sleep for a while')
    await page.getByText('Done: sleep for a while').waitFor()
    const list = page.getByRole('list', { name: 'Commands' })
    expect(await list.locator('.job-command').allTextContents()).toEqual([SLEEPING, ASKING])
    expect(await processes(SLEEPING)).toBe(1)
    await list.getByRole('button', { name: `Stop ${SLEEPING}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click()
    await page.getByText('The command is stopped.').waitFor()
    expect(await processes(SLEEPING)).toBe(0)
    await list.locator('.ending-danger', { hasText: 'ended by' }).waitFor()
  })

  it('a refused command says why; of a long output the beginning and the end are shown, and the whole is downloaded', async () => {
    const page = await open('list it as administrator')
    const refused = cards(page, 'sudo ls')
    await refused.getByText('It takes the rights of another user, which is never allowed.').waitFor()
    await refused.getByText('failed', { exact: true }).waitFor()
    await page.getByText('Done: list it as administrator').waitFor()
    await finished(page)

    await write(page, 'count, please')
    const card = cards(page, 'seq 1 200000')
    await card.getByText(/MB in the middle are left out\./).waitFor()
    await card.getByRole('button', { name: /more lines/ }).click()
    const shown = ((await card.getByRole('group', { name: 'Output of seq 1 200000' }).textContent()) ?? '').trim()
    expect(shown.startsWith('1\n2\n3\n')).toBe(true)
    expect(shown.endsWith('199999\n200000')).toBe(true)
    const whole = Array.from({ length: 200_000 }, (_, at) => `${at + 1}\n`).join('')
    expect(shown.length).toBeLessThan(whole.length / 10)
    const [download] = await Promise.all([page.waitForEvent('download'), card.getByRole('link', { name: /^Download the whole output/ }).click()])
    expect((await readFile(await download.path(), 'utf8')) === whole).toBe(true)
  })
})

/** How many processes of this machine run exactly these words. */
async function processes(line: string): Promise<number> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((words) => words.replaceAll('\0', ' ').trim() === line).length
}
