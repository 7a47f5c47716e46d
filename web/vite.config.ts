// Builds `dist`, which is kept in the repository and embedded in the binary: the same sources and lock file give the
// same bytes, so names carry content hashes and nothing of the machine gets in.
import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

const server = process.env.CONCERTINO_URL ?? 'http://127.0.0.1:4860'

export default defineConfig({
  plugins: [react(), onlyWoff2(), xtermWithoutInlineStyles()],
  build: {
    target: ['chrome123', 'firefox128', 'safari17.5'],
    cssTarget: ['chrome123', 'firefox128', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    sourcemap: false,
  },
  // Prepared in advance it would not pass through the plugin.
  optimizeDeps: { exclude: ['@xterm/xterm'] },
  server: { proxy: { '/api': server, '/health': server } },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/test-setup.ts'],
  },
})

/** The style sheet of KaTeX names each font in three formats; every browser that runs this page reads the first. */
function onlyWoff2() {
  return {
    name: 'only-woff2',
    enforce: 'pre' as const,
    transform(code: string, id: string) {
      if (!id.includes('katex') || !id.includes('.css')) return null
      return code.replace(/,url\([^)]*\)format\("(?:woff|truetype)"\)/g, '').replace(/,\s*url\([^)]*\)\s*format\(["'](?:woff|truetype)["']\)/g, '')
    },
  }
}

/**
 * The content policy of the page allows no inline styles, and xterm has no way around them: it makes style elements and
 * writes style attributes. Both are replaced; another version of xterm that does it in other places stops the build.
 */
function xtermWithoutInlineStyles() {
  const helper = fileURLToPath(new URL('src/jobs/adopted-style.ts', import.meta.url))
  return {
    name: 'xterm-without-inline-styles',
    enforce: 'pre' as const,
    transform(code: string, id: string) {
      if (!/@xterm\/xterm\/lib\/xterm\.mjs$/.test(id.split('?')[0] ?? '')) return null
      const counts = { elements: 0, attributes: 0 }
      const changed = code
        .replace(/[\w.$]+\.createElement\("style"\)/g, () => (counts.elements++, 'adoptedStyle()'))
        .replace(/(\w+)\.setAttribute\("style",/g, (_whole, element: string) => (counts.attributes++, `setStyle(${element},`))
      if (counts.elements !== 3 || counts.attributes !== 1) throw new Error(`xterm has ${counts.elements} style elements and ${counts.attributes} style attributes: see vite.config.ts`)
      return { code: `import { adoptedStyle, setStyle } from ${JSON.stringify(helper)};${changed}`, map: null }
    },
  }
}
