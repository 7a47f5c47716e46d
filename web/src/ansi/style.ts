// How a stretch of terminal text looks, and how SGR sequences change it.

/** One of the 16 named colours, or an exact one as 0xRRGGBB. */
export type Colour = { named: number } | { rgb: number }

export interface Style {
  readonly fg?: Colour
  readonly bg?: Colour
  readonly bold?: true
  readonly dim?: true
  readonly italic?: true
  readonly underline?: true
  readonly strike?: true
  readonly inverse?: true
}

export const PLAIN: Style = {}

type Flag = 'bold' | 'dim' | 'italic' | 'underline' | 'strike' | 'inverse'

const ON: Record<number, Flag> = { 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse', 9: 'strike', 21: 'underline' }
const OFF: Record<number, readonly Flag[]> = { 22: ['bold', 'dim'], 23: ['italic'], 24: ['underline'], 27: ['inverse'], 29: ['strike'] }

/** The style after `ESC [ parameters m`. What is not known changes nothing. */
export function afterSgr(before: Style, parameters: string): Style {
  // A colon separates the parts of one parameter; `4:3` is a wavy underline, `38:2::1:2:3` a colour.
  const codes = parameters.split(';').map((parameter) => parameter.split(':').map((part) => (part === '' ? 0 : Number(part))))
  let style: Style = before
  for (let at = 0; at < codes.length; at++) {
    const parts = codes[at] ?? [0]
    const code = parts[0] ?? 0
    if (code === 0 && parts.length === 1) style = PLAIN
    else if (code === 38 || code === 48) {
      const { colour, used } = parts.length > 1 ? { colour: colonColour(parts), used: 0 } : listColour(codes.slice(at + 1, at + 5).map((one) => one[0] ?? 0))
      at += used
      if (colour) style = { ...style, [code === 38 ? 'fg' : 'bg']: colour }
    } else style = withCode(style, code, parts[1])
  }
  return style
}

function withCode(style: Style, code: number, detail: number | undefined): Style {
  // `4:0` takes the underline away.
  if (code === 4 && detail === 0) return without(style, ['underline'])
  const flag = ON[code]
  if (flag) return { ...style, [flag]: true }
  const flags = OFF[code]
  if (flags) return without(style, flags)
  if (code >= 30 && code <= 37) return { ...style, fg: { named: code - 30 } }
  if (code >= 90 && code <= 97) return { ...style, fg: { named: code - 82 } }
  if (code >= 40 && code <= 47) return { ...style, bg: { named: code - 40 } }
  if (code >= 100 && code <= 107) return { ...style, bg: { named: code - 92 } }
  if (code === 39) return without(style, ['fg'])
  if (code === 49) return without(style, ['bg'])
  return style
}

function without(style: Style, names: readonly (keyof Style)[]): Style {
  const rest: { -readonly [name in keyof Style]: Style[name] } = { ...style }
  for (const name of names) delete rest[name]
  return Object.keys(rest).length === 0 ? PLAIN : rest
}

/** After 38 or 48: `5;n` or `2;r;g;b`. */
function listColour([kind, first = 0, second = 0, third = 0]: readonly number[]): { colour: Colour | undefined; used: number } {
  if (kind === 5) return { colour: indexed(first), used: 2 }
  if (kind === 2) return { colour: exact(first, second, third), used: 4 }
  return { colour: undefined, used: 0 }
}

/** `38:5:n`, `38:2:r:g:b` or `38:2:space:r:g:b`. */
function colonColour(parts: readonly number[]): Colour | undefined {
  if (parts[1] === 5) return indexed(parts[2] ?? 0)
  if (parts[1] !== 2) return undefined
  const [red = 0, green = 0, blue = 0] = parts.slice(parts.length > 5 ? 3 : 2)
  return exact(red, green, blue)
}

const STEPS = [0, 95, 135, 175, 215, 255]

/** The table of 256 colours: 16 named ones, a cube of 6 × 6 × 6, and 24 greys. */
export function indexed(index: number): Colour | undefined {
  if (!Number.isInteger(index) || index < 0 || index > 255) return undefined
  if (index < 16) return { named: index }
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10
    return exact(grey, grey, grey)
  }
  const place = index - 16
  return exact(STEPS[Math.floor(place / 36)] ?? 0, STEPS[Math.floor(place / 6) % 6] ?? 0, STEPS[place % 6] ?? 0)
}

function exact(red: number, green: number, blue: number): Colour | undefined {
  const parts = [red, green, blue]
  if (!parts.every((part) => Number.isInteger(part) && part >= 0 && part <= 255)) return undefined
  return { rgb: red * 65536 + green * 256 + blue }
}
