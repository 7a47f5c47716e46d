// The long tests: `cargo xtask soak web`.
import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { environment: 'node', include: ['e2e/**/*.soak.ts'], hookTimeout: 60_000 } })
