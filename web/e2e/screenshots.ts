// Fourteen views, light and dark, in two languages, wide and narrow, as small WebP files.

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { makeRepository, PATCH } from './repository'
import { finished, Stage, write } from './stage'
import type { Asked, Step } from './upstream'

const folder = join(import.meta.dirname, '../../docs/screenshots')
const wide: BrowserContextOptions = { viewport: { width: 1440, height: 900 }, colorScheme: 'light', locale: 'en-GB' }
const narrow: BrowserContextOptions = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, colorScheme: 'light', locale: 'en-GB', hasTouch: true }
const dark = { colorScheme: 'dark' as const }
const chinese = { locale: 'zh-CN' }

const essay = `The field of a **bar magnet** falls off with the cube of the distance. Two models, side by side:

| model | formula | good for |
|---|---|--:|
| point dipole | $B = \\frac{\\mu_0}{4\\pi}\\frac{2m}{r^3}$ | far away |
| two poles | $B \\propto \\frac{1}{r_1^2} - \\frac{1}{r_2^2}$ | close by |

The same in Rust, for the first of them:

\`\`\`rust
/// Field on the axis of a dipole, in tesla.
fn axial_field(moment: f64, distance: f64) -> f64 {
    const MU_0: f64 = 1.256_637e-6;
    MU_0 / (4.0 * PI) * 2.0 * moment / distance.powi(3)
}
\`\`\`

1. Measure at three distances and plot on double-logarithmic paper.
2. The slope tells which model holds: −3 far away, less close by.`

const zhEssay = `条形磁铁的磁场随距离的**三次方**衰减。两个模型对比如下：

| 模型 | 公式 | 适用范围 |
|---|---|--:|
| 点偶极子 | $B = \\frac{\\mu_0}{4\\pi}\\frac{2m}{r^3}$ | 远处 |
| 双磁极 | $B \\propto \\frac{1}{r_1^2} - \\frac{1}{r_2^2}$ | 近处 |

1. 在三个距离处测量，并画在双对数坐标纸上。
2. 斜率说明哪个模型成立：远处为 −3，近处更小。`

const card = `<style>
  body { margin: 0; font-family: Georgia, serif; background: linear-gradient(#0e3a53, #1d6a86); color: #f7f1e3; }
  main { padding: 28px 34px; }
  h1 { margin: 0 0 4px; font-size: 30px; } p { margin: 4px 0; opacity: .85 }
  .row { display: flex; gap: 18px; margin-top: 18px } .row div { background: #ffffff1f; padding: 10px 16px; border-radius: 10px }
</style>
<main>
  <h1>Harbour Museum</h1>
  <p>Charts, lamps and the boats that carried them.</p>
  <div class="row"><div>Open 10 to 18</div><div>Quay 3</div><div>Free on Mondays</div></div>
</main>`

const hand = (name: string, task: string): Step => ({ call: 'sub-agent', input: { name, task } })

const tests = (actionName: string): Step => ({ call: 'shell-command', input: { actionName, command: 'npm test --silent' } })

/** A bug is found and mended: one step per result that has come back. */
const job: Step[][] = [
  [{ say: 'I run the tests first.' }, tests('See what fails')],
  [{ say: 'Both failures have numbers of different length: `sort()` compares them as text, so 10 comes before 9.' }, { call: 'apply-patch', input: { actionName: 'Compare as numbers', patch: PATCH } }],
  [tests('See whether it holds')],
  [{ say: 'The median is right now, and all tests pass. Shall I commit it?' }],
]

/** An interpreter in a terminal that the agent and the person share. */
function interpreter(results: number, result: string): Step[] {
  const type = (actionName: string, chars: string): Step => ({ call: 'write-stdin', input: { actionName, sessionId: /job_\w+/.exec(result)?.[0], chars, yieldTimeMs: 700 } })
  switch (results) {
    case 0:
      return [{ say: 'I start an interpreter and load the function.' }, { call: 'exec-command', input: { actionName: 'Open an interpreter', cmd: 'node', yieldTimeMs: 900 } }]
    case 1:
      return [type('Load the function', "let { median } = await import('./src/median.js')\n")]
    default:
      return [{ say: 'It is loaded as `median`. Try it in the terminal: `median([9, 10, 2])` should be 9.' }]
  }
}

