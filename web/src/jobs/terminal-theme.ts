// The page's colours as the terminal wants them: worked out by the browser, because they depend on the theme.

import type { ITheme } from '@xterm/xterm'

const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white', 'brightBlack', 'brightRed', 'brightGreen', 'brightYellow', 'brightBlue', 'brightMagenta', 'brightCyan', 'brightWhite'] as const

export function terminalTheme(element: HTMLElement): ITheme {
  const probe = document.createElement('span')
  element.append(probe)
  const colour = (variable: string): string => {
    probe.style.color = `var(${variable})`
    return getComputedStyle(probe).color
  }
  const theme: ITheme = {
    background: colour('--code'),
    foreground: colour('--ink'),
    cursor: colour('--accent'),
    cursorAccent: colour('--code'),
    selectionBackground: colour('--terminal-selection'),
    scrollbarSliderBackground: colour('--line-strong'),
    scrollbarSliderHoverBackground: colour('--ink-3'),
    scrollbarSliderActiveBackground: colour('--ink-3'),
  }
  NAMES.forEach((name, at) => {
    theme[name] = colour(`--ansi-${at}`)
  })
  probe.remove()
  return theme
}
