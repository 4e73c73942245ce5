// Mistakes of TypeScript in a pack, as Node reports them: the test runner loads modules by itself, so a process of
// its own checks the packs.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHILD_ENV } from '../support/child-env.ts';

/** What the check prints after the name of the file. */
type Message = [line: string, found: string, nearest?: string];

/** Replaces a text in a file of the skeleton. */
const MISTAKES: [name: string, file: 'pack.ts' | 'collect.ts', from: string, to: string, message: Message][] = [
  [
    'a missing comma',
    'pack.ts',
    "title: 'Skeleton',",
    "title: 'Skeleton'",
    ['line 6', "SyntaxError: Expected ',', got 'ident'"],
  ],
  [
    'a missing colon',
    'pack.ts',
    '  schedule:',
    '  schedule',
    [
      'line 86',
      'SyntaxError: Unexpected token `string literal`. Expected ... , *,  (, [, :, , ?, =, an identifier, public, protected, private, readonly, <.',
    ],
  ],
  [
    'a misspelt function',
    'pack.ts',
    'export default definePack',
    'export default definePak',
    ['line 4', 'ReferenceError: definePak is not defined', 'definePack'],
  ],
  [
    'a misspelt import',
    'pack.ts',
    'import { definePack',
    'import { definePak',
    [
      'line 2',
      "SyntaxError: The requested module 'dataset-register/pack' does not provide an export named 'definePak'",
      'definePack',
    ],
  ],
  [
    'a misspelt package',
    'pack.ts',
    'dataset-register/pack',
    'dataset-registre/pack',
    ['line 2', "Error: Cannot find package 'dataset-registre' imported from <pack>/pack.ts", 'dataset-register/pack'],
  ],
  ['a misspelt keyword', 'collect.ts', 'for (const', 'fro (const', ['line 12', 'SyntaxError: Expression expected']],
  [
    'a misspelt import of Node',
    'collect.ts',
    '{ readFile }',
    '{ readFil }',
    ['line 2', "SyntaxError: The requested module 'node:fs/promises' does not provide an export named 'readFil'"],
  ],
  [
    'a module that is not installed',
    'collect.ts',
    "'node:path'",
    "'left-pad'",
    ['line 3', "Error: Cannot find package 'left-pad' imported from <pack>/collect.ts"],
  ],
];

/** Checks the folders after its first argument, the module of the command; prints what the command prints, as JSON. */
const PROGRAM = `
  const [, command, ...folders] = process.argv;
  const { runPackCommand } = await import(command);
  const printed = [];
  for (const folder of folders) {
    const lines = [];
    await runPackCommand(['check', folder], { cwd: '.', log: (line) => lines.push(line), environment: {} });
    printed.push(lines.join('\\n').replaceAll(folder, '<pack>'));
  }
  console.log(JSON.stringify(printed));
`;

let temp: string;
let printed: string[];
beforeAll(async () => {
  temp = await mkdtemp(join(tmpdir(), 'pack-syntax-'));
  const folders: string[] = [];
  for (const [i, [, file, from, to]] of MISTAKES.entries()) {
    const folder = join(temp, `pack-${i}`);
    await cp('build/skeleton', folder, { recursive: true });
    const text = await readFile(join(folder, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`);
    await writeFile(join(folder, file), text.replace(from, to));
    folders.push(folder);
  }
  const args = ['--input-type=module', '-e', PROGRAM, resolve('build/cli/pack.ts'), ...folders];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: resolve('.'), env: CHILD_ENV });
  printed = JSON.parse(stdout) as string[];
});
afterAll(() => rm(temp, { recursive: true }));

test.each(MISTAKES.map((mistake, i) => [...mistake, i] as const))('%s', (_name, file, _from, _to, message, i) => {
  const [line, found, nearest] = message;
  const lines = [
    `1 mistake in pack <pack>\n\n<pack>/${file}: ${line}`,
    `  found     ${found}`,
    '  expected  a module that can be imported',
    ...(nearest === undefined ? [] : [`  nearest   '${nearest}'`]),
  ];
  expect(printed[i]?.split('\n')).toEqual(lines.join('\n').split('\n'));
});
