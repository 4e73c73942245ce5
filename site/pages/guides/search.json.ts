// The index of the guide search: every section, and every operation of the reference.
import { data, href } from '../../data.ts';
import { guides } from '../../guides.ts';

export function GET(): Response {
  const written = guides.flatMap(({ title, path, sections }) =>
    sections.map(({ slug, heading, text }) => ({ page: title, heading, at: `${href(path)}#${slug}`, text })),
  );
  const operations = data.operations.map(({ name, title, description, method, path }) => ({
    page: 'Every operation',
    heading: title,
    at: `${href('/guides/reference/')}#${name}`,
    text: `${method} ${path} ${description}`,
  }));
  return new Response(JSON.stringify([...written, ...operations]));
}
