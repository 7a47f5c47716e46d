// Settings: appearance, language, rules, tools, access, keyboard, about.

import { useEffect, useId } from 'react'
import { useTools } from '../agents/use-tools'
import { setPreferences, usePreferences, type Language, type Theme } from '../app/preferences'
import { useAbout } from '../chat/server-model'
import { FamilyIcon } from '../chat/family-icon'
import { useModels } from '../chat/models'
import { formatCount, useTexts } from '../i18n'
import { PageHead } from '../ui/page-head'
import { AccessSection } from './access-section'
import { Group } from './group'
import { RulesSection } from './rules-section'
import { ShortcutList } from './shortcut-list'

export function SettingsPage() {
  const t = useTexts()
  const { theme, language } = usePreferences()
  const about = useAbout()
  const models = useModels()
  useEffect(() => {
    document.title = `${t.settings} · Concertino`
  }, [t])
  return (
    <div className="page">
      <PageHead title={t.settings} />
      <div className="page-body">
        <Group title={t.appearance}>
          <Choice<Theme> label={t.theme} value={theme} onChange={(value) => {
            setPreferences({ theme: value })
          }} choices={[['system', t.themeSystem], ['light', t.themeLight], ['dark', t.themeDark]]} />
          <Choice<Language> label={t.languageLabel} value={language} onChange={(value) => setPreferences({ language: value })} choices={[['system', t.languageSystem], ['en', 'English'], ['zh', '中文']]} />
        </Group>
        {models.length > 0 && (
          <Group title={t.models}>
            <ul className="rows">
              {models.map((model) => (
                <li key={`${model.provider}/${model.id}`} className={model.available ? undefined : 'row-off'}>
                  <FamilyIcon family={model.familyId} />
                  <div>
                    <strong>{model.label}</strong>
                    <span className="quiet">
                      {[model.provider, model.contextWindow && t.contextWindow(formatCount(model.contextWindow)), !model.available && t.modelUnavailable].filter(Boolean).join(' · ')}
                    </span>
                  </div>
                </li>
              ))}
            </ul>
          </Group>
        )}
        <RulesSection />
        <Tools />
        <AccessSection />
        <Group title={t.shortcuts}>
          <ShortcutList />
        </Group>
        <Group title={t.about}>
          <p>{t.aboutText}</p>
          <dl className="facts">
            <div><dt>{t.version}</dt><dd>{about?.version ?? '…'}</dd></div>
            <div><dt>{t.model}</dt><dd>{about?.model ?? '…'}</dd></div>
            <div><dt>{t.server}</dt><dd>{location.host}</dd></div>
            <div><dt>{t.licence}</dt><dd>Apache-2.0</dd></div>
          </dl>
        </Group>
      </div>
    </div>
  )
}

interface ChoiceProps<T extends string> {
  label: string
  value: T
  choices: [T, string][]
  onChange: (value: T) => void
}

function Choice<T extends string>({ label, value, choices, onChange }: ChoiceProps<T>) {
  const name = useId()
  return (
    <fieldset className="choice">
      <legend>{label}</legend>
      <div className="segments">
        {choices.map(([key, text]) => (
          <label key={key} className={key === value ? 'segment segment-on' : 'segment'}>
            <input type="radio" className="sr-only" name={name} value={key} checked={key === value} onChange={() => onChange(key)} />
            {text}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

function Tools() {
  const t = useTexts()
  const tools = useTools()
  if (tools.length === 0) return null
  return (
    <Group title={t.tools}>
      <p className="quiet">{t.toolsIntro}</p>
      <ul className="rows">
        {tools.map((tool) => (
          <li key={tool.name}>
            <div>
              <code>{tool.name}</code>
              <span className="quiet">{tool.description}</span>
            </div>
          </li>
        ))}
      </ul>
    </Group>
  )
}
