// Asks before a running command is stopped.

import { Square } from 'lucide-react'
import { useState } from 'react'
import type { Job } from '../api/workspace-types'
import { useTexts } from '../i18n'
import { Button } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { showToast } from '../ui/toasts'
import { CommandText } from './command-text'
import { stopJob } from './routes'

interface StopDialogProps {
  job: Job | undefined
  onClose: () => void
  onStopped: (job: Job) => void
}

export function StopDialog({ job, onClose, onStopped }: StopDialogProps) {
  const t = useTexts()
  return (
    <Dialog title={t.jobStopTitle} open={job !== undefined} onClose={onClose}>
      {job && <Content job={job} onClose={onClose} onStopped={onStopped} />}
    </Dialog>
  )
}

function Content({ job, onClose, onStopped }: StopDialogProps & { job: Job }) {
  const t = useTexts()
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState<string>()
  const stop = async () => {
    setSending(true)
    setProblem(undefined)
    try {
      onStopped(await stopJob(job.id))
      showToast({ text: t.jobStopped })
      onClose()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
      setSending(false)
    }
  }
  return (
    <div className="prose stop-job">
      <pre className="command" tabIndex={0}>
        <span aria-hidden>$ </span>
        <CommandText text={job.command} />
      </pre>
      <p>{t.jobStopText}</p>
      {problem !== undefined && (
        <p className="complaint" role="alert">
          {t.jobStopFailed} {problem}
        </p>
      )}
      <div className="form-actions">
        <Button kind="danger" disabled={sending} onClick={() => void stop()}>
          <Square size={13} aria-hidden /> {t.jobStop}
        </Button>
        <Button disabled={sending} onClick={onClose}>
          {t.cancel}
        </Button>
      </div>
    </div>
  )
}
