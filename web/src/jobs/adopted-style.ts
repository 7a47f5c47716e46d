// Lets xterm bring its styles to a page whose content policy allows no inline styles. vite.config.ts puts these two in
// the place of `createElement('style')` and `setAttribute('style', …)`, which the policy would refuse.

const NAME = 'adopted-style'

/** Stands where a style element would: its text holds in the page as long as it is part of it. */
class AdoptedStyle extends HTMLElement {
  readonly #sheet = new CSSStyleSheet()

  override get textContent(): string {
    return ''
  }

  override set textContent(css: string) {
    this.#sheet.replaceSync(css)
  }

  connectedCallback(): void {
    document.adoptedStyleSheets = [...document.adoptedStyleSheets.filter((sheet) => sheet !== this.#sheet), this.#sheet]
  }

  disconnectedCallback(): void {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => sheet !== this.#sheet)
  }
}

export function adoptedStyle(): HTMLElement {
  if (!customElements.get(NAME)) customElements.define(NAME, AdoptedStyle)
  const element = document.createElement(NAME)
  element.hidden = true
  return element
}

export function setStyle(element: HTMLElement, css: string): void {
  element.style.cssText = css
}
