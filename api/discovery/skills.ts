// Agent skills: an index with digests, and a SKILL.md for the register and for each dataset (agentskills.io,
// discovery 0.2.0).
import { createHash } from 'node:crypto';
import { lineText } from '../../packs/define/text.ts';
import { blocks } from '../render/markdown.ts';
import type { Document, View } from './document.ts';
import { callsText } from './llms.ts';
import { skillNames } from './mcp-card.ts';

interface Skill {
  name: string;
  description: string;
  text: string;
}

const INDEX = '/.well-known/agent-skills';

/** A skill with its front matter: quoted, since descriptions contain colons. */
function skill(name: string, description: string, ...parts: string[]): Skill {
  const summary = lineText(description).slice(0, 1024);
  const front = `---\nname: ${name}\ndescription: ${JSON.stringify(summary)}\n---`;
  return { name, description: summary, text: blocks(front, ...parts) };
}

function skillsOf(view: View): Skill[] {
  const { base_url, releases } = view;
  const [register = '', ...names] = skillNames(releases.map(({ pack }) => pack.id));
  const datasets = releases.map(({ pack }) => `- ${pack.title}: GET ${base_url}/v1/${pack.id}/llms.txt`);
  return [
    skill(
      register,
      `Looks up facts with their sources in ${releases.map(({ pack }) => pack.title).join(', ')}. Use it when an answer needs a value that can be checked, a count, a list or a figure over time.`,
      '# Dataset register',
      `Start with ${base_url}/llms.txt. Keys and payment: ${base_url}/auth.md.`,
      '## Datasets and their guides',
      datasets.join('\n'),
      '## The cheapest call for each question',
      callsText(view, '{dataset}'),
      'Cite with the `attribution` of the answer. Open `source_url` before a decision that costs something.',
    ),
    ...releases.map(({ pack }, at) =>
      skill(
        names[at] ?? pack.id,
        `${pack.title}: ${pack.description} Use it for questions about ${pack.keywords.slice(0, 5).join(', ')}.`,
        `# ${pack.title}`,
        `Filters and fields by their exact names: GET ${base_url}/v1/${pack.id}/llms.txt`,
        pack.guide.trim(),
        '## The cheapest call for each question',
        callsText(view, pack.id),
      ),
    ),
  ];
}

/** The index: name, description, URL and SHA-256 digest of every skill. */
export const skillsIndex: Document = {
  path: `${INDEX}/index.json`,
  title: 'Skills for agents',
  rel: 'describedby',
  content_type: 'application/json',
  text: (view) =>
    JSON.stringify({
      $schema: 'https://schemas.agentskills.io/discovery/0.2.0/schema.json',
      skills: skillsOf(view).map(({ name, description, text }) => ({
        name,
        type: 'skill-md',
        description,
        url: `${view.base_url}${INDEX}/${name}/SKILL.md`,
        digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
      })),
    }),
};

/** The SKILL.md files, one per name of `skillNames`. */
export const skillFiles: Document = {
  path: `${INDEX}/:name/SKILL.md`,
  title: 'One skill',
  content_type: 'text/markdown; charset=utf-8',
  each: ({ releases }) => skillNames(releases.map(({ pack }) => pack.id)).map((name) => ({ name })),
  text: (view, params) => skillsOf(view).find(({ name }) => name === params['name'])?.text ?? null,
};
