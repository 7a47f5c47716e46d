// Shows generated HTML or SVG that the page hands over. Nothing of it can run: the policy of this document allows this
// script by its hash and no other, and no request at all.
'use strict'
const unwanted = 'script, base, link, meta, iframe, frame, object, embed, portal'
const say = (message) => parent.postMessage(message, '*')
const measure = () => say({ height: document.documentElement.scrollHeight })

function show(kind, text) {
  if (kind === 'svg') {
    // As a picture: what is in it has no page around it.
    const picture = new Image()
    picture.alt = ''
    picture.onload = measure
    const bytes = new TextEncoder().encode(text)
    picture.src = `data:image/svg+xml;base64,${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}`
    document.body.replaceChildren(picture)
    return
  }
  const page = new DOMParser().parseFromString(text, 'text/html')
  for (const element of page.querySelectorAll(unwanted)) element.remove()
  document.replaceChild(document.adoptNode(page.documentElement), document.documentElement)
}

addEventListener('message', (event) => {
  if (event.source !== parent) return
  const { kind, text } = event.data ?? {}
  if (typeof text !== 'string') return
  show(kind, text)
  new ResizeObserver(measure).observe(document.documentElement)
})
// A link would lead this frame away.
addEventListener('click', (event) => event.preventDefault(), true)
say({ ready: true })
