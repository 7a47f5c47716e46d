// The files that a chat changed: over the whole chat or run by run, each with its diff, and the ways back.

import { FileClock, Undo2 } from 'lucide-react'
import { useState } from 'react'
import type { ChangedFile, RevertRequest, RunChanges } from '../api/workspace-types'
import type { ChatMessage } from '../chat/message-types'
import { ChangeCounts } from '../diff/change-mark'
import { formatTime, useLanguage, useTexts } from '../i18n'
import { Button } from '../ui/button'
import { Segments } from '../ui/segments'
import { Spinner } from '../ui/spinner'
import { ChangedFileRow } from './changed-file-row'
import { ChangeHistory } from './change-history'
import { RevertDialog, type RevertQuestion } from './revert-dialog'
import { runTitle } from './run-title'
import type { Changes } from './use-changes'

interface ChangesPanelProps {
  chatId: string
  changes: Changes
  messages: readonly ChatMessage[]
  /** While the agent works nothing can be reverted. */
  busy: boolean
}

type View = 'files' | 'runs'

export function ChangesPanel({ chatId, changes: { list, problem, refresh }, messages, busy }: ChangesPanelProps) {
  const t = useTexts()
  const [view, setView] = useState<View>('files')
  const [question, setQuestion] = useState<RevertQuestion>()
  const failed = problem !== undefined && (
    <div className="notice notice-danger" role="alert">
      <p>
        <strong>{t.changesFailed}</strong> {problem}
      </p>
      <Button onClick={refresh}>{t.retry}</Button>
    </div>
  )
  if (!list) return <div className="panel-content">{failed || <Spinner label={t.loading} />}</div>
  const nothing = list.files.length === 0 && list.runs.length === 0
  const ask = (files: readonly ChangedFile[], request: RevertRequest, scope: RevertQuestion['scope']) => setQuestion({ files, request, scope })
  return (
    <div className="panel-content changes">
      {failed}
      {nothing ? (
        <div className="panel-nothing">
          <FileClock size={22} aria-hidden />
          <p>{t.changesNone}</p>
        </div>
      ) : (
        <>
          <div className="changes-head">
            <p role="status">
              <strong>{t.filesChanged(list.files.length)}</strong> <ChangeCounts {...total(list.files)} />
            </p>
            {list.files.length > 0 && (
              <Button disabled={busy || !list.files.some((file) => file.revertible)} onClick={() => ask(list.files, {}, 'chat')}>
                <Undo2 size={14} aria-hidden /> {t.revertAll}
              </Button>
            )}
          </div>
          {busy && <p className="quiet">{t.revertBusy}</p>}
          <Segments<View> label={t.changesView} value={view} onChange={setView} choices={[['files', t.changesByFile], ['runs', t.changesByRun]]} />
          {view === 'files' && list.files.length === 0 && <p className="quiet">{t.changesCancelled}</p>}
          {view === 'files' && <FileList chatId={chatId} files={list.files} busy={busy} onRevert={(file) => ask([file], { paths: [file.path] }, 'file')} />}
          {view === 'runs' &&
            list.runs.map((run) => (
              <Run key={run.messageId} run={run} title={runTitle(messages, run.messageId)}>
                <Button kind="quiet" disabled={busy || !run.files.some((file) => file.revertible)} onClick={() => ask(run.files, { messageId: run.messageId }, 'run')}>
                  <Undo2 size={14} aria-hidden /> {t.revertRun}
                </Button>
                <FileList
                  chatId={chatId}
                  messageId={run.messageId}
                  files={run.files}
                  busy={busy}
                  onRevert={(file) => ask([file], { messageId: run.messageId, paths: [file.path] }, 'run-file')}
                />
              </Run>
            ))}
        </>
      )}
      {list.incomplete && <p className="quiet">{t.changesIncomplete}</p>}
      {list.changes.length > 0 && <ChangeHistory changes={list.changes} />}
      <RevertDialog chatId={chatId} question={question} onClose={() => setQuestion(undefined)} onDone={refresh} />
    </div>
  )
}

interface FileListProps {
  chatId: string
  messageId?: string
  files: readonly ChangedFile[]
  busy: boolean
  onRevert: (file: ChangedFile) => void
}

function FileList({ chatId, messageId, files, busy, onRevert }: FileListProps) {
  return (
    <ul className="changed-files">
      {files.map((file) => (
        <ChangedFileRow key={file.path} chatId={chatId} messageId={messageId} file={file} busy={busy} onRevert={() => onRevert(file)} />
      ))}
    </ul>
  )
}

function Run({ run, title, children }: { run: RunChanges; title: string | undefined; children: React.ReactNode }) {
  const t = useTexts()
  const language = useLanguage()
  const time = formatTime(run.at, language)
  return (
    <section className="run-changes" aria-label={t.runAt(time)}>
      <header>
        <h3 title={title}>{title ?? t.runAt(time)}</h3>
        <span className="card-note">
          {title !== undefined && <span>{time}</span>}
          <ChangeCounts {...total(run.files)} />
        </span>
      </header>
      {children}
    </section>
  )
}

function total(files: readonly ChangedFile[]): { added: number; removed: number } {
  return files.reduce((sum, file) => ({ added: sum.added + file.added, removed: sum.removed + file.removed }), { added: 0, removed: 0 })
}
