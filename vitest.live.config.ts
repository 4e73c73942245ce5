// The live suite: tests on the real packs, collected once into a data folder that all tests share.
import { defineConfig } from 'vitest/config';
import { alias } from './vitest.config.ts';

export default defineConfig({
  resolve: { alias },
  test: {
    include: ['**/*.live.test.ts', 'tests/live/**/*.test.ts'],
    exclude: ['node_modules/**', 'dist/**', 'data/var/**', 'coverage/**'],
    globalSetup: ['./tests/live/setup.ts'],
    reporters: ['default', './tests/support/reporter.ts'],
    testTimeout: 900_000,
    hookTimeout: 1_200_000,
    fileParallelism: false,
    allowOnly: false,
  },
});
