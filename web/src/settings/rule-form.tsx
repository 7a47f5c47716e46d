// A new rule for the workspace: what it does, for which tools, on which files. Says in one sentence what it will mean.

import { useId, useState, type FormEvent } from 'react'
import { useTools } from '../agents/use-tools'
import type { NewRule, RuleEffect } from '../api/workspace-types'
import { useTexts } from '../i18n'
import { Button } from '../ui/button'
import { Segments } from '../ui/segments'
import { effectName, ruleSentence } from './rule-words'
import { addRule } from './rules'

const EFFECTS: readonly RuleEffect[] = ['allow', 'ask', 'refuse']

export function RuleForm({ onAdded, onCancel }: { onAdded: () => void; onCancel: () => void }) {
  const t = useTexts()
  const id = useId()
  const known = useTools()
  const [effect, setEffect] = useState<RuleEffect>('allow')
  const [tools, setTools] = useState('')
  const [path, setPath] = useState('')
  const [note, setNote] = useState('')
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState<string>()
  const rule = ruleOf(effect, tools, path, note)
  // A rule that allows everything is a mode, and the operator's to choose.
  const tooWide = effect === 'allow' && rule.tools === undefined && rule.path === undefined

  const send = async (event: FormEvent) => {
    event.preventDefault()
    if (tooWide || sending) return
    setSending(true)
    setProblem(undefined)
    try {
      await addRule(rule)
      onAdded()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
      setSending(false)
    }
  }
  return (
    <form className="rule-form" aria-label={t.ruleAdd} onSubmit={(event) => void send(event)}>
      <div className="form-field">
        <span className="form-label">{t.ruleEffect}</span>
        <Segments<RuleEffect> label={t.ruleEffect} value={effect} onChange={setEffect} choices={EFFECTS.map((one) => [one, effectName(one, t)] as const)} />
      </div>
      <div className="form-field">
        <label htmlFor={`${id}-tools`}>{t.ruleTools}</label>
        <input id={`${id}-tools`} className="field mono" list={`${id}-known`} value={tools} placeholder="write-file, edit-file" spellCheck={false} autoComplete="off" onChange={(event) => setTools(event.target.value)} />
        <datalist id={`${id}-known`}>
          {known.map((tool) => (
            <option key={tool.name} value={withLast(tools, tool.name)}>{tool.name}</option>
          ))}
        </datalist>
        <div className="form-hint">{t.ruleToolsHint}</div>
      </div>
      <div className="form-field">
        <label htmlFor={`${id}-path`}>{t.rulePath}</label>
        <input id={`${id}-path`} className="field mono" value={path} placeholder="src/**" spellCheck={false} autoComplete="off" onChange={(event) => setPath(event.target.value)} />
        <div className="form-hint">{t.rulePathHint}</div>
      </div>
      <div className="form-field">
        <label htmlFor={`${id}-note`}>{t.ruleNote}</label>
        <input id={`${id}-note`} className="field" value={note} onChange={(event) => setNote(event.target.value)} />
      </div>
      <p className="rule-quote" role="status">
        {tooWide ? t.ruleTooWide : ruleSentence(rule, t)}
      </p>
      {problem !== undefined && (
        <p className="complaint" role="alert">
          {t.ruleNotAdded} {problem}
        </p>
      )}
      <div className="form-actions">
        <Button kind="primary" type="submit" disabled={sending || tooWide}>{t.ruleAddIt}</Button>
        <Button disabled={sending} onClick={onCancel}>{t.cancel}</Button>
      </div>
    </form>
  )
}

export function ruleOf(effect: RuleEffect, tools: string, path: string, note: string): NewRule {
  const names = tools.split(/[\s,，、]+/).filter(Boolean)
  return {
    effect,
    ...(names.length > 0 ? { tools: names } : {}),
    ...(path.trim() ? { path: path.trim() } : {}),
    ...(note.trim() ? { note: note.trim() } : {}),
  }
}

/** What is written, with its last word replaced by a suggestion. */
const withLast = (written: string, name: string): string => written.replace(/[^\s,，、]*$/, name)
