// Drives the real binary with a real browser. `CONCERTINO_BINARY` names the binary, `CHROMIUM` the browser.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    environment: 'node',
    include: ['e2e/**/*.e2e.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores are enough for one server, one model and one browser.
    fileParallelism: false,
  },
})
