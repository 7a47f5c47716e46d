// How it behaves at its limits: long answers, long chats, hostile text, and people who use no mouse or no eyes.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { finished, gate, Stage, until, write } from './stage'

const paragraph = 'The quick brown fox jumps over the lazy dog, and **some of it** is `code` or [a link](https://example.com).\n\n'
const PARAGRAPHS = 1800
const long = `# A long answer\n\n${paragraph.repeat(PARAGRAPHS)}`
/** Five seconds of them. */
const DELTAS = 300
const ROUNDS = 3
/** Opened when the 200 kB are drawn: what is measured is the steady stream on top of them. */
let steady = gate()

const hostile = [
  '<img src=x onerror="window.owned=1"><script>window.owned=1</script><svg onload="window.owned=1"><iframe src="javascript:window.owned=1"></iframe>',
  '[click](javascript:window.owned=1) ![pixel](https://tracker.example/p.png) ![svg](data:image/svg+xml,<svg onload=alert(1)>)',
  '<MyComponent onClick={() => { window.owned = 1 }} dangerouslySetInnerHTML={{__html: "<img src=x onerror=window.owned=1>"}} />',
  '{{constructor.constructor("window.owned=1")()}} ${window.owned=1} `javascript:window.owned=1`',
  '$\\href{javascript:window.owned=1}{x}$ $\\html{<img src=x onerror=window.owned=1>}$ $$\\def\\a{\\a\\a}\\a$$',
  '>'.repeat(100_000) + ' deep',
  '```html\n<script>window.owned=1</script>\n```',
  '[x]: javascript:window.owned=1\n\n[x] and <https://example.com/"onmouseover="window.owned=1>',
  '\u202Egnp.exe\u202C &#106;avascript:window.owned=1',
].join('\n\n')

describe('at its limits', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.open({
      script: ({ text, results }) => {
        if (text.includes('long')) return [{ say: long, pieces: 20 }, { wait: steady.opened }, { say: 'word and more of it here. '.repeat(DELTAS), pieces: DELTAS, pause: 16 }]
        if (text.includes('hostile')) {
          return results > 0 ? [{ say: hostile, pieces: 30 }] : [{ think: hostile }, { call: 'time-now', input: { actionName: '<img src=x onerror="window.owned=1">', timezone: '<script>window.owned=1</script>' } }]
        }
        return [{ say: 'Fine.' }]
      },
    })
  })
  afterEach(() => stage.expectNoComplaints())
  afterAll(() => stage.close())

  it('60 deltas a second on 200 kB cost at most twice the long tasks of a bare page', async () => {
    const least = { count: 0, time: 0 }
    const ours = { count: 0, time: 0 }
    for (let round = 0; round < ROUNDS; round++) {
      add(least, await onBarePage(stage))
      add(ours, await onOurPage(stage))
    }
    process.stdout.write(`long tasks in ${ROUNDS} rounds: bare page ${least.count} (${Math.round(least.time)} ms), interface ${ours.count} (${Math.round(ours.time)} ms)\n`)
    // Where the bare page has none, one task a round may be somebody else's: two browsers, a model and a server share two
    // cores, and 50 ms without one of them is a long task whoever holds it.
    expect(ours.count).toBeLessThanOrEqual(Math.max(2 * least.count, ROUNDS))
  }, 180_000)

  it('a chat of 5,000 messages shows its end first and fetches the rest on the way up', async () => {
    const messages = Array.from({ length: 5000 }, (_, at) => ({ id: `p${at}`, role: at % 2 ? 'assistant' : 'user', parts: [{ type: 'text', text: `message number ${at}` }] }))
    const planted = await fetch(`${stage.url}/api/chat`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ id: 'many', messages: [...messages, { id: 'last', role: 'user', parts: [{ type: 'text', text: 'the newest question' }] }] }) })
    await planted.text()
    const page = await stage.page()
    const asked: string[] = []
    page.on('request', (request) => request.url().includes('/messages') && asked.push(new URL(request.url()).search))
    await page.goto(`${stage.url}/c/many`)
    await page.getByText('the newest question').first().waitFor()
    await page.getByText('Fine.').waitFor()
    expect(asked).toEqual(['?limit=40'])
    expect(await page.locator('.message').count()).toBeLessThan(45)
    for (let round = 0; round < 6; round++) {
      await page.locator('.list').evaluate((list) => list.scrollTo({ top: 0 }))
      await page.waitForTimeout(250)
    }
    expect(asked.length).toBeGreaterThan(3)
    expect(await page.locator('.message').count()).toBeLessThan(80)
    await page.getByRole('button', { name: 'To the newest message' }).click()
    await page.getByText('Fine.').waitFor()
  })

  it('a message of 1 MB is shown without hanging', async () => {
    const text = `start ${'lorem ipsum '.repeat(80_000)} end`
    await (await fetch(`${stage.url}/api/chat`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ id: 'big', message: { id: 'u', role: 'user', parts: [{ type: 'text', text }] } }) })).text()
    const page = await stage.page()
    const begun = Date.now()
    await page.goto(`${stage.url}/c/big`)
    await page.getByText('Fine.').waitFor()
    expect(Date.now() - begun).toBeLessThan(8000)
    await page.getByRole('button', { name: /Show all/ }).click()
    await page.getByRole('button', { name: 'Show less' }).waitFor()
  })

  it('hostile text from model and tool runs nothing, loads nothing and hangs nothing', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'hostile please')
    await page.locator('.code', { hasText: 'window.owned' }).waitFor()
    await finished(page)
    await page.getByRole('button', { name: /onerror/ }).click()
    await page.getByRole('button', { name: /Thought/ }).first().click()
    await page.waitForTimeout(500)
    expect(await page.evaluate(() => (window as unknown as { owned?: number }).owned)).toBeUndefined()
    expect(await page.locator('.message-agent').locator('iframe, script, object, embed, [onerror], [onload]').count()).toBe(0)
    const links = await page.locator('.message-agent a').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).protocol))
    expect(links.filter((protocol) => !['http:', 'https:', 'mailto:'].includes(protocol))).toEqual([])
  })

  it('the checker for accessibility finds nothing serious, light and dark, wide and narrow', async () => {
    const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
    for (const options of [{ colorScheme: 'light' as const }, { colorScheme: 'dark' as const, viewport: { width: 390, height: 844 } }]) {
      const page = await stage.page(options)
      for (const place of ['/', '/c/many', '/settings', '/agents', '/agents?new=', '/agents/general', '/usage']) {
        await page.goto(`${stage.url}${place}`)
        await page.locator('.composer, .group, .agent-form').first().waitFor()
        if (place === '/usage') await page.locator('.chart canvas').waitFor()
        if (place === '/c/many') await page.getByText('Fine.').waitFor()
        // Evaluated from outside the page: its own policy forbids inline script.
        await page.evaluate(source)
        const found = await page.evaluate(async () => {
          const { axe } = window as unknown as { axe: { run: () => Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } }
          return (await axe.run()).violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').map((one) => `${one.id}: ${one.nodes[0]?.html}`)
        })
        expect(found, `${place} ${JSON.stringify(options)}`).toEqual([])
      }
      await page.close()
    }
  })
})

