// What modes, layers and rules mean, in one sentence each.

import type { ApprovalMode, CallPattern, RuleEffect, RuleLayer } from '../api/workspace-types'
import { coveredCalls } from '../chat/call-words'
import type { Texts } from '../i18n'

export function ruleSentence(rule: CallPattern & { effect: RuleEffect }, t: Texts): string {
  const calls = coveredCalls(rule, t)
  return rule.effect === 'allow' ? t.ruleAllows(calls) : rule.effect === 'ask' ? t.ruleAsks(calls) : t.ruleRefuses(calls)
}

export function effectName(effect: RuleEffect, t: Texts): string {
  return effect === 'allow' ? t.effectAllow : effect === 'ask' ? t.effectAsk : t.effectRefuse
}

export function modeName(mode: ApprovalMode, t: Texts): string {
  return mode === 'ask' ? t.modeAsk : mode === 'yolo' ? t.modeYolo : t.modeReadOnly
}

export function modeMeaning(mode: ApprovalMode, t: Texts): string {
  return mode === 'ask' ? t.modeAskMeans : mode === 'yolo' ? t.modeYoloMeans : t.modeReadOnlyMeans
}

export function layerText(layer: RuleLayer, t: Texts): [name: string, meaning: string] {
  switch (layer) {
    case 'session':
      return [t.layerSession, t.layerSessionMeans]
    case 'workspace':
      return [t.layerWorkspace, t.layerWorkspaceMeans]
    case 'server':
      return [t.layerServer, t.layerServerMeans]
    case 'built-in':
      return [t.layerBuiltIn, t.layerBuiltInMeans]
  }
}
