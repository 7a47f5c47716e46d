// The agents of the server: what each is for, what it may use and whom it may ask.

import { Bot, MessageSquarePlus } from 'lucide-react'
import { useEffect } from 'react'
import { addressOf, go } from '../app/router'
import { useTexts } from '../i18n'
import { Button } from '../ui/button'
import { PageHead } from '../ui/page-head'
import { useAgents, type AgentSummary } from './routes'

export function AgentsPage({ name }: { name: string | undefined }) {
  const t = useTexts()
  const agents = useAgents()
  const chosen = agents.find((agent) => agent.name === name)
  useEffect(() => {
    document.title = `${chosen?.displayName ?? t.agents} · Concertino`
  }, [chosen, t])
  return (
    <div className="page">
      <PageHead title={chosen?.displayName ?? t.agents} />
      <div className="page-body">
        {chosen ? (
          <AgentDetails agent={chosen} />
        ) : (
          <>
            <p className="quiet">{t.agentsIntro}</p>
            <AgentGroup title={t.mainAgents} agents={agents.filter((agent) => agent.kind === 'main')} />
            <AgentGroup title={t.subAgents} agents={agents.filter((agent) => agent.kind === 'sub')} />
          </>
        )}
      </div>
    </div>
  )
}

function AgentGroup({ title, agents }: { title: string; agents: readonly AgentSummary[] }) {
  const t = useTexts()
  if (agents.length === 0) return null
  return (
    <section className="group" aria-label={title}>
      <h2>{title}</h2>
      <ul className="group-body rows">
        {agents.map((agent) => (
          <li key={agent.name} className={isUsable(agent) ? undefined : 'row-off'}>
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
              {!isUsable(agent) && <span className="quiet">{agent.unavailable ?? t.agentUnavailable}</span>}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}

function AgentDetails({ agent }: { agent: AgentSummary }) {
  const t = useTexts()
  return (
    <section className="group">
      <div className="group-body">
        <p>{agent.description}</p>
        {!isUsable(agent) && <p className="notice notice-danger">{agent.unavailable ?? t.agentUnavailable}</p>}
        <dl className="facts">
          <Fact name={t.agentName}>{agent.name}</Fact>
          {agent.tools && agent.tools.length > 0 && <Fact name={t.agentTools}>{agent.tools.join(', ')}</Fact>}
          {agent.allowedSubAgents && agent.allowedSubAgents.length > 0 && <Fact name={t.agentSubAgents}>{agent.allowedSubAgents.join(', ')}</Fact>}
          {agent.maxDepth !== undefined && <Fact name={t.agentMaxDepth}>{agent.maxDepth}</Fact>}
          {agent.maxSteps !== undefined && <Fact name={t.agentMaxSteps}>{agent.maxSteps}</Fact>}
          <Fact name={t.agent}>{agent.workspace ? t.agentOwn : t.agentBuiltIn}</Fact>
        </dl>
        {agent.prompt && (
          <details>
            <summary>{t.agentPrompt}</summary>
            <pre className="data command">{agent.prompt}</pre>
          </details>
        )}
        <div className="edit-actions">
          <Button onClick={() => go({ page: 'agents' })}>{t.back}</Button>
          {agent.kind === 'main' && isUsable(agent) && (
            <Button kind="primary" onClick={() => go({ page: 'start', agent: agent.name })}>
              <MessageSquarePlus size={15} aria-hidden /> {t.agentTest}
            </Button>
          )}
        </div>
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

const isUsable = (agent: AgentSummary): boolean => agent.enabled !== false && !agent.unavailable