interface Tasks {
  count: number
  time: number
}

function add(sum: Tasks, more: Tasks): void {
  sum.count += more.count
  sum.time += more.time
}

/** The same stream appended to a `<pre>`. */
async function onBarePage(stage: Stage): Promise<Tasks> {
  steady = gate()
  const page = await stage.page()
  await page.route('**/bare', (route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>bare</title><pre id="out"></pre>' }))
  await page.goto(`${stage.url}/bare`)
  const done = page.evaluate(async () => {
    const out = document.getElementById('out')
    const response = await fetch('/api/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ id: `bare-${Math.random()}`, message: { id: 'u', role: 'user', parts: [{ type: 'text', text: 'a long one' }] } }) })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const next = await reader?.read()
      if (!next || next.done) return
      out?.append(next.value)
    }
  })
  await until(() => page.evaluate((size) => (document.getElementById('out')?.textContent.length ?? 0) >= size, long.length))
  const seen = await whileStreaming(page, () => done)
  await page.close()
  return seen
}

async function onOurPage(stage: Stage): Promise<Tasks> {
  steady = gate()
  const page = await stage.page()
  await page.goto(stage.url)
  await write(page, 'a long one')
  // All of it, drawn: no group is shown as it was written any more.
  await until(() => page.evaluate((count) => document.querySelectorAll('.md p').length >= count && !document.querySelector('.md-plain'), PARAGRAPHS))
  const seen = await whileStreaming(page, () => finished(page))
  expect(await page.locator('.md').last().textContent()).toContain('word and more of it here.')
  await page.close()
  return seen
}

async function whileStreaming(page: Page, end: () => Promise<unknown>): Promise<Tasks> {
  // What came before is over: two frames without work.
  await page.evaluate(() => new Promise((resolve) => requestIdleCallback(() => requestIdleCallback(resolve))))
  await watchTasks(page)
  steady.open()
  await end()
  return tasks(page)
}

async function watchTasks(page: Page): Promise<void> {
  await page.evaluate(() => {
    const seen = { count: 0, time: 0 }
    Object.assign(window, { seenTasks: seen })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        seen.count++
        seen.time += entry.duration
      }
    }).observe({ type: 'longtask' })
  })
}

function tasks(page: Page): Promise<Tasks> {
  return page.evaluate(() => (window as unknown as { seenTasks: Tasks }).seenTasks)
}
