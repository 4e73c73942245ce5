// Order of the test files: the projects with long files first, so that the short unit tests fill both cores
// at the end.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files of one project stay together, since a worker is reused only within its project. */
const PROJECTS = ['browser', 'process', 'app', 'unit'];

/** Slowest files, slowest first. Their size does not show it. */
const LONGEST = [
  'tests/browser/site.test.ts',
  'tests/browser/owners.test.ts',
  'tests/browser/operators.test.ts',
  'tests/process/free-answers.test.ts',
  'tests/process/owners-channels.test.ts',
  'tests/process/daemon.test.ts',
  'tests/process/x402/kill.test.ts',
  'tests/app/night/pack-from-nights.test.ts',
  'tests/app/queries/differential-analysis.test.ts',
  'tests/app/queries/engines.test.ts',
  'tests/app/static/overlay-build.test.ts',
  'tests/app/records/past.test.ts',
  'tests/app/night/night-again.test.ts',
  'tests/app/static/builds.test.ts',
];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ project, moduleId }: TestSpecification) => {
      const long = LONGEST.findIndex((path) => moduleId.endsWith(path));
      return PROJECTS.indexOf(project.name) * 1000 + (long === -1 ? LONGEST.length : long);
    };
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}
