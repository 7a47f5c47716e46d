// KaTeX with its style sheet, loaded with the first formula.

import katex from 'katex'
import 'katex/dist/katex.min.css'

export function draw(text: string, place: HTMLElement, display: boolean): void {
  katex.render(text, place, {
    displayMode: display,
    throwOnError: false,
    trust: false,
    strict: 'ignore',
    maxExpand: 200,
    maxSize: 20,
  })
}
