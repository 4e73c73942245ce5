// Tokens of the same search of 20 records as Markdown and as JSON, by a real tokenizer.
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { drawValues } from '../draw.ts';
import { requestOnce } from '../measure.ts';
import { OPERATOR_HEADERS, startService } from '../service.ts';
import type { Subject } from '../subject.ts';

export interface Tokens {
  dataset: string;
  searches: number;
  /** Tokens of all searches together. */
  json: number;
  markdown: number;
  /** The largest ratio of Markdown to JSON of one search. */
  worst: number;
}

const SEARCHES = 10;

export async function benchTokens(subject: Subject, scratch: string): Promise<Tokens> {
  const { groups } = await drawValues(subject);
  const service = await startService(subject, scratch);
  const found: Tokens = { dataset: subject.dataset, searches: 0, json: 0, markdown: 0, worst: 0 };
  try {
    for (const group of groups.slice(0, SEARCHES)) {
      const query = `?${subject.shape.group}=${encodeURIComponent(group)}`;
      const tokens = async (path: string) => {
        const body = await requestOnce({ base: service.base, paths: [path], headers: OPERATOR_HEADERS });
        return encode(body.toString()).length;
      };
      const json = await tokens(`/v1/${subject.dataset}/entities${query}`);
      const markdown = await tokens(`/v1/${subject.dataset}/entities.md${query}`);
      found.searches += 1;
      found.json += json;
      found.markdown += markdown;
      found.worst = Math.max(found.worst, markdown / json);
    }
  } finally {
    await service.stop();
  }
  return found;
}
