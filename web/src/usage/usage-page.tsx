// What was used and what it cost: a bar for each day, and who used it.

import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { call } from '../api/client'
import { formatCount, useLanguage, useTexts } from '../i18n'
import { PageHead } from '../ui/page-head'
import { Spinner } from '../ui/spinner'
import { everyDay, type Spent, type SpentGroup, type UsageReport } from './report'

const BarChart = lazy(() => import('../ui/bar-chart').then((module) => ({ default: module.BarChart })))

const RANGES = [7, 30, 90] as const

export function UsagePage() {
  const t = useTexts()
  const [days, setDays] = useState<number>(30)
  const [failed, setFailed] = useState<string>()
  const [reports, setReports] = useState<{ day: UsageReport; model: UsageReport; agent: UsageReport }>()
  const [timezone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
  const today = useMemo(() => new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(new Date()), [timezone])
  const first = useMemo(() => everyDay(today, days)[0] ?? today, [today, days])
  useEffect(() => {
    document.title = `${t.usage} · Concertino`
  }, [t])
  useEffect(() => {
    const gone = new AbortController()
    const ask = (by: string) => call<UsageReport>('GET', `/api/usage?${new URLSearchParams({ by, from: first, timezone })}`, { signal: gone.signal })
    Promise.all([ask('day'), ask('model'), ask('agent')]).then(
      ([day, model, agent]) => setReports({ day, model, agent }),
      (error: unknown) => !gone.signal.aborted && setFailed(error instanceof Error ? error.message : String(error)),
    )
    return () => gone.abort()
  }, [first, timezone])
  return (
    <div className="page">
      <PageHead title={t.usage} />
      <div className="page-body">
        <div className="page-intro">
          <p className="quiet">{t.usageIntro}</p>
          <div className="segments" role="group" aria-label={t.usageRange}>
            {RANGES.map((range) => (
              <button key={range} type="button" className={range === days ? 'segment segment-on' : 'segment'} aria-pressed={range === days} onClick={() => setDays(range)}>
                {t.lastDays(range)}
              </button>
            ))}
          </div>
        </div>
        {failed !== undefined && <p className="complaint" role="alert">{failed}</p>}
        {!reports && failed === undefined && <Spinner label={t.loading} />}
        {reports && <Reports {...reports} days={everyDay(today, days)} />}
      </div>
    </div>
  )
}

function Reports({ day, model, agent, days }: { day: UsageReport; model: UsageReport; agent: UsageReport; days: string[] }) {
  const t = useTexts()
  const language = useLanguage()
  if (day.total.calls === 0) return <p className="quiet">{t.usageNone}</p>
  const of = (key: string): Spent | undefined => day.groups.find((group) => group.key === key)
  const label = new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
  return (
    <>
      <section className="group" aria-label={t.usageTotal}>
        <div className="group-body figures">
          <Figure name={t.usageTokens} value={formatCount(day.total.usage.totalTokens)} />
          <Figure name={t.usageCalls} value={formatCount(day.total.calls)} />
          <Figure name={t.cost} value={costOf(day.total)} />
        </div>
      </section>
      <section className="group" aria-label={t.usagePerDay}>
        <h2>{t.usagePerDay}</h2>
        <div className="group-body">
          <Suspense fallback={<div className="chart"><Spinner label={t.loading} /></div>}>
            <BarChart
              label={t.usagePerDay}
              dayLabel={t.usageDay}
              categories={days.map((one) => label.format(new Date(`${one}T00:00:00Z`)))}
              series={[
                { name: t.tokensIn, values: days.map((one) => of(one)?.usage.inputTokens ?? 0) },
                { name: t.tokensOut, values: days.map((one) => of(one)?.usage.outputTokens ?? 0) },
              ]}
            />
          </Suspense>
        </div>
      </section>
      <SpentTable title={t.models} groups={model.groups} />
      <SpentTable title={t.agents} groups={agent.groups} />
    </>
  )
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div className="figure">
      <span>{value}</span>
      <span className="quiet">{name}</span>
    </div>
  )
}

function SpentTable({ title, groups }: { title: string; groups: readonly SpentGroup[] }) {
  const t = useTexts()
  if (groups.length === 0) return null
  return (
    <section className="group" aria-label={title}>
      <h2>{title}</h2>
      <div className="group-body table-body">
        <table className="figures-table">
          <thead>
            <tr>
              <th scope="col">{title}</th>
              <th scope="col">{t.usageCalls}</th>
              <th scope="col">{t.usageTokens}</th>
              <th scope="col">{t.cost}</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={group.key}>
                <th scope="row">{group.key}</th>
                <td>{formatCount(group.calls)}</td>
                <td>{formatCount(group.usage.totalTokens)}</td>
                <td>{costOf(group)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

/** Nothing is said about calls whose price is not known. */
const costOf = (spent: Spent): string => (spent.unpricedCalls === spent.calls && spent.cost === 0 ? '–' : money(spent.cost))

const money = (cost: number): string => new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: cost < 1 ? 4 : 2 }).format(cost)
