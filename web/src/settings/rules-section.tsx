// Which calls run, which ask and which are refused: the mode, the rules by layer, and the ways to add and revoke one.

import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { ListedRule, RuleLayer } from '../api/workspace-types'
import { go } from '../app/router'
import { formatTime, useLanguage, useTexts } from '../i18n'
import { useSession } from '../sessions/sessions-store'
import { Button } from '../ui/button'
import { Dialog } from '../ui/dialog'
import { Spinner } from '../ui/spinner'
import { showToast } from '../ui/toasts'
import { Group } from './group'
import { RuleForm } from './rule-form'
import { effectName, layerText, modeMeaning, modeName, ruleSentence } from './rule-words'
import { revokeRule, useRules } from './rules'

/** Strongest first. */
const LAYERS: readonly RuleLayer[] = ['session', 'workspace', 'server', 'built-in']

export function RulesSection() {
  const t = useTexts()
  const { rules, refresh } = useRules()
  const [asked, setAsked] = useState<ListedRule>()
  const [adding, setAdding] = useState(false)
  if (rules.state === 'absent') return null
  const revoke = async (rule: ListedRule) => {
    setAsked(undefined)
    try {
      await revokeRule(rule.id)
      showToast({ text: t.ruleRevoked })
    } catch (error) {
      showToast({ kind: 'error', text: `${t.revokeFailed} ${error instanceof Error ? error.message : ''}` })
    }
    refresh()
  }
  return (
    <Group title={t.rules}>
      <p className="quiet">{t.rulesIntro}</p>
      {rules.state === 'loading' && <Spinner label={t.loading} />}
      {rules.state === 'failed' && (
        <div className="notice notice-danger" role="alert">
          <p>
            <strong>{t.rulesFailed}</strong> {rules.problem}
          </p>
          <Button onClick={refresh}>{t.retry}</Button>
        </div>
      )}
      {rules.state === 'ready' && (
        <>
          <dl className="rule-mode">
            <dt>{t.ruleMode}</dt>
            <dd>
              <strong>{modeName(rules.list.mode, t)}</strong>
              <span className="quiet">{modeMeaning(rules.list.mode, t)}</span>
            </dd>
          </dl>
          {LAYERS.map((layer) => (
            <Layer key={layer} layer={layer} rules={rules.list.rules.filter((rule) => rule.layer === layer)} onRevoke={setAsked} />
          ))}
          {adding ? (
            <RuleForm
              onCancel={() => setAdding(false)}
              onAdded={() => {
                setAdding(false)
                refresh()
              }}
            />
          ) : (
            <div className="form-actions">
              <Button onClick={() => setAdding(true)}>
                <Plus size={15} aria-hidden /> {t.ruleAdd}
              </Button>
            </div>
          )}
        </>
      )}
      <Dialog title={t.ruleRevokeTitle} open={asked !== undefined} onClose={() => setAsked(undefined)}>
        {asked && (
          <div className="prose">
            <p className="rule-quote">{ruleSentence(asked, t)}</p>
            <p>{asked.effect === 'allow' ? t.ruleRevokeAllow : t.ruleRevokeOther}</p>
            <div className="form-actions">
              <Button kind="danger" onClick={() => void revoke(asked)}>{t.revoke}</Button>
              <Button onClick={() => setAsked(undefined)}>{t.cancel}</Button>
            </div>
          </div>
        )}
      </Dialog>
    </Group>
  )
}

function Layer({ layer, rules, onRevoke }: { layer: RuleLayer; rules: readonly ListedRule[]; onRevoke: (rule: ListedRule) => void }) {
  const t = useTexts()
  if (rules.length === 0 && layer !== 'workspace') return null
  const [name, meaning] = layerText(layer, t)
  return (
    <section className="rule-layer">
      <h3>{name}</h3>
      <p className="quiet">{rules.length === 0 ? t.rulesNone : meaning}</p>
      {rules.length > 0 && (
        <ul className="rows">
          {rules.map((rule) => (
            <RuleRow key={rule.id} rule={rule} onRevoke={() => onRevoke(rule)} />
          ))}
        </ul>
      )}
    </section>
  )
}

function RuleRow({ rule, onRevoke }: { rule: ListedRule; onRevoke: () => void }) {
  const t = useTexts()
  const language = useLanguage()
  const chat = useSession(rule.chatId)
  const { chatId } = rule
  return (
    <li>
      <span className={`effect effect-${rule.effect}`}>{effectName(rule.effect, t)}</span>
      <div className="rule-text">
        <span>{ruleSentence(rule, t)}</span>
        {rule.note && <span className="quiet">{rule.note}</span>}
        {(chatId !== undefined || rule.createdAt !== undefined) && (
          <span className="quiet">
            {chatId !== undefined && (
              <button type="button" className="link" onClick={() => go({ page: 'chat', id: chatId })}>
                {chat?.title ?? t.ruleOfChat}
              </button>
            )}
            {chatId !== undefined && rule.createdAt !== undefined && ' · '}
            {rule.createdAt !== undefined && t.tokenMade(formatTime(rule.createdAt, language))}
          </span>
        )}
      </div>
      {rule.revocable && (
        <span className="row-end">
          <Button aria-label={t.ruleRevokeOf(ruleSentence(rule, t))} onClick={onRevoke}>{t.revoke}</Button>
        </span>
      )}
    </li>
  )
}
