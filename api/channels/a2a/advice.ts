// Reply to a text part: one fixed text, with the datasets and skills of this agent.
import type { Pack } from '../../../packs/define/model.ts';
import type { Shortening } from '../../contract/operation.ts';
import { dataset_guide } from '../../operations/dataset/dataset_guide.ts';
import type { Tool } from '../../render/tools.ts';

/** Members of the reply that are cut first when it is too long. */
export const ADVICE: Shortening<unknown, Record<string, unknown>> = {
  part: 'skills',
  further: ['datasets'],
  brief: ['skills', 'datasets'].map((list) => ({
    without: `descriptions of ${list}`,
    of: (body) => ({ ...body, [list]: (body[list] as object[]).map((item) => ({ ...item, description: undefined })) }),
  })),
  more: 'datasets_list has the datasets; the agent card has the skills.',
};

export interface Advice {
  text: string;
  data: Record<string, unknown>;
}

/** Builds the reply to a text part, whose words are not interpreted. */
export function buildAdvice(packs: readonly Pack[], tools: readonly Tool[]): Advice {
  const shared = tools.filter(({ dataset }) => dataset === null);
  const example = { skill: dataset_guide.name, dataset: packs[0]?.id ?? '' };
  const datasets = packs.map(({ id, title, description }) => ({ id, title, description }));
  const skills = shared.map(({ name, description }) => ({ id: name, description }));
  const text = [
    `Free text is not interpreted. Send a data part with a skill and its arguments, such as \`${JSON.stringify(example)}\`.`,
    `## Datasets\n\n${datasets.map(({ id, title, description }) => `- \`${id}\` (${title}): ${description}`).join('\n')}`,
    `## Skills\n\n${skills.map(({ id, description }) => `- \`${id}\`: ${description}`).join('\n')}`,
  ].join('\n\n');
  return { text, data: { datasets, skills, example } };
}
