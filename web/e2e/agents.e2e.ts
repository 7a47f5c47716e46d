// Agents with the real engine: nested and live, each with a conversation of its own, chosen per chat, and written by hand.

import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { finished, gate, Stage, until, write } from './stage'
import type { Asked, Step } from './upstream'

let held = gate()

const hand = (name: string, task: string): Step => ({ call: 'sub-agent', input: { name, task } })

/** A sub-agent reads its task with what it should know beside it. */
const isTask = (task: string, whole: string): boolean => whole.split('\n').some((line) => line.trim() === task)

function script({ text, whole, results, system }: Asked): Step[] {
  if (text === 'delegate it') return results > 0 ? [{ say: 'Here is what they found.' }] : [{ say: 'I have people for that.' }, hand('planner', 'look into lighthouses')]
  if (isTask('look into lighthouses', whole)) {
    return results > 0 ? [{ say: 'The report is written.' }] : [{ say: 'Reading about **lamps**. ' }, { wait: held.opened }, hand('finder', 'find sources')]
  }
  if (isTask('find sources', whole)) return [{ say: 'Found three sources.' }]
  if (text === 'let them ask') return results > 0 ? [{ say: 'They were careful.' }] : [hand('finder', 'delete with care')]
  if (isTask('delete with care', whole)) {
    return results > 0 ? [{ say: 'Deleted with care.' }] : [{ call: 'test-approval', input: { actionName: 'Delete the drafts', note: 'drafts/*' } }]
  }
  if (text === 'echo a lot') return results > 0 ? [{ say: 'That was long.' }] : [{ call: 'conf_echo', input: { text: 'abcdefghi\n'.repeat(12_000) } }]
  if (text === 'wait a moment') return [{ say: 'One moment. ' }, { wait: held.opened }, { say: 'Done.' }]
  return [{ say: `Role: ${/You (?:review|sing)[^.]*/.exec(system)?.[0] ?? 'another'}.` }]
}

