import type { UIMessageChunk } from 'ai'
import { describe, expect, it, vi } from 'vitest'
import { SubAgentLanes } from './sub-agent-lane'

function feed(lanes: SubAgentLanes, call: string, message: string, chunks: UIMessageChunk[], parent = 'm0') {
  lanes.accept({ type: 'data-sub-agent-start', data: { toolCallId: call, messageId: message, parentMessageId: parent } })
  chunks.forEach((chunk, seq) => lanes.accept({ type: 'data-sub-agent-chunk', data: { toolCallId: call, messageId: message, seq, chunk } }))
}

const saying = (id: string, text: string): UIMessageChunk[] => [
  { type: 'start', messageId: id, messageMetadata: { agent: { displayName: 'Researcher' } } },
  { type: 'start-step' },
  { type: 'text-start', id: 's0' },
  { type: 'text-delta', id: 's0', delta: text },
]

describe('the fast lane', () => {
  it('folds a sub-agent’s chunks into its message, apart from others', async () => {
    const lanes = new SubAgentLanes()
    feed(lanes, 'c1', 'm1', saying('m1', 'one'))
    feed(lanes, 'c2', 'm2', saying('m2', 'two'))
    await vi.waitFor(() => {
      expect(lanes.message('m0', 'c1')?.parts.at(-1)).toMatchObject({ type: 'text', text: 'one' })
      expect(lanes.message('m0', 'c2')?.parts.at(-1)).toMatchObject({ type: 'text', text: 'two' })
    })
    expect(lanes.message('m0', 'c1')?.id).toBe('m1')
  })

  it('keeps agents apart whose callers gave their calls the same id, one below the other', async () => {
    const lanes = new SubAgentLanes()
    feed(lanes, 'call_1', 'outer', saying('outer', 'above'))
    feed(lanes, 'call_1', 'inner', saying('inner', 'below'), 'outer')
    await vi.waitFor(() => {
      expect(lanes.message('m0', 'call_1')?.parts.at(-1)).toMatchObject({ text: 'above' })
      expect(lanes.message('outer', 'call_1')?.parts.at(-1)).toMatchObject({ text: 'below' })
    })
    expect(lanes.message('inner', 'call_1')).toBeUndefined()
  })

  it('a reader who missed the start learns from the first chunk where the agent belongs', async () => {
    const lanes = new SubAgentLanes()
    for (const chunk of [{ type: 'start', messageId: 'm1', messageMetadata: { parentMessageId: 'm0' } }, ...saying('m1', 'late').slice(1)]) {
      lanes.accept({ type: 'data-sub-agent-chunk', data: { toolCallId: 'c1', messageId: 'm1', chunk } })
    }
    await vi.waitFor(() => expect(lanes.message('m0', 'c1')?.parts.at(-1)).toMatchObject({ text: 'late' }))
  })

  it('tells those who watch this call', async () => {
    const lanes = new SubAgentLanes()
    const told = vi.fn()
    const stop = lanes.subscribe('m0', 'c1', told)
    feed(lanes, 'c1', 'm1', saying('m1', 'hello'))
    await vi.waitFor(() => expect(told).toHaveBeenCalled())
    stop()
  })

  it('survives nonsense, chunks of an older run and an early end', async () => {
    const lanes = new SubAgentLanes()
    lanes.accept({ type: 'data-plan', data: {} })
    lanes.accept({ type: 'data-sub-agent-chunk', data: null })
    lanes.accept({ type: 'data-sub-agent-end', data: { toolCallId: 'none', messageId: 'm' } })
    feed(lanes, 'c1', 'm1', [{ type: 'text-delta', id: 'unknown', delta: 'x' }])
    feed(lanes, 'c1', 'm2', saying('m2', 'again'))
    lanes.accept({ type: 'data-sub-agent-chunk', data: { toolCallId: 'c1', messageId: 'm1', chunk: { type: 'finish' } } })
    await vi.waitFor(() => expect(lanes.message('m0', 'c1')?.parts.at(-1)).toMatchObject({ text: 'again' }))
    lanes.accept({ type: 'data-sub-agent-end', data: { toolCallId: 'c1', messageId: 'm2' } })
    lanes.clear()
    expect(lanes.message('m0', 'c1')).toBeUndefined()
  })
})