function script({ text, whole, results, result }: Asked): Step[] {
  if (text.includes('lighthouse') || text.includes('灯塔')) {
    const zh = text.includes('灯塔')
    if (results === 0) {
      return [
        { think: 'The times differ by zone, so I look at the clocks first and then make a plan.' },
        { say: zh ? '我先查看两地时间，再制定计划。' : 'I check the time in both places first, then plan the visit.' },
        { call: 'time-now', input: { actionName: zh ? '查询爱丁堡时间' : 'Look at the clock in Edinburgh', timezone: 'Europe/London' } },
        { call: 'time-now', input: { actionName: zh ? '查询札幌时间' : 'Look at the clock in Sapporo', timezone: 'Asia/Tokyo' } },
        { call: 'update-plan', input: { actionName: 'Plan', plan: (zh ? ['核对开放时间', '预订渡轮', '申请登塔许可', '准备防风装备'] : ['Check the opening times', 'Book the ferry', 'Ask for leave to climb the tower', 'Pack for wind and rain']).map((step, at) => ({ step, status: at === 0 ? 'completed' : at === 1 ? 'in_progress' : 'pending' })) } },
      ]
    }
    return [{ say: zh ? '开放时间已核对；接下来预订渡轮。末班船 17:40 返回，爱丁堡与札幌相差九小时。' : 'The opening times fit. Next is the ferry: the last one back leaves at **17:40**, so the tower comes first and the museum after it.' }]
  }
  if (text.includes('clean') || text.includes('清理')) {
    return results > 0 ? [{ say: 'Done.' }] : [{ say: text.includes('清理') ? '清理前需要您确认。' : 'Before I touch anything I need your word.' }, { call: 'shell-command', input: { actionName: text.includes('清理') ? '删除 30 天前的日志' : 'Delete logs older than 30 days', command: 'find logs -name "*.log" -mtime +30 -delete' } }]
  }
  if (text.includes('median wrong')) return job[results] ?? []
  if (text.includes('try the median')) return interpreter(results, result)
  if (text.includes('harbour museum')) return [{ say: `A card in plain HTML:\n\n\`\`\`html\n${card}\n\`\`\`\n\nThe colours are those of the chart room.`, pieces: 12 }]
  if (text.includes('two harbours')) {
    return results > 0
      ? [{ say: 'Both can be reached by the evening ferry. **Kirkwall** has the longer quay and the later closing time; **Stromness** is the quieter of the two and nearer to the lighthouse.' }]
      : [{ say: 'I ask two people at once.' }, hand('researcher', 'What does Kirkwall offer to visitors by sea?'), hand('researcher', 'What does Stromness offer to visitors by sea?')]
  }
  if (whole.includes('visitors by sea')) {
    const town = whole.includes('Kirkwall') ? 'Kirkwall' : 'Stromness'
    return results > 0
      ? [{ say: `${town}: a visitor quay with water and power, a harbour office until 20:00, and a ten-minute walk to the old town.` }]
      : [{ say: 'I look at the clock there and hand the tide tables on.' }, { call: 'time-now', input: { actionName: `Look at the clock in ${town}`, timezone: 'Europe/London' } }, hand('tide-keeper', `When is high water in ${town}?`)]
  }
  if (whole.includes('high water')) return [{ say: 'High water is at 09:12 and 21:38.' }]
  return [{ say: text.includes('磁') ? zhEssay : essay, pieces: 30 }]
}

