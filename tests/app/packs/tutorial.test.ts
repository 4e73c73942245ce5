// docs/packs.md is correct: its files and commands work in order and print what the page shows. The commands run
// in this process; static files are not rendered (tests/app/static).
import { afterAll, expect, test } from 'vitest';
import { blocksOf, DocsPage } from '../../support/docs-page.ts';

const blocks = blocksOf('docs/packs.md');
const page = new DocsPage({ renders: false });
afterAll(() => page.close());

test('every block is a file or a command', () => {
  expect(blocks.length).toBeGreaterThan(12);
  expect(blocks.filter(({ language, name }) => language !== 'console' && name === null)).toEqual([]);
});

test.each(blocks.map((block) => [`${block.heading}, line ${block.line}`, block] as const))('%s', (_, block) =>
  page.run(block),
);

test('the commands of README.md are those of the tutorial', () => {
  const commands = (path: string, heading?: string) =>
    blocksOf(path)
      .filter((block) => heading === undefined || block.heading === heading)
      .flatMap(({ text }) => [...text.matchAll(/^(?:\$ )?(npm (?:run|start).*?)(?: +#.*| \\)?$/gm)])
      .map(([, command]) => command!);
  const tutorial = commands('docs/packs.md');
  const others = commands('README.md', 'Your own data');
  expect(others).toHaveLength(2);
  for (const command of others)
    expect(
      tutorial.some((each) => each.startsWith(command)),
      command,
    ).toBe(true);
});
