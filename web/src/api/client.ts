// The only place that calls fetch for the REST routes; the chat stream goes through the transport in `chat/transport.ts`.

import { ApiProblem, problemOf } from './problem'

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

interface Options {
  body?: unknown
  signal?: AbortSignal
  /** Let the request finish although the page goes away. */
  keepalive?: boolean
}

export async function call<T>(method: Method, path: string, options: Options = {}): Promise<T> {
  const headers: Record<string, string> = { accept: 'application/problem+json, application/json' }
  if (options.body !== undefined) headers['content-type'] = 'application/json'
  const response = await send(path, {
    method,
    headers,
    credentials: 'same-origin',
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal ? { signal: options.signal } : {}),
    ...(options.keepalive ? { keepalive: true } : {}),
  })
  if (!response.ok) throw await problemOf(response)
  if (response.status === 204) return undefined as T
  try {
    return (await response.json()) as T
  } catch {
    throw new ApiProblem('unreadable', response.status, 'The server sent something that is not JSON.')
  }
}

/** A fetch whose failures are problems, and that leads to the sign-in page when the token is gone. */
export const send: typeof fetch = async (input, init) => {
  let response: Response
  try {
    response = await fetch(input, init)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiProblem('network', 0, 'The server cannot be reached.')
  }
  if (response.status === 401) window.dispatchEvent(new Event('concertino:signed-out'))
  return response
}

export const path = (strings: TemplateStringsArray, ...values: string[]): string =>
  strings.reduce((whole, text, at) => whole + text + (at < values.length ? encodeURIComponent(values[at] ?? '') : ''), '')
