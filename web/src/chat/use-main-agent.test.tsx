import { act, cleanup, render, renderHook, screen } from '@testing-library/react'
import { afterEach, describe, expect, it } from 'vitest'
import { someAgent } from '../agents/agents.fixture'
import type { SessionInfo } from '../api/types.gen'
import { AgentPicker } from './agent-picker'
import { useMainAgent } from './use-main-agent'

afterEach(cleanup)

const info = (agentId: string, updatedAt: number): SessionInfo => ({ id: 'c', title: null, createdAt: 1, updatedAt, messageCount: 2, status: 'idle', agentId, pinned: false })

const show = (present: SessionInfo | undefined, first?: string) =>
  renderHook(({ at }: { at: SessionInfo | undefined }) => useMainAgent(at, first), { initialProps: { at: present } })

describe('the main agent of a chat', () => {
  it('is what the server says, also after a reload and a switch made elsewhere, and then no message names one', () => {
    const { result, rerender } = show(undefined)
    expect(result.current.shown).toBeUndefined()
    rerender({ at: info('debugger', 5) })
    expect(result.current.shown).toBe('debugger')
    expect(result.current.forMessage()).toBeUndefined()
    rerender({ at: info('general', 6) })
    expect(result.current.shown).toBe('general')
    expect(result.current.forMessage()).toBeUndefined()
  })

  it('that a person chooses goes out with the next message, once the server has it with no further one', () => {
    const { result, rerender } = show(info('general', 5))
    act(() => result.current.choose('debugger'))
    expect(result.current.shown).toBe('debugger')
    // The list is looked at again before the message is written.
    rerender({ at: info('general', 6) })
    expect(result.current.shown).toBe('debugger')
    expect(result.current.forMessage()).toBe('debugger')
    rerender({ at: info('debugger', 7) })
    expect(result.current.forMessage()).toBeUndefined()
    rerender({ at: info('requirement_analyzer', 8) })
    expect(result.current.shown).toBe('requirement_analyzer')
  })

  it('is not taken back when somebody else switches right after the message', () => {
    const { result, rerender } = show(info('general', 5))
    act(() => result.current.choose('debugger'))
    expect(result.current.forMessage()).toBe('debugger')
    rerender({ at: info('requirement_analyzer', 7) })
    expect(result.current.shown).toBe('requirement_analyzer')
    expect(result.current.forMessage()).toBeUndefined()
  })

  it('is sent again after a message that was refused', () => {
    const { result, rerender } = show(info('general', 5))
    act(() => result.current.choose('debugger'))
    expect(result.current.forMessage()).toBe('debugger')
    rerender({ at: info('general', 5) })
    expect(result.current.forMessage()).toBe('debugger')
  })

  it('of a new chat is the one that it was begun with', () => {
    const { result, rerender } = show(undefined, 'reviewer')
    expect(result.current.forMessage()).toBe('reviewer')
    rerender({ at: info('reviewer', 1) })
    expect(result.current.forMessage()).toBeUndefined()
  })

  it('is named on a chip, with the agent that it stands in for', () => {
    const agents = [someAgent({ name: 'general', displayName: 'General', kind: 'main' }), someAgent({ name: 'debugger', displayName: 'Debugger', kind: 'main' })]
    render(<AgentPicker agents={agents} chosen="general" missing="reviewer" busy={false} onChoose={() => undefined} />)
    const chip = screen.getByRole('button', { name: /General/ })
    expect(chip.title).toBe('The agent “reviewer” no longer exists. This one answers in its place.')
  })
})
