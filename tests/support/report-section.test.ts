// A section of a report is replaced, and the sections of other commands stay.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { replaceSection } from './report-section.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'report-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

test('two commands write into a file that did not exist, in any order, and keep what is not theirs', () => {
  const file = join(folder(), 'reliability.md');
  replaceSection(file, 'kills', '## Kills\n\none');
  replaceSection(file, 'fleet', '## Fleet\n\n$& and $1 are text');
  replaceSection(file, 'kills', '## Kills\n\ntwo\n');
  expect(readFileSync(file, 'utf8')).toBe(
    '# Reliability\n\n<!-- kills:start -->\n## Kills\n\ntwo\n<!-- kills:end -->\n\n' +
      '<!-- fleet:start -->\n## Fleet\n\n$& and $1 are text\n<!-- fleet:end -->\n',
  );
});

test('a file that lost one marker is left alone', () => {
  const file = join(folder(), 'reliability.md');
  writeFileSync(file, '# Reliability\n\n<!-- kills:start -->\nopen\n');
  expect(() => replaceSection(file, 'kills', 'new')).toThrow('only one marker');
  expect(readFileSync(file, 'utf8')).toContain('open');
});
