import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { noteTiming } from './timings'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

it('a call that waited for a person shows how long it ran after the answer', () => {
  expect(noteTiming('a', true)).toBeUndefined()
  vi.advanceTimersByTime(40)
  expect(noteTiming('a', false)).toBe(40)
  vi.advanceTimersByTime(60_000)
  expect(noteTiming('a', true)).toBeUndefined()
  vi.advanceTimersByTime(700)
  expect(noteTiming('a', false)).toBe(700)
  vi.advanceTimersByTime(5000)
  expect(noteTiming('a', false)).toBe(700)
})

it('nothing is said about what was over before', () => {
  expect(noteTiming('b', false)).toBeUndefined()
})
