// Which addresses of a model's text may become links or pictures.

/** A web or mail address, else nothing: `javascript:`, `data:` and friends stay text. */
export function safeLink(href: string): string | undefined {
  const clean = href.replace(/[\u0000-\u0020\u007f\u200b-\u200f\u2028-\u202e\ufeff]/g, '')
  if (clean.length > 4000) return undefined
  if (/^(?:https?:\/\/|mailto:)/i.test(clean)) return clean
  return undefined
}

/** A picture that comes with the text itself. Everything else would be a request that the model chose. */
export function inlineImage(href: string): string | undefined {
  return /^data:image\/(?:png|jpeg|gif|webp|avif);base64,[a-z0-9+/=]+$/i.test(href) ? href : undefined
}

export function hostOf(href: string): string {
  try {
    return new URL(href).host
  } catch {
    return href.slice(0, 60)
  }
}