describe('screenshots', () => {
  let stage: Stage
  let repository: string
  beforeAll(async () => {
    repository = await makeRepository()
    stage = await Stage.open({ script, environment: { CONCERTINO_ENABLE: '', CONCERTINO_WORKDIR: repository, CONCERTINO_COMMAND_ENVIRONMENT: 'NODE_REPL_HISTORY', NODE_REPL_HISTORY: '' } })
    await mkdir(folder, { recursive: true })
    for (const agent of [
      { name: 'tide-keeper', displayName: 'Tide keeper', description: 'Knows when the water is high.', systemPrompt: 'You know the tides.', toolKeys: ['time-now'] },
      { name: 'researcher', displayName: 'Researcher', description: 'Looks into one question at a time and says where it found the answer.', systemPrompt: 'You look into one question at a time for {{ caller }}.\n\n- Say first what you know, then what you looked up.\n- Name your sources.\n- Hand questions about tides to the tide keeper.', toolKeys: ['time-now', 'update-plan'], allowedSubAgents: ['tide-keeper'] },
    ]) {
      await fetch(`${stage.url}/api/agents`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(agent) })
    }
  })
  afterAll(async () => {
    await stage.close()
    await rm(repository, { recursive: true, force: true })
  })

  const open = async (options: BrowserContextOptions, text?: string) => {
    const page = await stage.page(options)
    await page.goto(stage.url)
    await page.locator('.composer').waitFor()
    if (text) await write(page, text)
    return page
  }
  const keep = async (page: Page, name: string, pause = 700) => {
    await page.mouse.move(2, 450)
    await page.waitForTimeout(pause)
    const png = (await page.screenshot()).toString('base64')
    const paper = await stage.browser.newPage()
    const webp = await paper.evaluate(async (data) => {
      const image = new Image()
      image.src = `data:image/png;base64,${data}`
      await image.decode()
      const canvas = document.createElement('canvas')
      canvas.width = image.width
      canvas.height = image.height
      canvas.getContext('2d')?.drawImage(image, 0, 0)
      return canvas.toDataURL('image/webp', 0.86).split(',')[1] ?? ''
    }, png)
    await writeFile(join(folder, `${name}.webp`), Buffer.from(webp, 'base64'))
    await paper.close()
    await page.close()
  }
  const approve = (page: Page, title: string) => page.getByRole('group', { name: title, exact: true }).getByRole('button', { name: 'Approve', exact: true }).click()
  const details = (page: Page) => page.getByRole('button', { name: /^(Show details|显示详情)$/ }).click()

  it('are made', async () => {
    let page = await open(wide, 'Plan a visit to two lighthouses, please')
    await finished(page)
    await details(page)
    await keep(page, 'plan-light')
    page = await open(wide, 'Why is the median wrong for larger numbers?')
    await approve(page, 'See what fails')
    await approve(page, 'Compare as numbers')
    await approve(page, 'See whether it holds')
    await page.getByText('Shall I commit it?').waitFor()
    await finished(page)
    await page.getByRole('button', { name: '1 file changed' }).click()
    await page.locator('.panel').getByRole('button', { name: /median\.js/, expanded: false }).click()
    await page.locator('.panel').getByRole('table', { name: 'Changed lines of src/median.js' }).waitFor()
    await keep(page, 'commands-light')
    page = await open({ ...wide, ...dark }, 'Let me try the median myself')
    await approve(page, 'Open an interpreter')
    await approve(page, 'Load the function')
    await page.getByText('Try it in the terminal').waitFor()
    await finished(page)
    await page.getByRole('button', { name: 'Open the terminal' }).first().click()
    await page.getByRole('textbox', { name: 'Terminal input' }).focus()
    for (const line of ['median([9, 10, 2])', 'median([120, 80, 100, 90])', "['9', '10', '2'].toSorted()"]) {
      await page.keyboard.type(`${line}\n`)
      await page.waitForTimeout(300)
    }
    // Soon after the last key the cursor is there.
    await page.keyboard.type('median(')
    await keep(page, 'terminal-dark', 250)
    page = await open({ ...wide, ...chinese }, '帮我计划参观两座灯塔')
    await finished(page)
    await details(page)
    await keep(page, 'plan-light-zh')
    page = await open({ ...wide, ...dark }, 'How does the field of a bar magnet fall off?')
    await finished(page)
    await keep(page, 'answer-dark')
    page = await open(wide, 'Please clean up the old logs')
    await page.locator('.approval-sensitive').waitFor()
    await keep(page, 'approval-light')
    page = await open({ ...wide, ...dark, ...chinese }, '请清理旧日志')
    await page.locator('.approval-sensitive').waitFor()
    await page.locator('.approval').press('e')
    await page.locator('.input-editor').waitFor()
    await keep(page, 'approval-dark-zh')
    page = await open(wide, 'Compare the two harbours for me')
    await finished(page)
    await details(page)
    await page.getByRole('button', { name: /Researcher.*Kirkwall/ }).click()
    await keep(page, 'agents-light')
    page = await open({ ...wide, ...dark })
    await page.goto(`${stage.url}/agents/researcher`)
    await page.locator('.agent-form').waitFor()
    await keep(page, 'agent-dark')
    page = await open(wide, 'Draw me a card for the harbour museum')
    await finished(page)
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.frameLocator('iframe.preview').locator('h1').waitFor()
    await keep(page, 'preview-light')
    await keep(await open(wide), 'start-light')
    page = await open(narrow, 'Plan a visit to two lighthouses')
    await finished(page)
    await keep(page, 'phone-plan-light')
    page = await open({ ...narrow, ...dark, ...chinese }, '磁铁的磁场如何随距离衰减？')
    await finished(page)
    await keep(page, 'phone-answer-dark-zh')
    page = await open({ ...narrow, ...dark }, 'Please clean up the old logs on my phone')
    await page.locator('.approval-sensitive').waitFor()
    await keep(page, 'phone-approval-dark')
    // Looked at, not kept: pages whose content depends on the day and the machine.
    if (!process.env.MORE_SCREENSHOTS) return
    for (const [place, name] of [['/usage', 'usage'], ['/settings', 'settings'], ['/agents', 'agents'], ['/agents?new=', 'new-agent']] as const) {
      for (const [options, kind] of [[wide, 'light'], [{ ...narrow, ...dark, ...chinese }, 'phone-dark-zh']] as const) {
        page = await open(options)
        await page.goto(`${stage.url}${place}`)
        await page.locator('.group, .agent-form').first().waitFor()
        await keep(page, `more-${name}-${kind}`)
      }
    }
  })
})
