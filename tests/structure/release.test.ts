// What a release consists of: versions that agree, licences, and the files for its host.
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { licenceLines, versionProblems } from '../../.ci/release.ts';
import { exists, FILES, read } from './tree.ts';

test('every file of a release states the same version', () => {
  expect(versionProblems()).toEqual([]);
  const other = (path: string) => (path === 'package-lock.json' ? '{"version":"9.9.9"}' : read(path));
  expect(versionProblems(other)).toEqual([expect.stringContaining('package-lock.json has version 9.9.9')]);
});

test('licences are one line for each dependency', () => {
  const components = [
    { group: '@b', name: 'c', version: '1.0.0', licenses: [{ license: { id: 'MIT' } }] },
    { name: 'a', version: '2.0.0', licenses: [{ expression: 'MIT OR Apache-2.0' }] },
    { name: 'd', version: '3.0.0' },
  ];
  expect(licenceLines(components)).toEqual(['@b/c 1.0.0: MIT', 'a 2.0.0: MIT OR Apache-2.0', 'd 3.0.0: not stated']);
});

test('the workflow runs .ci/run with the databases of the suite, and reads the repository only', () => {
  const workflow = parse(read('.github/workflows/ci.yml'));
  expect(workflow.permissions).toEqual({ contents: 'read' });
  const { services, steps } = workflow.jobs.checks;
  expect(Object.keys(services)).toEqual(['postgres', 'redis']);
  expect(steps.at(-1)).toEqual({ run: '.ci/run' });
});

test('Renovate names packages that exist', () => {
  const { packageRules } = JSON.parse(read('renovate.json')) as { packageRules: { matchPackageNames?: string[] }[] };
  const { dependencies, optionalDependencies } = JSON.parse(read('package.json'));
  const names = packageRules.flatMap(({ matchPackageNames = [] }) => matchPackageNames);
  expect(names.filter((name) => !(name in { ...dependencies, ...optionalDependencies }))).toEqual([]);
  expect(names).toEqual(expect.arrayContaining(Object.keys(optionalDependencies)));
});

test('templates of issues are valid forms', () => {
  const templates = FILES.filter((path) => /^\.github\/ISSUE_TEMPLATE\/(?!config).*\.yml$/.test(path));
  expect(templates.length).toBe(2);
  for (const path of templates) {
    const { name, description, body } = parse(read(path));
    expect([typeof name, typeof description], path).toEqual(['string', 'string']);
    for (const { type, attributes } of body)
      expect([['textarea', 'input'].includes(type), typeof attributes.label]).toEqual([true, 'string']);
  }
  expect(exists('SECURITY.md')).toBe(true);
});
