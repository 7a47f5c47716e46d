// Shows generated HTML or SVG that the page posts here. Nothing in it can run: the policy of this document allows this
// script by its hash, no other script and no request. Links are removed, so nothing in it leads to another page.
'use strict'
const unwanted = 'script, base, link, meta, iframe, frame, object, embed, portal'
const say = (message) => parent.postMessage(message, '*')
const measure = () => say({ height: document.documentElement.scrollHeight })

// The address is shown as a title, but cannot be opened: not by a click, a key, a drag or the menu.
function unlink(page) {
  for (const element of page.querySelectorAll('set, animate')) {
    if (/href$/i.test(element.getAttribute('attributeName') ?? '')) element.remove()
  }
  for (const link of page.querySelectorAll('a, area')) {
    const address = link.getAttribute('href') ?? link.getAttribute('xlink:href')
    for (const name of ['href', 'xlink:href', 'target', 'ping', 'download']) link.removeAttribute(name)
    if (address === null) continue
    link.setAttribute('role', 'link')
    link.setAttribute('title', address)
  }
  const style = page.createElement('style')
  style.textContent = ':where(a[role="link"]) { color: LinkText; text-decoration: underline }'
  page.head.prepend(style)
}

function show(kind, text) {
  if (kind === 'svg') {
    // As an image, so that the SVG cannot reach the document.
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
  unlink(page)
  document.replaceChild(document.adoptNode(page.documentElement), document.documentElement)
}

addEventListener('message', (event) => {
  if (event.source !== parent) return
  const { kind, text } = event.data ?? {}
  if (typeof text !== 'string') return
  show(kind, text)
  new ResizeObserver(measure).observe(document.documentElement)
})
// Blocks links that the steps above did not find.
for (const kind of ['click', 'auxclick', 'dragstart']) addEventListener(kind, (event) => event.preventDefault(), true)
say({ ready: true })
