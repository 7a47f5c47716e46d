// One changed file: what became of it, its diff on demand, and the way back.

import { ChevronRight, Undo2 } from 'lucide-react'
import { useEffect, useId, useState } from 'react'
import { usePreferences } from '../app/preferences'
import type { ChangedFile, FileDiff } from '../api/workspace-types'
import { ChangeCounts, ChangeMark, ChangeWord, FilePath } from '../diff/change-mark'
import { FileDiffBody } from '../diff/file-diffs'
import { useWide } from '../diff/use-wide'
import { useTexts } from '../i18n'
import { Button, IconButton } from '../ui/button'
import { Spinner } from '../ui/spinner'
import { fetchDiff } from './routes'

interface ChangedFileRowProps {
  chatId: string
  /** The run; absent: the whole chat. */
  messageId?: string | undefined
  file: ChangedFile
  busy: boolean
  onRevert: () => void
}

export function ChangedFileRow({ chatId, messageId, file, busy, onRevert }: ChangedFileRowProps) {
  const t = useTexts()
  const reasonId = useId()
  const [open, setOpen] = useState(false)
  return (
    <li className="changed-file">
      <div className="card-row">
        <button type="button" className="file-diff-head" aria-expanded={open} onClick={() => setOpen(!open)}>
          <ChevronRight size={14} className={open ? 'turn turned' : 'turn'} aria-hidden />
          <ChangeMark kind={file.kind} />
          <FilePath path={file.path} />
          <ChangeWord kind={file.kind} />
          <ChangeCounts added={file.added} removed={file.removed} />
        </button>
        <IconButton label={t.revertFile(file.path)} size="small" disabled={busy || !file.revertible} aria-describedby={file.reason ? reasonId : undefined} onClick={onRevert}>
          <Undo2 size={14} />
        </IconButton>
      </div>
      {!file.revertible && file.reason && (
        <p id={reasonId} className="changed-reason">
          {t.notRevertible(file.reason)}
        </p>
      )}
      {open && <LoadedDiff chatId={chatId} messageId={messageId} file={file} />}
    </li>
  )
}

type Loaded = { state: 'loading' } | { state: 'failed'; text: string } | { state: 'ready'; diff: FileDiff }

function LoadedDiff({ chatId, messageId, file: { path, kind, added, removed } }: Pick<ChangedFileRowProps, 'chatId' | 'messageId' | 'file'>) {
  const t = useTexts()
  const { diffLayout } = usePreferences()
  const { ref, wide } = useWide<HTMLDivElement>(600)
  const [loaded, setLoaded] = useState<Loaded>({ state: 'loading' })
  const [tries, setTries] = useState(0)
  // `kind`, `added`, `removed`: the file was changed again.
  useEffect(() => {
    const gone = new AbortController()
    fetchDiff(chatId, path, messageId, gone.signal).then(
      (diff) => setLoaded({ state: 'ready', diff }),
      (error: unknown) => !gone.signal.aborted && setLoaded({ state: 'failed', text: error instanceof Error ? error.message : String(error) }),
    )
    return () => gone.abort()
  }, [chatId, path, messageId, kind, added, removed, tries])
  return (
    <div ref={ref} className="loaded-diff">
      {loaded.state === 'loading' && <Spinner label={t.loading} />}
      {loaded.state === 'failed' && (
        <p className="diff-note" role="alert">
          {loaded.text}{' '}
          <Button kind="quiet" onClick={() => setTries(tries + 1)}>
            {t.retry}
          </Button>
        </p>
      )}
      {loaded.state === 'ready' && <FileDiffBody file={loaded.diff} layout={wide ? diffLayout : 'inline'} first={200} />}
    </div>
  )
}
