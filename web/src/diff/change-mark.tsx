// What happens to a file, in one mark; how many lines; and its path with the name standing out.

import { FileInput, FileMinus2, FilePen, FilePlus2 } from 'lucide-react'
import type { ChangeKind } from '../api/workspace-types'
import { useTexts, type Texts } from '../i18n'

export function ChangeMark({ kind, moved = false }: { kind: ChangeKind; moved?: boolean }) {
  const t = useTexts()
  const label = moved ? t.kindMoved : kindText(kind, t)
  const props = { size: 15, role: 'img', 'aria-label': label } as const
  if (moved) return <FileInput {...props} className="mark-quiet" />
  switch (kind) {
    case 'created':
      return <FilePlus2 {...props} className="mark-ok" />
    case 'modified':
      return <FilePen {...props} className="mark-warn" />
    case 'deleted':
      return <FileMinus2 {...props} className="mark-danger" />
  }
}

/** In words, where the mark alone could be missed. */
export function ChangeWord({ kind, moved = false }: { kind: ChangeKind; moved?: boolean }) {
  const t = useTexts()
  if (kind === 'modified' && !moved) return null
  // The mark already says it to screen readers.
  return <span className="change-kind" aria-hidden>{moved ? t.kindMoved : kindText(kind, t)}</span>
}

function kindText(kind: ChangeKind, t: Texts): string {
  return kind === 'created' ? t.kindCreated : kind === 'deleted' ? t.kindDeleted : t.kindModified
}

export function ChangeCounts({ added, removed }: { added: number; removed: number }) {
  const t = useTexts()
  if (added === 0 && removed === 0) return null
  return (
    <span className="counts">
      {added > 0 && <span aria-hidden className="counts-add">+{added}</span>}
      {removed > 0 && <span aria-hidden className="counts-remove">−{removed}</span>}
      <span className="sr-only">{t.linesChanged(added, removed)}</span>
    </span>
  )
}

/** The folder may be cut at its beginning; the name never is. */
export function FilePath({ path, from }: { path: string; from?: string }) {
  const at = path.lastIndexOf('/') + 1
  return (
    <span className="path" title={from === undefined ? path : `${from} → ${path}`}>
      {from !== undefined && <span className="path-folder"><bdi>{from}</bdi></span>}
      {from !== undefined && <span aria-hidden className="path-arrow">→</span>}
      {at > 0 && <span className="path-folder"><bdi>{path.slice(0, at)}</bdi></span>}
      <span className="path-name">{path.slice(at)}</span>
    </span>
  )
}
