// A server for tests: answers by method and address, and remembers what it was asked.

import { vi } from 'vitest'

export interface FakeCall {
  method: string
  path: string
  query: URLSearchParams
  body: unknown
}

type Reply = Response | object | string

export interface FakeServer {
  calls: FakeCall[]
  /** Later answers replace earlier ones: `on('GET /api/rules', () => ({ … }))`. */
  on: (route: string, reply: (call: FakeCall) => Reply | Promise<Reply>) => void
  called: (route: string) => FakeCall[]
}

export const problem = (status: number, detail: string, code = 'session_busy'): Response =>
  new Response(JSON.stringify({ title: '', status, detail, code }), { status, headers: { 'x-error-code': code, 'content-type': 'application/problem+json' } })

export function fakeServer(): FakeServer {
  const calls: FakeCall[] = []
  const replies = new Map<string, (call: FakeCall) => Reply | Promise<Reply>>()
  vi.stubGlobal('fetch', async (address: string, init: RequestInit = {}) => {
    const url = new URL(address, 'http://server')
    const call: FakeCall = { method: init.method ?? 'GET', path: url.pathname, query: url.searchParams, body: init.body ? JSON.parse(init.body as string) : undefined }
    calls.push(call)
    const reply = replies.get(`${call.method} ${call.path}`)
    const given = reply ? await reply(call) : problem(404, `nothing at ${call.path}`, 'not_found')
    if (given instanceof Response) return given
    return typeof given === 'string' ? new Response(given) : new Response(JSON.stringify(given), { headers: { 'content-type': 'application/json' } })
  })
  return { calls, on: (route, reply) => void replies.set(route, reply), called: (route) => calls.filter((call) => `${call.method} ${call.path}` === route) }
}
