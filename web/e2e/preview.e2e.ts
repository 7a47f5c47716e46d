// Generated content in its frame, and the figures of the usage page.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { finished, Stage, write } from './stage'

const page1 = `<!doctype html><html><head><style>h1 { color: rgb(1, 2, 3) } .far { background: url(https://elsewhere.example/a.png) }</style>
<meta http-equiv="refresh" content="0; url=https://elsewhere.example/"><base href="https://elsewhere.example/"><script>parent.postMessage({ height: 9e9 }, '*'); window.owned = 1</script></head>
<body><h1>A generated page</h1><p class="far" onclick="window.owned=1">text</p><img src="https://elsewhere.example/p.png" onerror="window.owned=1">
<a href="https://elsewhere.example/out" target="_blank">away</a> <svg width="40" height="20"><a href="https://elsewhere.example/svg"><set attributeName="href" to="https://elsewhere.example/set"/><text y="15">drawn</text></a></svg><form action="https://elsewhere.example/form"><button>send</button></form><iframe src="https://elsewhere.example/"></iframe></body></html>`
const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="80" onload="window.owned=1"><script>window.owned=1</script><circle cx="40" cy="40" r="30" fill="teal"/></svg>'

describe('generated content', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.open({ script: ({ text }) => [{ say: text.includes('picture') ? `\`\`\`svg\n${picture}\n\`\`\`\n` : `Here it is:\n\n\`\`\`html\n${page1}\n\`\`\`\n`, pieces: 12 }] })
  })
  afterEach(() => stage.expectNoComplaints())
  afterAll(() => stage.close())

  it('a page is shown as a page; nothing of it runs, leaves or leads away', async () => {
    // The policy of the frame says no, aloud.
    const page = await stage.page({}, /Content Security Policy|sandboxed/)
    await page.goto(stage.url)
    await write(page, 'make a page')
    await finished(page)
    await page.getByRole('button', { name: 'Preview' }).click()
    const frame = page.frameLocator('iframe.preview')
    await frame.getByRole('heading', { name: 'A generated page' }).waitFor()
    expect(await frame.locator('h1').evaluate((heading) => getComputedStyle(heading).color)).toBe('rgb(1, 2, 3)')
    await frame.getByText('text', { exact: true }).click()
    const inner = page.frames().find((one) => one.url().endsWith('/frame'))
    // How each event ends that could open a link.
    await inner?.evaluate(() => {
      const seen: string[] = []
      Object.assign(window, { seen })
      for (const kind of ['click', 'auxclick', 'dragstart']) addEventListener(kind, (event) => seen.push(`${kind} ${event.defaultPrevented ? 'stopped' : 'goes on'}`))
    })
    const link = frame.getByRole('link', { name: 'away' })
    await link.click()
    await link.click({ button: 'middle' })
    await link.click({ modifiers: ['Control'] })
    await link.dispatchEvent('dragstart')
    await link.press('Enter')
    await frame.getByText('drawn').click({ button: 'middle' })
    await frame.getByRole('button', { name: 'send' }).click()
    const seen = await inner?.evaluate(() => (window as unknown as { seen: string[] }).seen)
    expect(seen).toEqual(['click stopped', 'auxclick stopped', 'click stopped', 'dragstart stopped', 'auxclick stopped', 'click stopped'])
    expect(await inner?.evaluate(() => document.querySelectorAll('[href], [target], set').length)).toBe(0)
    expect(await link.getAttribute('title')).toBe('https://elsewhere.example/out')
    expect(page.context().pages()).toHaveLength(1)
    expect(inner?.url()).toBe(`${stage.url}/frame`)
    expect(await inner?.evaluate(() => 'owned' in window)).toBe(false)
    expect(await inner?.evaluate(() => self.origin)).toBe('null')
    expect(await inner?.evaluate(() => document.querySelectorAll('script, meta, base, iframe').length)).toBe(0)
    expect(await inner?.evaluate(() => fetch('/api/sessions').then(() => 'reached', () => 'refused'))).toBe('refused')
    expect(await page.locator('iframe.preview').evaluate((element) => element.clientHeight)).toBeLessThanOrEqual(640)
    expect(page.frames()).toHaveLength(2)
    await page.getByRole('button', { name: 'Show the code' }).click()
    expect(await page.locator('iframe').count()).toBe(0)
  })

  it('a picture and an attached page are shown the same way', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await page.locator('input[type=file]').setInputFiles([{ name: 'note.html', mimeType: 'text/html', buffer: Buffer.from('<h2>An attached page</h2>') }])
    await page.locator('.attachments').getByText('note.html').waitFor()
    await write(page, 'draw a picture')
    await finished(page)
    await page.getByRole('button', { name: 'Preview', exact: true }).click()
    await page.frameLocator('iframe.preview').locator('img').waitFor()
    await page.getByRole('button', { name: 'Preview of note.html' }).click()
    await page.getByRole('dialog').frameLocator('iframe.preview').getByRole('heading', { name: 'An attached page' }).waitFor()
    await page.keyboard.press('Escape')
  })

  it('what was used stands in a chart and in tables', async () => {
    const page = await stage.page()
    await page.goto(stage.url)
    await write(page, 'make something')
    await finished(page)
    await page.getByRole('link', { name: 'Usage' }).click()
    await page.locator('.chart canvas').waitFor()
    const drawn = await page.locator('.chart canvas').evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement
      const pixels = (canvas as HTMLCanvasElement).getContext('2d')?.getImageData(0, 0, width, height).data ?? []
      return new Set(Array.from({ length: pixels.length / 4 }, (_, at) => pixels.slice(at * 4, at * 4 + 4).join())).size
    })
    expect(drawn).toBeGreaterThan(5)
    await page.getByRole('table', { name: 'Tokens per day' }).waitFor({ state: 'attached' })
    await page.getByRole('rowheader', { name: /script/ }).waitFor()
    await page.getByRole('button', { name: '7 days' }).click()
    await page.getByRole('rowheader', { name: 'general' }).waitFor()
  })
})
