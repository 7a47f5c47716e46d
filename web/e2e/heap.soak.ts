// Half an hour of streaming: the heap at the end is what it was near the beginning.
// `SOAK_MINUTES` sets the length; the first look is after a tenth of it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { finished, Stage, write } from './stage'

const MINUTES = Number(process.env.SOAK_MINUTES ?? '30')
const answer = 'A paragraph with **bold** and `code` and some more words to fill the line.\n\n'.repeat(60)

describe('streaming for a long time', () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await Stage.open({ script: () => [{ think: 'Hm.' }, { say: answer, pieces: 200, pause: 16 }] })
  })
  afterAll(() => stage.close())

  it('does not fill the memory', async () => {
    const page = await stage.page()
    const tools = await page.context().newCDPSession(page)
    const heap = async () => {
      await tools.send('HeapProfiler.collectGarbage')
      return (await tools.send('Runtime.getHeapUsage')).usedSize
    }
    await page.goto(stage.url)
    const begun = Date.now()
    const minutes = () => (Date.now() - begun) / 60_000
    let early: number | undefined
    let answers = 0
    while (minutes() < MINUTES) {
      // A new chat now and then, as people do; each grows for a while.
      if (answers % 10 === 0 && answers > 0) await page.keyboard.press('Control+j')
      await write(page, `question ${answers++}`)
      await page.getByRole('button', { name: 'Stop' }).waitFor()
      await finished(page)
      if (early === undefined && minutes() >= MINUTES / 10) early = await heap()
    }
    const late = await heap()
    process.stdout.write(`heap: ${Math.round((early ?? 0) / 1e5) / 10} MB after a tenth, ${Math.round(late / 1e5) / 10} MB after ${MINUTES} minutes and ${answers} answers\n`)
    expect(late).toBeLessThan(1.5 * (early ?? 0))
  }, (MINUTES + 2) * 60_000)
})
