// Which model answers, from the server's registry. A server without one has a single model: nothing to pick.

import { ChevronDown, Cpu } from 'lucide-react'
import { Popover } from 'radix-ui'
import { useState } from 'react'
import { formatCount, useTexts } from '../i18n'
import { FamilyIcon } from './family-icon'
import { nameOf, useModels, type ModelInfo } from './models'

export interface ModelChoice {
  id: string
  source: string
  label: string
}

interface ModelPickerProps {
  chosen: ModelChoice | undefined
  /** The model of the newest answer. */
  present: string | undefined
  onChoose: (choice: ModelChoice | undefined) => void
}

export function ModelPicker({ chosen, present, onChoose }: ModelPickerProps) {
  const t = useTexts()
  const models = useModels()
  const [open, setOpen] = useState(false)
  const [query, setQuery] = useState('')
  const label = chosen?.label ?? (present ? nameOf(present, models) : t.modelDefault)
  if (models.length === 0) return null
  const wanted = query.trim().toLowerCase()
  const found = models.filter((model) => `${model.label} ${model.id} ${model.provider} ${model.tags.join(' ')}`.toLowerCase().includes(wanted)).slice(0, 200)
  const choose = (choice: ModelChoice | undefined) => {
    onChoose(choice)
    setOpen(false)
  }
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger asChild>
        <button type="button" className="chip" title={t.chooseModel}>
          <Cpu size={14} aria-hidden />
          <span className="sr-only">{t.model}: </span>
          <span className="chip-text">{label}</span>
          <ChevronDown size={13} aria-hidden />
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="menu models" side="top" align="start" sideOffset={6} collisionPadding={8} aria-label={t.chooseModel}>
          <input className="field" type="search" placeholder={t.searchModels} aria-label={t.searchModels} value={query} onChange={(event) => setQuery(event.target.value)} />
          <ul>
            <li>
              <button type="button" className="model" aria-pressed={!chosen} onClick={() => choose(undefined)}>
                <span className="model-name">{t.modelDefault}</span>
              </button>
            </li>
            {found.map((model) => (
              <li key={`${model.provider}/${model.id}`}>
                <ModelRow model={model} chosen={chosen?.id === model.id && chosen.source === model.provider} onChoose={choose} />
              </li>
            ))}
          </ul>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  )
}

function ModelRow({ model, chosen, onChoose }: { model: ModelInfo; chosen: boolean; onChoose: (choice: ModelChoice) => void }) {
  const t = useTexts()
  return (
    <button
      type="button"
      className="model"
      aria-pressed={chosen}
      disabled={!model.available}
      onClick={() => onChoose({ id: model.id, source: model.provider, label: model.label })}
    >
      <FamilyIcon family={model.familyId} />
      <span className="model-name">{model.label}</span>
      <span className="model-facts">
        {[
          model.provider,
          model.contextWindow && t.contextWindow(formatCount(model.contextWindow)),
          model.price && t.pricePer(`$${model.price.input}`, `$${model.price.output}`),
          !model.available && t.modelUnavailable,
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
      {model.tags.length > 0 && <span className="model-tags">{model.tags.slice(0, 5).map((tag) => <span key={tag}>{tag}</span>)}</span>}
    </button>
  )
}
