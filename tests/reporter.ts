// Prints why each skipped test was skipped, and writes the counts that .ci/run adds up.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export default class HouseReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0 };
    const skipped: string[] = [];
    for (const module of modules) {
      // A module that fails to load or to set up has no failed test; it still failed.
      const failed = [...module.children.allTests('failed')].length;
      if (module.state() === 'failed' && failed === 0) counts.failed += 1;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'pending') continue;
        counts[result.state] += 1;
        if (result.state === 'skipped') skipped.push(skipLine(module, test, result.note));
      }
    }
    if (skipped.length > 0 && skipped.length <= 100) console.log(`\nSkipped:\n${skipped.join('\n')}`);
    const file = process.env['TEST_COUNTS_FILE'];
    if (file) writeFileSync(file, JSON.stringify(counts));
  }
}

function skipLine(module: TestModule, test: TestCase, note: string | undefined): string {
  return `  ${relative('.', module.moduleId)} > ${test.fullName}: ${note ?? 'not selected'}`;
}
