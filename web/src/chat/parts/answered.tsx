// What a person answered when a call asked.

import { useTexts } from '../../i18n'
import type { ToolPart } from '../message-types'

export function Answered({ part }: { part: ToolPart }) {
  const t = useTexts()
  if (!part.approval || !('approved' in part.approval) || part.approval.approved === undefined) return null
  return <p className="quiet">{part.approval.approved ? t.approvedBy : part.approval.reason ? t.deniedReason(part.approval.reason) : t.deniedBy}</p>
}
