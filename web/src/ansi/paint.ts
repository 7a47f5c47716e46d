// Which class and colours a stretch of terminal text gets. Colours on the page's own background are bent until they can
// be read in both themes (styles/terminal.css); on a background of the program's choice they stay as they are, unless
// nobody could read them.

import type { Colour, Style } from './style'

export interface Paint {
  className: string | undefined
  style: Record<string, string> | undefined
}

/** The 16 named colours on a background of the program's choice, where no theme has a say. */
const NAMED = [0x1f1d24, 0xb3261e, 0x2e7d32, 0x9a6700, 0x2456c7, 0x8a2f8f, 0x00727d, 0xd9d6de, 0x6e6977, 0xe5534b, 0x57ab5a, 0xd9a620, 0x6cb6ff, 0xdc8add, 0x56d4dd, 0xffffff]
const BLACK = 0x16151a
const WHITE = 0xffffff
const LEAST_CONTRAST = 4.5

const cache = new WeakMap<Style, Paint>()

export function paintOf(style: Style): Paint {
  const known = cache.get(style)
  if (known) return known
  const paint = work(style)
  cache.set(style, paint)
  return paint
}

function work(style: Style): Paint {
  const classes: string[] = []
  const colours: Record<string, string> = {}
  for (const flag of ['bold', 'dim', 'italic', 'underline', 'strike'] as const) if (style[flag]) classes.push(`ansi-${flag}`)
  const fg = style.inverse ? style.bg : style.fg
  const bg = style.inverse ? style.fg : style.bg
  if (bg) {
    const behind = rgbOf(bg)
    const wanted = fg && rgbOf(fg)
    colours.backgroundColor = hex(behind)
    colours.color = hex(wanted !== undefined && contrast(wanted, behind) >= LEAST_CONTRAST ? wanted : contrast(WHITE, behind) > contrast(BLACK, behind) ? WHITE : BLACK)
  } else if (style.inverse) classes.push('ansi-inverse')
  else if (fg && 'named' in fg) classes.push(`ansi-${fg.named}`)
  else if (fg) {
    classes.push('ansi-rgb')
    colours['--ansi-rgb'] = hex(fg.rgb)
  }
  return { className: classes.join(' ') || undefined, style: Object.keys(colours).length > 0 ? colours : undefined }
}

const rgbOf = (colour: Colour): number => ('rgb' in colour ? colour.rgb : (NAMED[colour.named] ?? BLACK))

const hex = (rgb: number): string => `#${rgb.toString(16).padStart(6, '0')}`

function contrast(one: number, other: number): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

function luminance(rgb: number): number {
  const [red = 0, green = 0, blue = 0] = [rgb >> 16, (rgb >> 8) & 255, rgb & 255].map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
