// Everything that waits for an answer, in any chat, at any depth.

import { go } from '../app/router'
import type { WaitingApproval } from '../api/workspace-types'
import { Question } from '../chat/parts/approval-card'
import { InputRequestCard } from '../chat/parts/input-request-card'
import { fieldOf, plainWords } from '../chat/parts/tool-words'
import { answerApproval, answerInput } from '../chat/routes'
import { useQuestion } from '../chat/use-question'
import { useTexts } from '../i18n'
import { Dialog } from '../ui/dialog'
import { sessions, useSessions } from './sessions-store'
import { tellTabs } from './tabs'

export function InboxDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const t = useTexts()
  const { approvals } = useSessions()
  return (
    <Dialog title={t.inbox} open={open} onClose={onClose}>
      <div className="inbox">
        {approvals.length === 0 && <p className="quiet">{t.inboxEmpty}</p>}
        {approvals.map((waiting) => (
          <Waiting key={waiting.approval.id} waiting={waiting} onLeave={onClose} />
        ))}
      </div>
    </Dialog>
  )
}

function Waiting({ waiting: { chatId, title, approval }, onLeave }: { waiting: WaitingApproval; onLeave: () => void }) {
  const t = useTexts()
  const { question, loading } = useQuestion(approval.id, approval.tool)
  return (
    <div className="inbox-item">
      <button
        type="button"
        className="link"
        onClick={() => {
          go({ page: 'chat', id: chatId })
          onLeave()
        }}
      >
        {title ?? t.untitled}
      </button>
      {question?.form ? (
        <InputRequestCard
          form={question.form}
          onAnswer={async (answer) => {
            await answerInput(approval.id, answer)
            sessions.approvalAnswered(approval.id)
            tellTabs(chatId)
            await sessions.refreshOne(chatId)
          }}
        />
      ) : (
        <Question
          title={fieldOf(approval.input, 'actionName') ?? plainWords(approval.tool)}
          tool={approval.tool}
          input={approval.input}
          asked={question}
          loading={loading}
          onAnswer={async (answer) => {
            await answerApproval(approval.id, answer)
            sessions.approvalAnswered(approval.id)
            tellTabs(chatId)
            await Promise.all([sessions.refreshOne(chatId), answer.always ? sessions.refresh() : undefined])
          }}
        />
      )}
    </div>
  )
}
