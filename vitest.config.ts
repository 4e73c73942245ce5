// The test suite in four projects, each a set of paths, without network: see CONTRIBUTING.md.
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import LongestFirst from './tests/support/sequencer.ts';

/** Results must not depend on the machine's time zone, so the suite runs in an unusual one. */
process.env['TZ'] = 'Asia/Kathmandu';
/** Workers and services of tests load the same packages many times: Node caches their compiled code. */
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('node_modules/.cache/node-compile', import.meta.url));

/** Shared by both configurations: packs import 'dataset-register/pack' from any folder. */
export const alias = { 'dataset-register/pack': fileURLToPath(new URL('packs/define/index.ts', import.meta.url)) };

/** Tests that start processes, and those of pages in Chromium. */
const PROCESS = ['tests/process/**/*.test.ts'];
const BROWSER = ['tests/browser/**/*.test.ts'];
/** Tests that need the app, a release or a store. The last three folders are the databases themselves. */
const APP = ['tests/app/**/*.test.ts', 'data/{duckdb,index,state}/**/*.test.ts'];
const NEVER = ['node_modules/**', 'dist/**', 'data/var/**', 'coverage/**', '**/*.live.test.ts', 'tests/live/**'];

/** Faults of several machines, some minutes: only in `npm run test:long`. */
const LONG = process.env['TEST_LONG'] === undefined ? ['tests/process/fleet-{faults,versions}.test.ts'] : [];

/** Settings of every project. */
const test = {
  setupFiles: ['./tests/support/setup.ts'],
  // Files share their worker and its loaded modules: loading the app takes longer than most files.
  isolate: false,
  // Generous, since CI machines are slow and busy; a test that hangs still ends.
  testTimeout: 40_000,
  hookTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
};

export default defineConfig({
  resolve: { alias },
  test: {
    globalSetup: ['./tests/support/fixtures.ts'],
    reporters: ['default', './tests/support/reporter.ts'],
    // Workers wait a third of their time for processes, stores and pages: one more than cores keeps the cores
    // busy.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    allowOnly: false,
    projects: [
      {
        extends: true,
        test: {
          ...test,
          name: 'unit',
          include: ['**/*.test.ts'],
          exclude: [...NEVER, ...APP, ...PROCESS, ...BROWSER],
        },
      },
      { extends: true, test: { ...test, name: 'app', include: APP, exclude: NEVER } },
      { extends: true, test: { ...test, name: 'process', include: PROCESS, exclude: [...NEVER, ...LONG] } },
      { extends: true, test: { ...test, name: 'browser', include: BROWSER, exclude: NEVER } },
    ],
    coverage: {
      provider: 'v8',
      include: ['api/**/*.ts', 'build/**/*.ts', 'data/**/*.ts', 'packs/**/*.ts', 'config.ts'],
      exclude: ['**/*.test.ts', 'data/var/**'],
      reporter: ['text-summary', 'html'],
      reportOnFailure: true,
      // Measured at 88, 82, 86 and 90 and above: a lower value means missing tests, not noise.
      thresholds: { statements: 87, branches: 80, functions: 84, lines: 88 },
    },
  },
});
