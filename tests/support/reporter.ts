// Prints the slowest files and the reason of each skipped test, and writes the counts and failures that
// .ci/run adds up (.ci/again.mjs).
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Number of slowest files in the list, printed after a run of more files. */
const SLOWEST = 20;

export default class HouseReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0 };
    const failures = unhandled.map((error) => `outside any test: ${firstLine(error)}`);
    const skipped: string[] = [];
    /** Counts of the files with a failure. */
    const files: Record<string, { passed: number; failed: number }> = {};
    for (const module of modules) {
      const path = relative('.', module.moduleId);
      const before = { ...counts };
      // A module that fails to load or in its set-up has no failed test, but it failed.
      const failed = [...module.children.allTests('failed')].length;
      if (module.state() === 'failed' && failed === 0) {
        counts.failed += 1;
        failures.push(`${path}: ${firstLine(module.errors()[0])}`);
      }
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'pending') continue;
        counts[result.state] += 1;
        if (result.state === 'skipped') skipped.push(skipLine(module, test, result.note));
        if (result.state === 'failed') failures.push(`${path} > ${test.fullName}: ${firstLine(result.errors[0])}`);
      }
      if (counts.failed > before.failed)
        files[path] = { passed: counts.passed - before.passed, failed: counts.failed - before.failed };
    }
    if (modules.length > SLOWEST) console.log(`\nSlowest files:\n${slowest(modules).join('\n')}`);
    if (skipped.length > 0 && skipped.length <= 100) console.log(`\nSkipped:\n${skipped.join('\n')}`);
    const file = process.env['TEST_COUNTS_FILE'];
    if (file) writeFileSync(file, JSON.stringify({ ...counts, failures, files }));
  }
}

/** ` 12.3 s path` for the slowest files: import, set-up and tests. */
function slowest(modules: readonly TestModule[]): string[] {
  return modules
    .map((module) => {
      const { collectDuration, setupDuration, prepareDuration, duration } = module.diagnostic();
      return { path: relative('.', module.moduleId), ms: collectDuration + setupDuration + prepareDuration + duration };
    })
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, SLOWEST)
    .map(({ path, ms }) => `${(ms / 1000).toFixed(1).padStart(8)} s  ${path}`);
}

function firstLine(error: { message?: string } | undefined): string {
  return (error?.message ?? 'failed without an error').split('\n', 1)[0]?.slice(0, 300) ?? '';
}

function skipLine(module: TestModule, test: TestCase, note: string | undefined): string {
  return `  ${relative('.', module.moduleId)} > ${test.fullName}: ${note ?? 'not selected'}`;
}
