// The files of the workspace: folders, contents, and where a content is found.

import { call, send } from '../api/client'
import { problemOf } from '../api/problem'
import type { FolderList } from '../api/workspace-types'

export const fetchFolder = (path: string, signal?: AbortSignal): Promise<FolderList> => call<FolderList>('GET', `/api/files?${new URLSearchParams({ path })}`, signal ? { signal } : {})

export const contentUrl = (path: string, download = false): string => `/api/files/content?${new URLSearchParams({ path, ...(download ? { download: '1' } : {}) })}`

/** Not more than this is read for a preview. */
export const LARGEST_TEXT = 400_000

export type Content = { kind: 'text'; text: string; cut: boolean } | { kind: 'binary' }

/** The beginning of a file as text, or that it is none. */
export async function fetchContent(path: string, signal: AbortSignal): Promise<Content> {
  const response = await send(contentUrl(path), { signal, credentials: 'same-origin' })
  if (!response.ok) throw await problemOf(response)
  const { bytes, cut } = await firstBytes(response, LARGEST_TEXT)
  return textOf(bytes, cut)
}

/** The whole file, as the browser would read it from a disk. */
export async function fetchFile(path: string): Promise<File> {
  const response = await send(contentUrl(path), { credentials: 'same-origin' })
  if (!response.ok) throw await problemOf(response)
  const blob = await response.blob()
  return new File([blob], nameOf(path), { type: blob.type.split(';')[0] ?? '' })
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

async function firstBytes(response: Response, limit: number): Promise<{ bytes: Uint8Array; cut: boolean }> {
  const reader = response.body?.getReader()
  if (!reader) return { bytes: new Uint8Array(), cut: false }
  const pieces: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    pieces.push(value)
    size += value.length
    if (size > limit) {
      await reader.cancel()
      break
    }
  }
  const bytes = new Uint8Array(Math.min(size, limit))
  let at = 0
  for (const piece of pieces) {
    const part = piece.subarray(0, bytes.length - at)
    bytes.set(part, at)
    at += part.length
  }
  return { bytes, cut: size > limit }
}

/** UTF-8, or UTF-16 with its mark; a zero byte or a broken sequence makes it binary. */
export function textOf(bytes: Uint8Array, cut: boolean): Content {
  const wide = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined
  if (!wide && bytes.includes(0)) return { kind: 'binary' }
  try {
    // A cut may have gone through a character; `stream` keeps its first bytes back instead of refusing them.
    const text = new TextDecoder(wide ?? 'utf-8', { fatal: true }).decode(bytes, { stream: cut })
    return { kind: 'text', text, cut }
  } catch {
    return { kind: 'binary' }
  }
}
