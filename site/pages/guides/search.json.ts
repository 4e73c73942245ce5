// The index of the guide search: tasks that a page does, every section, every operation of the reference.
import { data, href } from '../../data.ts';
import { guides } from '../../guides.ts';
import type { Section } from '../../search/guides.ts';
import { TASKS } from '../../tracks.ts';

export function GET(): Response {
  const tasks: Section[] = TASKS.map(({ heading, at, text }) => ({
    page: heading,
    heading,
    at: href(at),
    text,
    kind: 'task',
  }));
  const written: Section[] = guides.flatMap(({ title, path, track, sections }) =>
    sections.map(({ slug, heading, text }, i) => ({
      page: title,
      heading,
      at: i === 0 ? href(path) : `${href(path)}#${slug}`,
      text,
      kind: track === 'Use the data' ? 'use' : 'other',
    })),
  );
  const operations: Section[] = data.reference.operations.map(
    ({ name, title, description, method, path, access, parameters }) => ({
      page: 'API reference',
      heading: title,
      at: `${href('/docs')}#${name}`,
      text: `${method} ${path} ${description} ${parameters.map((parameter) => parameter.name).join(' ')}`,
      kind: access === 'admin' ? 'operator' : 'operation',
    }),
  );
  return new Response(JSON.stringify([...tasks, ...written, ...operations]));
}
