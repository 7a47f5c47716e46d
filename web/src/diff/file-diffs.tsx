// Changes to files, one section each: what happens to the file, how many lines, and the lines themselves.

import { ChevronRight, Columns2, Maximize2, Rows2 } from 'lucide-react'
import { useState } from 'react'
import { setPreferences, usePreferences } from '../app/preferences'
import type { FileDiff } from '../api/workspace-types'
import { useTexts } from '../i18n'
import { IconButton } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { ChangeCounts, ChangeMark, ChangeWord, FilePath } from './change-mark'
import { DiffTable, type DiffLayout } from './diff-table'
import { useWide } from './use-wide'

interface FileDiffsProps {
  files: readonly FileDiff[]
  /** What is shown of each file at first, in lines. */
  first?: number
}

/** Below this width two columns of code cannot be read. */
const LEAST_WIDTH = 600
/** Of more files than these, the later ones are folded at first. */
const FIRST_OPEN = 4

export function FileDiffs(props: FileDiffsProps) {
  const t = useTexts()
  const [large, setLarge] = useState(false)
  return (
    <>
      <Diffs {...props} onLarge={() => setLarge(true)} />
      {/* What is typed in the dialog is not meant for the card behind it. */}
      <div className="apart" onKeyDown={(event) => event.stopPropagation()}>
        <Dialog kind="wide" title={t.filesChange(props.files.length)} open={large} onClose={() => setLarge(false)}>
          <div>
            <Diffs {...props} first={400} />
          </div>
        </Dialog>
      </div>
    </>
  )
}

function Diffs({ files, first, onLarge }: FileDiffsProps & { onLarge?: () => void }) {
  const t = useTexts()
  const { diffLayout } = usePreferences()
  const { ref, wide } = useWide<HTMLDivElement>(LEAST_WIDTH)
  const layout: DiffLayout = wide ? diffLayout : 'inline'
  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  return (
    <div className="diffs" ref={ref}>
      <div className="diffs-bar">
        <span>{t.filesChange(files.length)}</span>
        {files.length > 1 && <ChangeCounts added={added} removed={removed} />}
        <span className="diffs-tools">
          {wide && (
            <>
              <IconButton label={t.diffInline} size="small" aria-pressed={layout === 'inline'} onClick={() => setPreferences({ diffLayout: 'inline' })}>
                <Rows2 size={14} />
              </IconButton>
              <IconButton label={t.diffSplit} size="small" aria-pressed={layout === 'split'} onClick={() => setPreferences({ diffLayout: 'split' })}>
                <Columns2 size={14} />
              </IconButton>
            </>
          )}
          {onLarge && (
            <IconButton label={t.diffLarge} size="small" onClick={onLarge}>
              <Maximize2 size={13} />
            </IconButton>
          )}
        </span>
      </div>
      {files.map((file, at) => (
        <FileDiffSection key={`${at} ${file.path}`} file={file} layout={layout} openAtFirst={at < FIRST_OPEN} first={first ?? (files.length > 1 ? 24 : 60)} />
      ))}
    </div>
  )
}

function FileDiffSection({ file, layout, openAtFirst, first }: { file: FileDiff; layout: DiffLayout; openAtFirst: boolean; first: number }) {
  const [open, setOpen] = useState(openAtFirst)
  return (
    <section className="file-diff">
      <button type="button" className="file-diff-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={14} className={open ? 'turn turned' : 'turn'} aria-hidden />
        <ChangeMark kind={file.kind} moved={file.from !== undefined} />
        <FilePath path={file.path} {...(file.from === undefined ? {} : { from: file.from })} />
        <ChangeWord kind={file.kind} moved={file.from !== undefined} />
        <ChangeCounts added={file.added} removed={file.removed} />
      </button>
      {open && <FileDiffBody file={file} layout={layout} first={first} />}
    </section>
  )
}

/** The lines of one file, or why there are none. Where one side is empty, nothing stands beside it. */
export function FileDiffBody({ file, layout, first }: { file: FileDiff; layout: DiffLayout; first: number }) {
  const t = useTexts()
  if (file.diff === '') return <p className="diff-note">{file.from !== undefined ? t.diffMovedOnly : file.added + file.removed > 0 ? t.diffTooLong : t.diffNoText}</p>
  return (
    <>
      <DiffTable path={file.path} diff={file.diff} layout={file.kind === 'modified' ? layout : 'inline'} first={first} />
      {file.cut && <p className="diff-note">{t.diffCut}</p>}
    </>
  )
}
