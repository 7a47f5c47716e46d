// The tree of files: one line each, with the keys that trees have everywhere.

import { File as FileIcon, FileSymlink, Folder, FolderOpen, Paperclip } from 'lucide-react'
import { useRef, useState, type KeyboardEvent } from 'react'
import type { FolderEntry } from '../api/workspace-types'
import { formatSize, useTexts } from '../i18n'
import { Button } from '../ui/button'
import { Spinner } from '../ui/spinner'
import type { Folders, TreeRow } from './use-folders'

interface FileTreeProps {
  folders: Folders
  /** The file that was looked at last. */
  chosen: string | undefined
  onOpen: (path: string, entry: FolderEntry) => void
  onAttach: (path: string, entry: FolderEntry) => void
}

type EntryRow = Extract<TreeRow, { kind: 'entry' }>

export function FileTree({ folders: { rows, toggle, retry }, chosen, onOpen, onAttach }: FileTreeProps) {
  const t = useTexts()
  const place = useRef<HTMLDivElement>(null)
  const [focused, setFocused] = useState(chosen)
  const entries = rows.filter((row): row is EntryRow => row.kind === 'entry')
  const current = entries.find((row) => row.path === focused) ?? entries[0]

  const focus = (row: EntryRow | undefined) => {
    if (!row) return
    setFocused(row.path)
    place.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(row.path)}"]`)?.focus()
  }
  const activate = (row: EntryRow) => {
    setFocused(row.path)
    if (row.open !== undefined) toggle(row.path)
    else if (row.entry.kind !== 'other') onOpen(row.path, row.entry)
  }
  const keys = (event: KeyboardEvent) => {
    if (!current || event.ctrlKey || event.metaKey || event.altKey) return
    const at = entries.indexOf(current)
    switch (event.key) {
      case 'ArrowDown':
        focus(entries[at + 1])
        break
      case 'ArrowUp':
        focus(entries[at - 1])
        break
      case 'Home':
        focus(entries[0])
        break
      case 'End':
        focus(entries.at(-1))
        break
      case 'ArrowRight':
        if (current.open === false) toggle(current.path)
        else if (current.open) focus(entries[at + 1]?.level === current.level + 1 ? entries[at + 1] : undefined)
        break
      case 'ArrowLeft':
        if (current.open) toggle(current.path)
        else focus(entries.find((row) => current.path.startsWith(`${row.path}/`) && row.level === current.level - 1))
        break
      case 'Enter':
      case ' ':
        activate(current)
        break
      default: {
        if (event.key.length !== 1) return
        const letter = event.key.toLowerCase()
        const after = [...entries.slice(at + 1), ...entries.slice(0, at + 1)]
        focus(after.find((row) => row.entry.name.toLowerCase().startsWith(letter)))
      }
    }
    event.preventDefault()
  }
  return (
    <div ref={place} className="file-tree" role="tree" tabIndex={-1} aria-label={t.workspaceFiles} onKeyDown={keys}>
      {rows.map((row) => {
        const key = `${row.kind} ${row.path}`
        const indent = { paddingLeft: `${8 + (row.level - 1) * 14}px` }
        switch (row.kind) {
          case 'entry':
            return (
              <div
                key={key}
                role="treeitem"
                data-path={row.path}
                className={`tree-entry${row.entry.ignored ? ' tree-ignored' : ''}`}
                style={indent}
                tabIndex={row === current ? 0 : -1}
                aria-level={row.level}
                aria-posinset={row.place}
                aria-setsize={row.of}
                aria-expanded={row.open}
                aria-selected={row.path === chosen}
                aria-disabled={row.entry.kind === 'other' || undefined}
                title={row.entry.ignored ? t.fileIgnored(row.path) : row.path}
                onClick={() => activate(row)}
                onFocus={() => setFocused(row.path)}
              >
                <EntryIcon entry={row.entry} open={row.open} />
                <span className="tree-entry-name">{row.entry.name}</span>
                {row.entry.ignored && <span className="sr-only">{t.ignored}</span>}
                {row.entry.kind === 'file' && (
                  <>
                    <span className="tree-entry-size">{formatSize(row.entry.bytes)}</span>
                    {/* A shortcut for the mouse; with the keyboard it is in the view of the file. */}
                    <button
                      type="button"
                      tabIndex={-1}
                      aria-hidden
                      className="icon-button icon-button-small tree-entry-attach"
                      title={t.attachFile(row.entry.name)}
                      onClick={(event) => {
                        event.stopPropagation()
                        onAttach(row.path, row.entry)
                      }}
                    >
                      <Paperclip size={13} />
                    </button>
                  </>
                )}
              </div>
            )
          case 'failed':
            return (
              <div key={key} role="none" className="tree-note" style={indent}>
                <span className="complaint" role="alert">{row.problem}</span>{' '}
                <Button kind="quiet" onClick={() => retry(row.path)}>{t.retry}</Button>
              </div>
            )
          case 'loading':
            return (
              <div key={key} role="none" className="tree-note" style={indent}>
                <Spinner label={t.loading} />
              </div>
            )
          case 'empty':
          case 'cut':
            return (
              <div key={key} role="none" className="tree-note quiet" style={indent}>
                {row.kind === 'empty' ? t.folderEmpty : t.folderCut}
              </div>
            )
        }
      })}
    </div>
  )
}

function EntryIcon({ entry, open }: { entry: FolderEntry; open: boolean | undefined }) {
  const props = { size: 15, 'aria-hidden': true } as const
  if (entry.kind === 'directory') return open ? <FolderOpen {...props} className="tree-folder" /> : <Folder {...props} className="tree-folder" />
  return entry.kind === 'link' ? <FileSymlink {...props} className="mark-quiet" /> : <FileIcon {...props} className="mark-quiet" />
}
