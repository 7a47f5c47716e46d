// Stacked bars, drawn with ECharts: only the parts of it that are used, in a chunk of their own. The same figures stand in
// a table for those who do not see the picture.

import { BarChart as Bars } from 'echarts/charts'
import { GridComponent, LegendComponent, TooltipComponent } from 'echarts/components'
import { init, use as register } from 'echarts/core'
import { CanvasRenderer } from 'echarts/renderers'
import { useEffect, useRef } from 'react'
import { usePreferences } from '../app/preferences'
import { formatCount } from '../i18n'

register([Bars, GridComponent, LegendComponent, TooltipComponent, CanvasRenderer])

interface BarChartProps {
  label: string
  /** What the bars stand for. */
  dayLabel: string
  categories: string[]
  series: { name: string; values: number[] }[]
}

export function BarChart({ label, dayLabel, categories, series }: BarChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const { theme } = usePreferences()
  useEffect(() => {
    const element = place.current
    if (!element) return
    const chart = init(element)
    const draw = () => chart.setOption(optionsOf(element, categories, series))
    draw()
    const resized = new ResizeObserver(() => chart.resize())
    resized.observe(element)
    const dark = matchMedia('(prefers-color-scheme: dark)')
    dark.addEventListener('change', draw)
    return () => {
      dark.removeEventListener('change', draw)
      resized.disconnect()
      chart.dispose()
    }
    // `theme`: the colours are read from the page.
  }, [categories, series, theme])
  return (
    <>
      <div ref={place} className="chart" aria-hidden />
      <table className="sr-only">
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">{dayLabel}</th>
            {series.map((one) => (
              <th key={one.name} scope="col">{one.name}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {categories.map((category, at) =>
            series.some((one) => one.values[at]) ? (
              <tr key={category}>
                <th scope="row">{category}</th>
                {series.map((one) => (
                  <td key={one.name}>{one.values[at]}</td>
                ))}
              </tr>
            ) : null,
          )}
        </tbody>
      </table>
    </>
  )
}

function optionsOf(element: HTMLElement, categories: string[], series: BarChartProps['series']) {
  const style = getComputedStyle(element)
  const colour = (name: string) => resolved(element, style.getPropertyValue(name))
  const text = { color: colour('--ink-2'), fontFamily: style.fontFamily, fontSize: 12 }
  return {
    animation: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    animationDuration: 250,
    color: [colour('--accent'), colour('--chart-2')],
    textStyle: text,
    grid: { left: 4, right: 4, top: 34, bottom: 4, containLabel: true },
    legend: { top: 0, left: 0, icon: 'roundRect', itemWidth: 10, itemHeight: 10, textStyle: text },
    // Drawn on the canvas: a tooltip made of HTML would need inline styles.
    tooltip: { trigger: 'axis', renderMode: 'richText', axisPointer: { type: 'shadow' }, valueFormatter: (value: unknown) => formatCount(Number(value)), backgroundColor: colour('--surface'), borderColor: colour('--line'), textStyle: text },
    xAxis: { type: 'category', data: categories, axisTick: { show: false }, axisLine: { lineStyle: { color: colour('--line-strong') } }, axisLabel: { ...text, hideOverlap: true } },
    yAxis: { type: 'value', axisLabel: { ...text, formatter: (value: number) => formatCount(value) }, splitLine: { lineStyle: { color: colour('--line') } } },
    series: series.map((one) => ({ type: 'bar', stack: 'all', name: one.name, data: one.values, barMaxWidth: 26 })),
  }
}

/** `light-dark()` and other ways of writing a colour, as one that a canvas takes. */
function resolved(element: HTMLElement, value: string): string {
  const probe = document.createElement('span')
  probe.style.color = value
  element.append(probe)
  const colour = getComputedStyle(probe).color
  probe.remove()
  return colour
}