/** Switches the agent as a client of the session events does. */
async function switchElsewhere(url: string, sessionId: string, agentId: string): Promise<void> {
  const connection = new AbortController()
  const events = await fetch(`${url}/events`, { signal: connection.signal })
  const first = new TextDecoder().decode((await events.body?.getReader().read())?.value)
  const connectionId = /conn_[\w-]+/.exec(first)?.[0]
  const body = JSON.stringify({ type: 'switch_agent', connectionId, sessionId, agentId })
  const switched = await fetch(`${url}/message`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect(await switched.json()).toMatchObject({ success: true, currentAgentId: agentId })
  connection.abort()
}

describe('agents', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.open({ script })
    for (const agent of [
      { name: 'finder', displayName: 'Finder', description: 'Finds things.', systemPrompt: 'You find.', toolKeys: ['test-approval'] },
      { name: 'planner', displayName: 'Planner', description: 'Plans things.', systemPrompt: 'You plan.', toolKeys: ['test-approval'], allowedSubAgents: ['finder'] },
    ]) {
      const made = await fetch(`${stage.url}/api/agents`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(agent) })
      expect(made.status, await made.text()).toBe(201)
    }
  })
  afterEach(() => stage.expectNoComplaints())
  afterAll(() => stage.close())

  it('shows a tree of agents live, leads into one of them, and keeps it all', async () => {
    held = gate()
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'delegate it')
    const card = page.getByRole('region', { name: 'Planner' })
    await card.locator('strong', { hasText: 'lamps' }).waitFor()
    await page.getByRole('button', { name: 'Show details' }).click()
    await page.locator('.tree-node', { hasText: 'Planner' }).getByText('working').waitFor()
    await card.getByRole('button', { name: 'Open its conversation' }).first().click()
    const sheet = page.getByRole('dialog', { name: 'Conversation of Planner' })
    await sheet.getByText('look into lighthouses').waitFor()
    await sheet.locator('strong', { hasText: 'lamps' }).waitFor()
    held.open()
    await sheet.getByText('The report is written.').waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'hidden' })
    await page.getByText('Here is what they found.').waitFor()
    await finished(page)
    expect(await page.locator('.agent-body').count()).toBe(0)

    await page.reload()
    await card.getByRole('button', { name: /Planner.*lighthouses/ }).click()
    await card.getByRole('button', { name: /Finder.*find sources/ }).click()
    await card.getByText('Found three sources.').last().waitFor()
    await page.locator('.tree-node', { hasText: 'Finder' }).getByText('finished').waitFor()
    await page.locator('.tree-node', { hasText: 'Finder' }).click()
    await page.getByRole('dialog', { name: 'Conversation of Finder' }).getByText('find sources').waitFor()
    expect(page.url()).toMatch(/\?agent=/)
  })

  it('one agent of a tree can be stopped alone', async () => {
    held = gate()
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'delegate it')
    await page.getByRole('region', { name: 'Planner' }).locator('strong', { hasText: 'lamps' }).waitFor()
    await page.getByRole('button', { name: 'Show details' }).click()
    await page.getByRole('button', { name: 'Stop this agent' }).click()
    await page.getByText('Here is what they found.').waitFor()
    await finished(page)
    await page.locator('.tree-node', { hasText: 'Planner' }).getByText(/stopped|failed/).waitFor()
    held.open()
  })

  it('a question of a sub-agent is answered in the chat, changed on the way', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'let them ask')
    const question = page.getByRole('group', { name: 'Delete the drafts' }).last()
    await question.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByRole('textbox', { name: 'note' }).fill('drafts/old/*')
    await page.getByRole('button', { name: 'Approve with changes' }).click()
    await page.getByText('They were careful.').waitFor()
    await finished(page)
    await page.getByRole('button', { name: /Delete the drafts.*edited/ }).first().click()
    await page.locator('.card-body').getByText('drafts/old/*').first().waitFor()
  })

  it('the main agent is chosen per chat, and not in the middle of an answer', async () => {
    held = gate()
    const page = await stage.page()
    await page.goto(stage.url)
    await page.getByRole('button', { name: /Agent: General/ }).click()
    await page.getByRole('menuitem', { name: /Debugger/ }).click()
    await write(page, 'wait a moment')
    await page.getByText('One moment.').waitFor()
    const chip = page.getByRole('button', { name: /Agent: Debugger/ })
    expect(await chip.isDisabled()).toBe(true)
    expect(await chip.getAttribute('title')).toContain('finished or stopped')
    held.open()
    await finished(page)
    await chip.click()
    await page.getByRole('menuitem', { name: /General/ }).click()
    await write(page, 'hello')
    await finished(page)
    const id = page.url().split('/').pop() ?? ''
    const history = (await (await fetch(`${stage.url}/api/chat/${id}/messages`)).json()) as { role: string; metadata?: { agentName?: string } }[]
    expect(history.filter((message) => message.role === 'assistant').map((message) => message.metadata?.agentName)).toEqual(['debugger', 'general'])
  })

  it('the main agent stays after a reload, follows a switch made elsewhere, and is named by no message without need', async () => {
    const page = await stage.page()
    const named: (string | undefined)[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/api/chat')) named.push((request.postDataJSON() as { agentId?: string }).agentId)
    })
    await page.goto(stage.url)
    await page.getByRole('button', { name: /Agent: General/ }).click()
    await page.getByRole('menuitem', { name: /Debugger/ }).click()
    await write(page, 'hello')
    await finished(page)
    await page.reload()
    await page.getByRole('button', { name: /Agent: Debugger/ }).waitFor()
    await write(page, 'hello again')
    await finished(page)
    const sessionId = page.url().split('/').pop() ?? ''
    await switchElsewhere(stage.url, sessionId, 'requirement_analyzer')
    await page.getByRole('button', { name: /Agent: Requirement Analyzer/ }).waitFor()
    await write(page, 'and hello')
    await page.locator('.message-agent').nth(2).waitFor()
    await finished(page)
    expect(named).toEqual(['debugger', undefined, undefined])
    const history = (await (await fetch(`${stage.url}/api/chat/${sessionId}/messages`)).json()) as { role: string; metadata?: { agentName?: string } }[]
    const answered = history.filter((message) => message.role === 'assistant').map((message) => message.metadata?.agentName)
    expect(answered).toEqual(['debugger', 'debugger', 'requirement_analyzer'])
  })

  it('a file that was made is listed beside the chat and can be saved', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'echo a lot')
    await page.getByText('That was long.').waitFor()
    await finished(page)
    await page.getByRole('button', { name: 'Show details' }).click()
    const saved = page.waitForEvent('download')
    await page.locator('.panel-files .file').click()
    const text = await readFile(await (await saved).path(), 'utf8')
    expect(text.length).toBeGreaterThan(100_000)
  })

  it('an agent is written, tried out, changed, switched off and deleted, with complaints at their fields', async () => {
    const page = await stage.page({}, /422 .*api.agents/)
    await page.goto(`${stage.url}/agents`)
    await page.getByRole('button', { name: 'New agent' }).click()
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    await name.fill('not a name!')
    const field = page.locator('.form-field', { has: name })
    await field.getByText(/letters, digits/i).first().waitFor()
    await until(async () => (await name.getAttribute('aria-invalid')) === 'true')
    await page.getByRole('button', { name: 'Create the agent' }).click()
    const prompt = page.getByRole('textbox', { name: 'Instructions' })
    await page.locator('.form-field', { has: prompt }).getByText('The prompt is empty.').waitFor()
    await name.fill('reviewer')
    await page.getByRole('textbox', { name: 'Display name' }).fill('Reviewer')
    await page.getByRole('textbox', { name: 'Description' }).fill('Reads code and says what is wrong.')
    await prompt.fill('You review code with {{ nothing_known }}.')
    await page.locator('.form-field', { has: prompt }).getByText(/nothing_known/).waitFor()
    await prompt.fill('You review code.')
    await page.getByRole('checkbox', { name: /^time-now/ }).check()
    await page.getByRole('button', { name: 'Create the agent' }).click()
    await page.getByText('Reviewer is saved').waitFor()
    expect(page.url()).toBe(`${stage.url}/agents/reviewer`)

    await page.getByRole('textbox', { name: 'A task or a question for this agent' }).fill('who are you?')
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.locator('.test-answer').getByText('Role: You review code.').waitFor()

    await prompt.fill('You sing.')
    await page.getByRole('button', { name: 'Save' }).click()
    await until(async () => (await (await fetch(`${stage.url}/api/agents/reviewer`)).json() as { version: number }).version === 2)
    await page.getByRole('textbox', { name: 'A task or a question for this agent' }).fill('who are you now?')
    await page.getByRole('button', { name: /^Run/ }).click()
    await page.locator('.test-answer').getByText('Role: You sing.').waitFor()

    await page.getByRole('button', { name: 'Back' }).click()
    const row = page.locator('li', { hasText: 'Reviewer' })
    const on = row.getByRole('switch', { name: 'Enable Reviewer' })
    await on.click()
    await row.getByText('Switched off.').waitFor()
    await on.click()
    await until(async () => (await row.getByText('Switched off.').count()) === 0)
    await row.getByRole('link', { name: 'Reviewer' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Sub-agents' }).waitFor()
    expect(await page.locator('li', { hasText: 'Reviewer' }).count()).toBe(0)
  })

  it('two people who change one agent do not overwrite each other unseen', async () => {
    const page = await stage.page({}, /409 .*api.agents/)
    await page.goto(`${stage.url}/agents/finder`)
    const about = page.getByRole('textbox', { name: 'Description' })
    await about.fill('Finds my things.')
    const { id, version } = (await (await fetch(`${stage.url}/api/agents/finder`)).json()) as { id: string; version: number }
    await fetch(`${stage.url}/api/agents/${id}`, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ version, description: 'Finds their things.' }) })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Somebody else changed this agent').waitFor()
    await page.getByRole('button', { name: 'Take their version' }).click()
    expect(await about.inputValue()).toBe('Finds their things.')
  })
})

describe('agents with the demo model', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.open()
  })
  afterEach(() => stage.expectNoComplaints())
  afterAll(() => stage.close())

  it('a plain request shows a tree of two levels', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'Let sub-agents find out the time in three cities.')
    await finished(page)
    await page.getByRole('button', { name: 'Show details' }).click()
    await until(async () => (await page.locator('.tree .tree .tree-node').count()) === 2)
    await page.locator('.tree .tree .tree-node').first().click()
    await page.getByRole('dialog').locator('.message-agent').waitFor()
  })

  it('an agent of one’s own answers in its test run', async () => {
    const page = await stage.page()
    await page.goto(`${stage.url}/agents?new=`)
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('clock-keeper')
    await page.getByRole('textbox', { name: 'Instructions' }).fill('You tell the time.')
    await page.getByRole('checkbox', { name: /^time-now/ }).check()
    await page.getByRole('button', { name: 'Create the agent' }).click()
    await page.getByRole('textbox', { name: 'A task or a question for this agent' }).fill('What time is it in Tokyo?')
    await page.keyboard.press('Enter')
    await page.locator('.test-answer').getByText(/Tokyo/).first().waitFor()
    await page.getByRole('button', { name: 'Run again' }).waitFor()
  })
})
