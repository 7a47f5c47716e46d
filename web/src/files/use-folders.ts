// The folders of the tree: fetched when they are opened, and again when files were changed. Which are open is kept per
// chat as long as the page lives.

import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { FolderEntry, FolderList } from '../api/workspace-types'
import { fetchFolder } from './routes'

interface Folder {
  /** Stays while it is fetched again. */
  list?: FolderList
  problem?: string
}

/** One visible line of the tree. */
export type TreeRow =
  | { kind: 'entry'; path: string; entry: FolderEntry; level: number; place: number; of: number; open: boolean | undefined }
  | { kind: 'loading' | 'empty' | 'cut'; path: string; level: number }
  | { kind: 'failed'; path: string; level: number; problem: string }

export interface Folders {
  rows: TreeRow[]
  toggle: (path: string) => void
  /** Fetches every open folder again. */
  refresh: () => void
  retry: (path: string) => void
}

const openFolders = new Map<string, ReadonlySet<string>>()

/** `signal`: open folders are fetched again when it differs. */
export function useFolders(chatId: string, signal: string): Folders {
  const [folders, setFolders] = useState<ReadonlyMap<string, Folder>>(new Map())
  const [open, setOpen] = useState<ReadonlySet<string>>(() => openFolders.get(chatId) ?? new Set())
  const latest = useRef(open)
  latest.current = open
  const gone = useRef<AbortController>(undefined)

  const load = useCallback((path: string) => {
    const set = (folder: (before: Folder) => Folder) => setFolders((present) => new Map(present).set(path, folder(present.get(path) ?? {})))
    set((before) => (before.list ? { list: before.list } : {}))
    const { signal: leaving } = gone.current ?? new AbortController()
    fetchFolder(path, leaving).then(
      (list) => set(() => ({ list })),
      (error: unknown) => {
        if (!leaving.aborted) set((before) => ({ ...before, problem: error instanceof Error ? error.message : String(error) }))
      },
    )
  }, [])
  const refresh = useCallback(() => {
    for (const path of ['', ...latest.current]) load(path)
  }, [load])

  useEffect(() => {
    gone.current = new AbortController()
    refresh()
    return () => gone.current?.abort()
  }, [refresh, signal])

  const toggle = useCallback(
    (path: string) => {
      const next = new Set(latest.current)
      if (!next.delete(path)) {
        next.add(path)
        load(path)
      }
      openFolders.set(chatId, next)
      setOpen(next)
    },
    [chatId, load],
  )
  const rows = useMemo(() => rowsOf('', folders, open, 1), [folders, open])
  return { rows, toggle, refresh, retry: load }
}

export const join = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)

function rowsOf(path: string, folders: ReadonlyMap<string, Folder>, open: ReadonlySet<string>, level: number): TreeRow[] {
  const folder = folders.get(path)
  const rows: TreeRow[] = []
  if (folder?.problem !== undefined) rows.push({ kind: 'failed', path, level, problem: folder.problem })
  if (!folder?.list) return rows.length > 0 ? rows : [{ kind: 'loading', path, level }]
  const { entries, cut } = folder.list
  if (entries.length === 0) rows.push({ kind: 'empty', path, level })
  entries.forEach((entry, at) => {
    const own = join(path, entry.name)
    const isOpen = entry.kind === 'directory' ? open.has(own) : undefined
    rows.push({ kind: 'entry', path: own, entry, level, place: at + 1, of: entries.length, open: isOpen })
    if (isOpen) rows.push(...rowsOf(own, folders, open, level + 1))
  })
  if (cut) rows.push({ kind: 'cut', path, level })
  return rows
}
