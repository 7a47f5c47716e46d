// Files that go with a message: read in the browser, bounded, as `data:` addresses as the protocol wants them.

import type { FileUIPart } from 'ai'

export const LARGEST_FILE = 12_000_000
export const MOST_FILES = 10

export type Refusal = { name: string; why: 'size' | 'count' }

export async function readFiles(files: readonly File[], present: number): Promise<{ parts: FileUIPart[]; refused: Refusal[] }> {
  const refused: Refusal[] = []
  const accepted: File[] = []
  for (const file of files) {
    if (file.size > LARGEST_FILE) refused.push({ name: file.name, why: 'size' })
    else if (present + accepted.length >= MOST_FILES) refused.push({ name: file.name, why: 'count' })
    else accepted.push(file)
  }
  const parts = await Promise.all(accepted.map(read))
  return { parts, refused }
}

function read(file: File): Promise<FileUIPart> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () =>
      resolve({ type: 'file', mediaType: file.type || 'application/octet-stream', filename: file.name, url: String(reader.result) }),
    )
    reader.addEventListener('error', () => reject(reader.error ?? new Error(file.name)))
    reader.readAsDataURL(file)
  })
}
