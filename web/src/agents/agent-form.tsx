// Writes a definition: checked by the server while it is written, with every complaint at its field.

import { useEffect, useRef, useState } from 'react'
import { ApiProblem } from '../api/problem'
import type { AgentCheck, AgentInfo } from '../api/types.gen'
import { useModels } from '../chat/models'
import { useTexts } from '../i18n'
import { Button } from '../ui/button'
import { complaintsAt, complaintsElsewhere, draftOf, type Draft } from './draft'
import { Complaints, FormField, PickList } from './form-field'
import { checkAgent, createAgent, replaceAgent, useAgentList } from './routes'
import { useTools } from './use-tools'

/** A pause in writing after which the server is asked. */
const PAUSE = 350
const SHOWN = ['name', 'displayName', 'description', 'systemPrompt', 'systemPromptZh', 'model', 'toolKeys', 'groups', 'allowedSubAgents', 'maxSteps', 'maxDepth']
const FINE: AgentCheck = { problems: [], warnings: [] }

interface AgentFormProps {
  first: Draft
  /** The definition that is changed; a new one otherwise. */
  stored?: AgentInfo
  onSaved: (agent: AgentInfo) => void
  onCancel: () => void
}

export function AgentForm({ first, stored, onSaved, onCancel }: AgentFormProps) {
  const t = useTexts()
  const { agents, groups, variables } = useAgentList()
  const models = useModels()
  const tools = useTools()
  const [draft, setDraft] = useState(first)
  const [checked, setChecked] = useState(FINE)
  const [touched, setTouched] = useState(false)
  const [saving, setSaving] = useState(false)
  const [failed, setFailed] = useState<string>()
  /** What somebody else stored in the meantime. */
  const [theirs, setTheirs] = useState<AgentInfo>()
  const [id] = useState(() => `agt_${crypto.randomUUID().replaceAll('-', '')}`)
  const version = useRef(stored?.version ?? 0)

  useEffect(() => {
    if (!touched) return
    const gone = new AbortController()
    const wait = setTimeout(() => {
      checkAgent(draft, gone.signal).then(setChecked, () => undefined)
    }, PAUSE)
    return () => {
      clearTimeout(wait)
      gone.abort()
    }
  }, [draft, touched])

  const change = (fields: Partial<Draft>) => {
    setDraft((present) => ({ ...present, ...fields }))
    setTouched(true)
    setFailed(undefined)
  }
  const save = async () => {
    setSaving(true)
    setFailed(undefined)
    try {
      onSaved(stored?.id ? await replaceAgent(stored.id, version.current, draft) : await createAgent(id, draft))
    } catch (error) {
      if (error instanceof ApiProblem && error.problem?.problems) setChecked({ problems: error.problem.problems, warnings: [] })
      else if (error instanceof ApiProblem && error.problem?.current) setTheirs(error.problem.current)
      else setFailed(error instanceof Error ? error.message : String(error))
    } finally {
      setSaving(false)
    }
  }
  const at = (field: string) => ({ problems: complaintsAt(field, checked.problems), warnings: complaintsAt(field, checked.warnings) })
  const others = agents.filter((agent) => agent.kind === 'sub' && agent.name !== draft.name)
  const model = draft.model ? `${draft.model.provider}/${draft.model.modelId}` : ''

  return (
    <form
      className="agent-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      {theirs && (
        <div className="notice" role="alert">
          <p>{t.agentChanged}</p>
          <Button onClick={() => {
            setDraft(draftOf(theirs))
            version.current = theirs.version
            setTheirs(undefined)
          }}>{t.takeTheirs}</Button>
          <Button onClick={() => {
            version.current = theirs.version
            setTheirs(undefined)
            void save()
          }}>{t.keepMine}</Button>
        </div>
      )}
      <div className="form-row">
        <FormField label={t.agentName} {...at('name')} hint={t.agentNameHint}>
          {(control) => <input {...control} className="field mono" value={draft.name} maxLength={64} spellCheck={false} autoComplete="off" onChange={(event) => change({ name: event.target.value })} />}
        </FormField>
        <FormField label={t.agentDisplayName} {...at('displayName')}>
          {(control) => <input {...control} className="field" value={draft.displayName} autoComplete="off" onChange={(event) => change({ displayName: event.target.value })} />}
        </FormField>
      </div>
      <FormField label={t.agentKind} {...at('kind')} hint={draft.kind === 'main' ? t.kindMainHint : t.kindSubHint}>
        {(control) => (
          <select {...control} className="field" value={draft.kind} onChange={(event) => change({ kind: event.target.value === 'main' ? 'main' : 'sub' })}>
            <option value="sub">{t.kindSub}</option>
            <option value="main">{t.kindMain}</option>
          </select>
        )}
      </FormField>
      <FormField label={t.agentDescription} {...at('description')} hint={t.agentDescriptionHint}>
        {(control) => <textarea {...control} className="field" rows={2} value={draft.description} onChange={(event) => change({ description: event.target.value })} />}
      </FormField>
      <FormField
        label={t.agentPrompt}
        {...at('systemPrompt')}
        hint={variables.length > 0 && (
          <details>
            <summary>{t.agentVariables}</summary>
            <dl className="fields">
              {variables.map((one) => (
                <div key={one.name}>
                  <dt>{`{{ ${one.name} }}`}</dt>
                  <dd>{one.about}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
      >
        {(control) => <textarea {...control} className="field" rows={9} value={draft.systemPrompt} onChange={(event) => change({ systemPrompt: event.target.value })} />}
      </FormField>
      <FormField label={t.model} {...at('model')}>
        {(control) => (
          <select {...control} className="field" value={model} onChange={(event) => {
            const [provider, ...rest] = event.target.value.split('/')
            const { model: _before, ...without } = draft
            setDraft(provider && rest.length > 0 ? { ...without, model: { provider, modelId: rest.join('/') } } : (without as Draft))
            setTouched(true)
          }}>
            <option value="">{t.agentModelSame}</option>
            {model !== '' && !models.some((one) => one.id === model) && <option value={model}>{model}</option>}
            {models.map((one) => (
              <option key={one.id} value={one.id} disabled={!one.available && one.id !== model}>
                {one.label} · {one.provider}{one.available ? '' : ` (${t.modelUnavailable})`}
              </option>
            ))}
          </select>
        )}
      </FormField>
      <PickList label={t.agentTools} {...at('toolKeys')} chosen={draft.toolKeys} onChange={(toolKeys) => change({ toolKeys })} options={[{ value: '*', about: t.allTools }, ...tools.map((tool) => ({ value: tool.name, about: firstSentence(tool.description) }))]} />
      <PickList label={t.agentGroups} {...at('groups')} chosen={draft.groups} onChange={(chosen) => change({ groups: chosen })} options={groups.filter((group) => group.available).map((group) => ({ value: group.name, about: group.tools.join(', ') }))} />
      <PickList label={t.agentSubAgents} {...at('allowedSubAgents')} chosen={draft.allowedSubAgents} onChange={(allowedSubAgents) => change({ allowedSubAgents })} options={others.map((agent) => ({ value: agent.name, about: agent.description, off: !agent.available }))} />
      <div className="form-row">
        <FormField label={t.agentMaxSteps} {...at('maxSteps')}>
          {(control) => <NumberInput control={control} value={draft.maxSteps} onChange={(maxSteps) => change({ maxSteps } as Partial<Draft>)} />}
        </FormField>
        <FormField label={t.agentMaxDepth} {...at('maxDepth')}>
          {(control) => <NumberInput control={control} value={draft.maxDepth} onChange={(maxDepth) => change({ maxDepth } as Partial<Draft>)} />}
        </FormField>
      </div>
      <Complaints problems={complaintsElsewhere(SHOWN, checked.problems)} warnings={complaintsElsewhere(SHOWN, checked.warnings)} />
      {failed !== undefined && <p className="complaint" role="alert">{t.saveFailed} {failed}</p>}
      <div className="form-actions">
        <Button kind="primary" type="submit" disabled={saving}>{stored ? t.save : t.agentCreate}</Button>
        <Button disabled={saving} onClick={onCancel}>{t.cancel}</Button>
        {checked.problems.length > 0 && <span className="complaint" role="status">{t.problemCount(checked.problems.length)}</span>}
      </div>
    </form>
  )
}

function NumberInput({ control, value, onChange }: { control: object; value: number | undefined; onChange: (value: number | undefined) => void }) {
  return <input {...control} className="field" type="number" inputMode="numeric" min={0} value={value ?? ''} onChange={(event) => onChange(event.target.value === '' ? undefined : Number(event.target.value))} />
}

const firstSentence = (text: string): string => /^[^.\n]*\.?/.exec(text)?.[0] ?? ''
