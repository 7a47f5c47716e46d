// Builds `dist`, which is kept in the repository and embedded in the binary: the same sources and lock file give the
// same bytes, so names carry content hashes and nothing of the machine gets in.
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

const server = process.env.CONCERTINO_URL ?? 'http://127.0.0.1:4860'

export default defineConfig({
  plugins: [react(), onlyWoff2()],
  build: {
    target: ['chrome123', 'firefox128', 'safari17.5'],
    cssTarget: ['chrome123', 'firefox128', 'safari17.5'],
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    sourcemap: false,
  },
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
