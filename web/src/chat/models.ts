// The models of the server's registry, in the shape the picker shows.

import { useEffect, useState } from 'react'
import { call } from '../api/client'

export interface ModelInfo {
  id: string
  label: string
  provider: string
  familyId: string
  tags: string[]
  contextWindow: number | undefined
  price: { input: number; output: number } | undefined
  available: boolean
}

let asked: Promise<ModelInfo[]> | undefined

export function useModels(): readonly ModelInfo[] {
  const [models, setModels] = useState<readonly ModelInfo[]>([])
  useEffect(() => {
    let wanted = true
    asked ??= call<unknown>('GET', '/api/models').then(readModels, () => [])
    void asked.then((list) => wanted && setModels(list))
    return () => {
      wanted = false
    }
  }, [])
  return models
}

export function readModels(answer: unknown): ModelInfo[] {
  const list = recordOf(answer)?.models
  if (!Array.isArray(list)) return []
  return list.flatMap((value): ModelInfo[] => {
    const model = recordOf(value)
    const id = model?.id
    if (!model || typeof id !== 'string') return []
    const price = recordOf(model.price ?? model.prices)
    const provider = text(model.provider) ?? text(model.source) ?? id.split('/')[0] ?? ''
    return [
      {
        id,
        label: text(model.label) ?? text(model.name) ?? id,
        provider,
        familyId: text(model.familyId) ?? provider,
        tags: Array.isArray(model.tags) ? model.tags.filter((tag) => typeof tag === 'string') : [],
        contextWindow: number(model.contextWindow),
        price: price && number(price.input) !== undefined && number(price.output) !== undefined ? { input: Number(price.input), output: Number(price.output) } : undefined,
        available: model.available !== false,
      },
    ]
  })
}

export function nameOf(model: string, models: readonly ModelInfo[]): string {
  return models.find((one) => `${one.provider}/${one.id}` === model || one.id === model)?.label ?? model
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
}
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
