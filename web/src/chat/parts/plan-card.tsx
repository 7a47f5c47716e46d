// The plan as a checklist that follows the work.

import { Check, ListChecks } from 'lucide-react'
import { useTexts } from '../../i18n'
import type { Plan, PlanStep } from '../message-types'

export function PlanCard({ plan }: { plan: Plan }) {
  const t = useTexts()
  const done = plan.steps.filter((step) => step.status === 'completed').length
  return (
    <section className="card plan" aria-label={t.plan}>
      <header className="card-head">
        <ListChecks size={15} aria-hidden />
        <span className="card-title">{t.plan}</span>
        <span className="card-note">{t.planProgress(done, plan.steps.length)}</span>
      </header>
      <Checklist plan={plan} />
    </section>
  )
}

export function Checklist({ plan }: { plan: Plan }) {
  const t = useTexts()
  const said: Record<PlanStep['status'], string> = { pending: t.stepPending, in_progress: t.stepActive, completed: t.stepDone }
  return (
    <>
      {plan.explanation && <p className="plan-why">{plan.explanation}</p>}
      <ol className="checklist">
        {plan.steps.map((step, at) => (
          <li key={at} className={`step step-${step.status}`}>
            <span className="step-mark" aria-hidden>
              {step.status === 'completed' && <Check size={11} strokeWidth={3} />}
            </span>
            <span>{step.step}</span>
            <span className="sr-only">{said[step.status]}</span>
          </li>
        ))}
      </ol>
    </>
  )
}
