// The agents of the server: what each is for; own ones are written, switched on and off, tried out and deleted here.

import { Bot, Copy, MessageSquarePlus, Plus, Trash2 } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { AgentInfo } from '../api/types.gen'
import { addressOf, go } from '../app/router'
import { useTexts, type Texts } from '../i18n'
import { Button } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { PageHead } from '../ui/page-head'
import { showToast } from '../ui/toasts'
import { AgentForm } from './agent-form'
import { copyOf, draftOf, emptyDraft } from './draft'
import { enableAgent, removeAgent, useAgents } from './routes'
import { TestRun } from './test-run'

interface AgentsPageProps {
  name: string | undefined
  /** A new definition: empty, or begun as a copy of this agent. */
  copy: string | undefined
}

export function AgentsPage({ name, copy }: AgentsPageProps) {
  const t = useTexts()
  const agents = useAgents()
  const chosen = agents.find((agent) => agent.name === name)
  const model = agents.find((agent) => agent.name === copy)
  const title = copy !== undefined ? t.agentNew : (chosen?.displayName ?? t.agents)
  useEffect(() => {
    document.title = `${title} · Concertino`
  }, [title])
  return (
    <div className="page">
      <PageHead title={title} />
      <div className="page-body">
        {copy !== undefined ? (
          <AgentForm
            key={model?.name ?? ''}
            first={model ? copyOf(model) : emptyDraft()}
            onSaved={(saved) => {
              showToast({ kind: 'info', text: t.agentSaved(saved.displayName) })
              go({ page: 'agents', name: saved.name }, 'replace')
            }}
            onCancel={() => go({ page: 'agents' })}
          />
        ) : chosen ? (
          <OneAgent key={chosen.id ?? chosen.name} agent={chosen} />
        ) : (
          <>
            <div className="page-intro">
              <p className="quiet">{t.agentsIntro}</p>
              <Button kind="primary" onClick={() => go({ page: 'agents', copy: '' })}>
                <Plus size={15} aria-hidden /> {t.agentNew}
              </Button>
            </div>
            <AgentGroup title={t.mainAgents} agents={agents.filter((agent) => agent.kind === 'main')} />
            <AgentGroup title={t.subAgents} agents={agents.filter((agent) => agent.kind === 'sub')} />
          </>
        )}
      </div>
    </div>
  )
}

