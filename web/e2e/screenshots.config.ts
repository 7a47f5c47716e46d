// Makes the pictures of docs/screenshots again: `npm run screenshots`, with CONCERTINO_BINARY set.
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { environment: 'node', include: ['e2e/screenshots.ts'], testTimeout: 120_000, hookTimeout: 60_000 } })
