// The details of a chat: the plan, the agents at work, the files and what it cost. A section without content is not there.

import { Bot, ListChecks, Paperclip, ReceiptText, Square } from 'lucide-react'
import { useMemo, type ReactNode } from 'react'
import type { Usage } from '../api/types.gen'
import { formatCount, useTexts } from '../i18n'
import { IconButton } from '../ui/button'
import { previewKind } from '../ui/preview-frame'
import { agentTree, DEEPEST, type AgentNode } from './agent-tree'
import { useMadeFiles, useSpending } from './extras'
import { isToolPart, latestPlan, nestedMessage, type ChatMessage } from './message-types'
import { AgentStateMark, agentStateText } from './parts/agent-state'
import { FilePart } from './parts/file-part'
import { Checklist } from './parts/plan-card'
import { stopRun } from './routes'
import type { SubAgentLanes } from './sub-agent-lane'
import { useBeat } from './use-beat'

interface SidePanelProps {
  chatId: string
  messages: ChatMessage[]
  lanes: SubAgentLanes
  busy: boolean
  onOpenAgent: (chatId: string, name: string) => void
}

export function SidePanel({ chatId, messages, lanes, busy, onOpenAgent }: SidePanelProps) {
  const t = useTexts()
  const beat = useBeat(busy)
  const plan = useMemo(() => latestPlan(messages), [messages])
  // `beat`: the lanes move without the messages.
  // oxlint-disable-next-line react/exhaustive-deps
  const tree = useMemo(() => agentTree(messages, (message, call) => lanes.message(message, call)), [messages, lanes, beat])
  const files = useMemo(() => messages.flatMap((message) => message.parts.filter((part) => part.type === 'file')), [messages])
  const usage = useMemo(() => sumUsage(messages), [messages])
  // A chat without messages is not stored yet: the server knows nothing of it.
  const waits = busy || messages.length === 0
  const made = useMadeFiles(chatId, waits)
  const spending = useSpending(chatId, waits)
  const count = files.length + made.length
  const empty = !plan && tree.length === 0 && count === 0 && usage.totalTokens === 0
  return (
    <div className="panel-content">
      {empty && <p className="panel-empty">{t.nothingInPanel}</p>}
      {plan && (
        <Section title={t.plan} icon={<ListChecks size={15} />} note={t.planProgress(plan.steps.filter((step) => step.status === 'completed').length, plan.steps.length)}>
          <Checklist plan={plan} />
        </Section>
      )}
      {tree.length > 0 && (
        <Section title={t.agentTree} icon={<Bot size={15} />}>
          <Tree nodes={tree} onOpen={onOpenAgent} />
        </Section>
      )}
      {count > 0 && (
        <Section title={t.files} icon={<Paperclip size={15} />} note={String(count)}>
          <div className="panel-files">
            {made.map((file) => (
              <FilePart key={file.id} file={{ url: `/api/artifacts/${encodeURIComponent(file.id)}`, mediaType: previewKind(file.mediaType) ? file.mediaType : 'application/octet-stream', filename: file.name }} size={file.bytes} />
            ))}
            {files.map((file, at) => (
              <FilePart key={at} file={file} />
            ))}
          </div>
        </Section>
      )}
      {usage.totalTokens > 0 && (
        <Section title={t.usage} icon={<ReceiptText size={15} />} note={t.tokens(formatCount(usage.totalTokens))}>
          <dl className="facts">
            <Fact name={t.tokensIn} value={usage.inputTokens} />
            {usage.cachedInputTokens > 0 && <Fact name={t.tokensCached} value={usage.cachedInputTokens} sub />}
            <Fact name={t.tokensOut} value={usage.outputTokens} />
            {usage.reasoningTokens > 0 && <Fact name={t.tokensReasoning} value={usage.reasoningTokens} sub />}
            {spending !== undefined && (
              <div>
                <dt>{t.cost}</dt>
                <dd>{new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 }).format(spending)}</dd>
              </div>
            )}
          </dl>
        </Section>
      )}
    </div>
  )
}

function Section({ title, icon, note, children }: { title: string; icon: ReactNode; note?: string; children: ReactNode }) {
  return (
    <section className="panel-section">
      <header>
        {icon}
        <h3>{title}</h3>
        {note && <span className="card-note">{note}</span>}
      </header>
      {children}
    </section>
  )
}

function Fact({ name, value, sub = false }: { name: string; value: number; sub?: boolean }) {
  return (
    <div className={sub ? 'fact-sub' : undefined}>
      <dt>{name}</dt>
      <dd>{formatCount(value)}</dd>
    </div>
  )
}

function Tree({ nodes, onOpen }: { nodes: AgentNode[]; onOpen: (chatId: string, name: string) => void }) {
  const t = useTexts()
  return (
    <ul className="tree">
      {nodes.map((node) => (
        <li key={node.call}>
          <div className="tree-row">
          <button
            type="button"
            className="tree-node"
            disabled={!node.chatId}
            title={node.chatId ? t.openAgent : undefined}
            onClick={() => node.chatId && onOpen(node.chatId, node.name)}
          >
            <AgentStateMark state={node.state} />
            <span className="tree-name">{node.name || t.subAgent}</span>
            <span className="tree-facts">
              {[agentStateText(node.state, t), node.steps > 0 && t.steps(node.steps), node.toolCalls > 0 && t.toolCalls(node.toolCalls), node.tokens > 0 && t.tokens(formatCount(node.tokens))]
                .filter(Boolean)
                .join(' · ')}
            </span>
          </button>
            {node.chatId && node.state === 'running' && (
              <IconButton label={t.stopAgent} size="small" onClick={() => node.chatId && void stopRun(node.chatId).catch(() => undefined)}>
                <Square size={12} />
              </IconButton>
            )}
          </div>
          {node.children.length > 0 && <Tree nodes={node.children} onOpen={onOpen} />}
        </li>
      ))}
    </ul>
  )
}

export function sumUsage(messages: readonly ChatMessage[]): Usage {
  const sum: Usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 }
  for (const message of messages) addUsage(sum, message, 0)
  return sum
}

/** A message says what its own agent used; those that worked for it say it themselves. */
function addUsage(sum: Usage, { metadata, parts }: ChatMessage, depth: number): void {
  if (metadata?.usage) {
    sum.inputTokens += metadata.usage.inputTokens
    sum.outputTokens += metadata.usage.outputTokens
    sum.totalTokens += metadata.usage.totalTokens
    sum.cachedInputTokens += metadata.usage.cachedInputTokens
    sum.reasoningTokens += metadata.usage.reasoningTokens
  }
  if (depth >= DEEPEST) return
  for (const part of parts) {
    const inner = isToolPart(part) ? nestedMessage(part) : undefined
    if (inner) addUsage(sum, inner, depth + 1)
  }
}
