// Whether an answer is correct, and its cost.
import type { Agent } from './agent.ts';
import type { AgentQuestion } from './question.ts';

export interface QuestionResult {
  text: string;
  right: boolean;
  /** The wrong values that were read. */
  why: string;
  calls: number;
  tokens: number;
  eur: number;
}

/** A printed number: with group separators, and a unit after it. */
const numberIn = (cell: string) => Number.parseFloat(cell.replace(/(?<=\d)[,\u00a0\u202f ](?=\d{3}\b)/g, ''));

/** Whether a cell matches the correct value: numbers to five digits, texts without letter case. */
export function says(cell: string, truth: string): boolean {
  if (truth !== '' && Number.isFinite(Number(truth))) {
    return Math.abs(numberIn(cell) - Number(truth)) <= 1e-5 * Math.max(1e-9, Math.abs(Number(truth)));
  }
  const even = (text: string) =>
    text
      .toLowerCase()
      .replace(/ to |–/g, '–')
      .replace(/\s+/g, ' ')
      .trim();
  return even(cell) === even(truth) || even(cell).startsWith(`${even(truth)} `);
}

/** Runs one question. An error counts as wrong, with its message. */
export async function askAgent(agent: Agent, question: AgentQuestion): Promise<QuestionResult> {
  const before = agent.channel.said.length;
  const spent = () => {
    const said = agent.channel.said.slice(before).filter(({ asked }) => !/llms\.txt|dataset_guide/.test(asked));
    const sum = (of: (agentAnswer: (typeof said)[number]) => number) =>
      said.reduce((all, agentAnswer) => all + of(agentAnswer), 0);
    return { calls: said.length, tokens: sum(({ tokens }) => tokens), eur: sum(({ eur }) => eur) };
  };
  try {
    const { rows } = await agent.answer(question);
    const right =
      rows.length === question.truth.length &&
      question.truth.every((row, at) => row.every((truth, cell) => says(rows[at]?.[cell] ?? '', truth)));
    const why = right ? '' : `${JSON.stringify(rows)} for ${JSON.stringify(question.truth)}`;
    return { text: question.text, right, why, ...spent() };
  } catch (error) {
    return { text: question.text, right: false, why: (error as Error).message, ...spent() };
  }
}
