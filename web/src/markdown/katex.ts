// KaTeX with its style sheet, loaded with the first formula.

import katex from 'katex'
import 'katex/dist/katex.min.css'

/** A formula that KaTeX cannot read stays as it was written; its own error mark would need an inline style. */
export function draw(text: string, place: HTMLElement, display: boolean): void {
  try {
    katex.render(text, place, {
      displayMode: display,
      throwOnError: true,
      trust: false,
      strict: 'ignore',
      maxExpand: 200,
      maxSize: 20,
    })
  } catch {
    place.textContent = text
  }
}
