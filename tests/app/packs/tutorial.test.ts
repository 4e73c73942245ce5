// docs/start-publisher.md and then docs/packs.md are correct: their files and commands work in order and print what they show. The commands run
// in this process; static files are not rendered (tests/app/static).
import { afterAll, expect, test } from 'vitest';
import { blocksOf, DocsPage } from '../../support/docs-page.ts';

const blocks = ['docs/start-publisher.md', 'docs/packs.md'].flatMap((path) => blocksOf(path));
const page = new DocsPage({ renders: false });
afterAll(() => page.close());

test('every block is a file or a command', () => {
  expect(blocks.length).toBeGreaterThan(10);
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
  const tutorial = commands('docs/start-publisher.md');
  const others = commands('README.md', 'Publish data');
  expect(others).toHaveLength(2);
  for (const command of others)
    expect(
      tutorial.some((each) => each.startsWith(command)),
      command,
    ).toBe(true);
});
