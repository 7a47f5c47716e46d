// Commands that run or have run: the routes.

import { call, path, send } from '../api/client'
import { problemOf } from '../api/problem'
import type { Job, JobInput, JobList } from '../api/workspace-types'

export const fetchJobs = async (chatId: string, signal: AbortSignal): Promise<readonly Job[]> => (await call<JobList>('GET', `/api/jobs?${new URLSearchParams({ chatId })}`, { signal })).jobs

export const fetchJob = (id: string, signal: AbortSignal): Promise<Job> => call<Job>('GET', path`/api/jobs/${id}`, { signal })

export const stopJob = (id: string): Promise<Job> => call<Job>('DELETE', path`/api/jobs/${id}`)

export const sendInput = (id: string, input: JobInput): Promise<void> => call<void>('POST', path`/api/jobs/${id}/input`, { body: input })

/** A stream of events: what is kept of the output from this byte on, then what comes. */
export async function openOutput(id: string, offset: number, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const response = await send(`${path`/api/jobs/${id}/output`}?offset=${offset}`, { signal, credentials: 'same-origin', headers: { accept: 'text/event-stream' } })
  if (!response.ok || !response.body) throw await problemOf(response)
  return response.body
}
