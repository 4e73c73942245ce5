// Reads the counts of a test run (tests/support/reporter.ts) for .ci/run: files to run again, final failures.
//
//   files <counts>           files with a failure, a line each; none when there are too many for chance
//   merge <counts> <again>   replaces those files by their second run; prints what failed only the first time
//   counts <counts>          "<passed> <failed>"
//   failures <counts>        failed tests, a line each
import { readFileSync, writeFileSync } from 'node:fs';

/** More failed files than this are not caused by other load on the machine. */
const FEW = 8;

const [, , what, path, again] = process.argv;
const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const first = read(path);
const print = (lines) => process.stdout.write(lines.map((line) => `${line}\n`).join(''));

if (what === 'counts') print([`${first.passed} ${first.failed}`]);
else if (what === 'failures') print(first.failures);
else if (what === 'files') {
  const files = Object.keys(first.files);
  print(files.length > FEW ? [] : files);
} else if (what === 'merge') {
  const second = read(again);
  const inFiles = (line) => Object.keys(first.files).some((file) => line.startsWith(file));
  const before = Object.values(first.files).reduce(
    (sum, { passed, failed }) => ({ passed: sum.passed + passed, failed: sum.failed + failed }),
    { passed: 0, failed: 0 },
  );
  // Errors outside any test belong to no file, and stay.
  const others = first.failures.filter((line) => !inFiles(line));
  print(first.failures.filter((line) => inFiles(line) && !second.failures.includes(line)));
  const merged = {
    passed: first.passed - before.passed + second.passed,
    failed: first.failed - before.failed + second.failed,
    failures: [...others, ...second.failures],
    files: second.files,
  };
  writeFileSync(path, JSON.stringify(merged));
} else {
  process.stderr.write('usage: again.mjs files|counts|failures <counts>, or merge <counts> <again>\n');
  process.exitCode = 2;
}
