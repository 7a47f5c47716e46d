// Asks before changes are reverted: says what happens to each file, and afterwards which files stayed as they are and why.

import { Undo2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { ChangedFile, ChangeKind, RevertRequest, RevertResult } from '../api/workspace-types'
import { ChangeMark } from '../diff/change-mark'
import { useTexts, type Texts } from '../i18n'
import { Button } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { showToast } from '../ui/toasts'
import { revertChanges } from './routes'

export interface RevertQuestion {
  files: readonly ChangedFile[]
  request: RevertRequest
  scope: 'chat' | 'run' | 'file' | 'run-file'
}

interface RevertDialogProps {
  chatId: string
  question: RevertQuestion | undefined
  onClose: () => void
  onDone: () => void
}

const MOST_LISTED = 50

export function RevertDialog({ chatId, question, onClose, onDone }: RevertDialogProps) {
  const t = useTexts()
  const [done, setDone] = useState<RevertQuestion>()
  return (
    <Dialog title={!question ? '' : done === question ? t.revertPartly : titleOf(question, t)} open={question !== undefined} onClose={onClose}>
      {question && (
        <Content
          chatId={chatId}
          question={question}
          onClose={onClose}
          onDone={() => {
            setDone(question)
            onDone()
          }}
        />
      )}
    </Dialog>
  )
}

function Content({ chatId, question, onClose, onDone }: RevertDialogProps & { question: RevertQuestion }) {
  const t = useTexts()
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [result, setResult] = useState<RevertResult>()
  const able = question.files.filter((file) => file.revertible)
  const unable = question.files.filter((file) => !file.revertible)
  useEffect(() => {
    if (!result || result.refused.length > 0) return
    showToast({ text: t.reverted(result.reverted.length) })
    onClose()
  }, [result, onClose, t])
  const revert = async () => {
    setSending(true)
    setProblem(undefined)
    try {
      setResult(await revertChanges(chatId, question.request))
      onDone()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    } finally {
      setSending(false)
    }
  }
  if (result) {
    return (
      <div className="prose revert" role="status">
        <p>{t.reverted(result.reverted.length)}</p>
        <FileReasons title={t.notReverted(result.refused.length)} files={result.refused} />
        <div className="form-actions">
          <Button kind="primary" onClick={onClose}>{t.close}</Button>
        </div>
      </div>
    )
  }
  return (
    <div className="prose revert">
      <p>{question.scope === 'chat' || question.scope === 'file' ? t.revertToChat(able.length) : t.revertToRun(able.length)}</p>
      <ul className="revert-files">
        {able.slice(0, MOST_LISTED).map((file) => (
          <li key={file.path}>
            <ChangeMark kind={file.kind} />
            <code>{file.path}</code>
            <span className="quiet">{fate(file.kind, t)}</span>
          </li>
        ))}
        {able.length > MOST_LISTED && <li className="quiet">{t.andMore(able.length - MOST_LISTED)}</li>}
      </ul>
      {unable.length > 0 && <FileReasons title={t.staysAsIs(unable.length)} files={unable} />}
      <p className="quiet">{t.revertSafe}</p>
      {problem !== undefined && (
        <p className="complaint" role="alert">
          {t.revertFailed} {problem}
        </p>
      )}
      <div className="form-actions">
        <Button kind="danger" disabled={sending || able.length === 0} onClick={() => void revert()}>
          <Undo2 size={14} aria-hidden /> {t.revertConfirm(able.length)}
        </Button>
        <Button disabled={sending} onClick={onClose}>{t.cancel}</Button>
      </div>
    </div>
  )
}

function FileReasons({ title, files }: { title: string; files: readonly { path: string; reason?: string }[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <ul className="revert-reasons">
        {files.map((file) => (
          <li key={file.path}>
            <code>{file.path}</code>
            <span className="quiet">{file.reason}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What becomes of a file that was changed in this way. */
function fate(kind: ChangeKind, t: Texts): string {
  return kind === 'created' ? t.revertCreated : kind === 'deleted' ? t.revertDeleted : t.revertModified
}

function titleOf({ scope, files }: RevertQuestion, t: Texts): string {
  if (scope === 'chat') return t.revertAllTitle
  if (scope === 'run') return t.revertRunTitle
  return t.revertFileTitle(files[0]?.path ?? '')
}