function AgentGroup({ title, agents }: { title: string; agents: readonly AgentInfo[] }) {
  const t = useTexts()
  if (agents.length === 0) return null
  return (
    <section className="group" aria-label={title}>
      <h2>{title}</h2>
      <ul className="group-body rows">
        {agents.map((agent) => (
          <li key={`${agent.source} ${agent.name}`} className={agent.available ? undefined : 'row-off'}>
            <Bot size={18} aria-hidden className="mark-quiet" />
            <div>
              <a
                href={addressOf({ page: 'agents', name: agent.name })}
                onClick={(event) => {
                  event.preventDefault()
                  go({ page: 'agents', name: agent.name })
                }}
              >
                {agent.displayName}
              </a>
              <span className="quiet">{agent.description}</span>
              {!agent.available && <span className="quiet">{agent.enabled ? (agent.reason ?? t.agentUnavailable) : t.agentOff}</span>}
            </div>
            <span className="row-end">
              <span className="badge">{sourceText(agent, t)}</span>
              {agent.id && <EnableSwitch agent={agent} />}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function EnableSwitch({ agent }: { agent: AgentInfo }) {
  const t = useTexts()
  const [busy, setBusy] = useState(false)
  const flip = async () => {
    if (!agent.id) return
    setBusy(true)
    try {
      await enableAgent(agent.id, agent.version, !agent.enabled)
    } catch (error) {
      showToast({ kind: 'error', text: `${t.saveFailed} ${error instanceof Error ? error.message : ''}` })
    } finally {
      setBusy(false)
    }
  }
  return (
    <button type="button" role="switch" className="switch" aria-checked={agent.enabled} aria-label={t.agentEnable(agent.displayName)} disabled={busy} onClick={() => void flip()}>
      <span aria-hidden />
    </button>
  )
}

function OneAgent({ agent }: { agent: AgentInfo }) {
  const t = useTexts()
  const [asking, setAsking] = useState(false)
  const actions = (
    <div className="page-intro">
      <Button kind="quiet" onClick={() => go({ page: 'agents' })}>{t.back}</Button>
      <span className="badge">{sourceText(agent, t)}</span>
      {agent.id && <EnableSwitch agent={agent} />}
      <span className="spread" />
      <Button onClick={() => go({ page: 'agents', copy: agent.name })}>
        <Copy size={14} aria-hidden /> {t.agentCopy}
      </Button>
      {agent.available && (
        <Button onClick={() => go({ page: 'start', agent: agent.name })}>
          <MessageSquarePlus size={15} aria-hidden /> {t.agentTest}
        </Button>
      )}
      {agent.id && (
        <Button onClick={() => setAsking(true)}>
          <Trash2 size={14} aria-hidden /> {t.remove}
        </Button>
      )}
    </div>
  )
  return (
    <>
      {actions}
      {!agent.available && <p className="notice">{agent.enabled ? (agent.reason ?? t.agentUnavailable) : t.agentOff}</p>}
      {agent.id ? (
        <AgentForm
          key={agent.version}
          first={draftOf(agent)}
          stored={agent}
          onSaved={(saved) => {
            showToast({ kind: 'info', text: t.agentSaved(saved.displayName) })
            if (saved.name !== agent.name) go({ page: 'agents', name: saved.name }, 'replace')
          }}
          onCancel={() => go({ page: 'agents' })}
        />
      ) : (
        <Facts agent={agent} />
      )}
      {agent.available && (agent.id || agent.kind === 'main') && <TestRun agent={agent.name} />}
      <Dialog title={t.agentRemove(agent.displayName)} open={asking} onClose={() => setAsking(false)}>
        <div className="prose">
          <p>{t.agentRemoveText}</p>
          <div className="form-actions">
            <Button kind="danger" onClick={() => void remove(agent, t)}>{t.remove}</Button>
            <Button onClick={() => setAsking(false)}>{t.cancel}</Button>
          </div>
        </div>
      </Dialog>
    </>
  )
}

async function remove(agent: AgentInfo, t: Texts): Promise<void> {
  if (!agent.id) return
  try {
    await removeAgent(agent.id, agent.version)
    go({ page: 'agents' }, 'replace')
    showToast({ kind: 'info', text: t.removed(agent.displayName) })
  } catch (error) {
    showToast({ kind: 'error', text: `${t.saveFailed} ${error instanceof Error ? error.message : ''}` })
  }
}

function Facts({ agent }: { agent: AgentInfo }) {
  const t = useTexts()
  return (
    <section className="group">
      <div className="group-body">
        <p>{agent.description}</p>
        <dl className="facts">
          <Fact name={t.agentName}>{agent.name}</Fact>
          <Fact name={t.agentKind}>{agent.kind === 'main' ? t.kindMain : t.kindSub}</Fact>
          {agent.effectiveTools.length > 0 && <Fact name={t.agentTools}>{agent.effectiveTools.join(', ')}</Fact>}
          {agent.allowedSubAgents.length > 0 && <Fact name={t.agentSubAgents}>{agent.allowedSubAgents.join(', ')}</Fact>}
          <Fact name={t.agentMaxSteps}>{agent.maxSteps}</Fact>
          <Fact name={t.agentMaxDepth}>{agent.maxDepth}</Fact>
        </dl>
        {agent.systemPrompt && (
          <details>
            <summary>{t.agentPrompt}</summary>
            <pre className="data command" tabIndex={0}>{agent.systemPrompt}</pre>
          </details>
        )}
      </div>
    </section>
  )
}

function Fact({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function sourceText(agent: AgentInfo, t: Texts): string {
  switch (agent.source) {
    case 'system':
      return t.agentBuiltIn
    case 'file':
      return t.agentFile
    case 'database':
      return t.agentOwn
  }
}
