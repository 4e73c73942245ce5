// POST /v1/quote: the price of a call before it is made. Runs nothing.
import { z } from 'zod';
import { printable } from '../../../data/input/parse-values.ts';
import { nameSuggestion } from '../../../data/input/suggester.ts';
import { validationError } from '../../../data/model/errors.ts';
import { eur, usd } from '../../../packs/define/money.ts';
import { ApiError } from '../../contract/errors.ts';
import { type Context, isChange, type Operation, operation } from '../../contract/operation.ts';
import { about, bodyInput, memberList, parseJsonMember, serviceOf } from '../common/account.ts';
import { ABOUT_OUTPUT, euro } from '../common/outputs.ts';

const Question = z.strictObject({
  operation: z.string().min(1).max(100).describe('Name of the operation, such as entity_search'),
  dataset: z.string().min(1).max(100).optional().describe('Id of the dataset'),
  arguments: z.record(z.string(), z.unknown()).default({}).describe('Arguments of the call, as for its tool'),
});
/** The same for tools, without constraints that hosts refuse. */
const ToolQuestion = z.object({
  operation: z.string().describe('Tool to price, as entity_batch'),
  dataset: z.string().optional(),
  arguments: z.object({}).optional(),
});

type Input = z.infer<typeof Question>;

const output = () =>
  z.object({
    price_eur: euro('The most that the call can cost; an answer that is not empty costs exactly this'),
    price_usd: z.number().describe('The same in USD, as x402 asks'),
    possible: z.boolean().describe('Whether the caller could make the call now'),
    reason: z.string().describe('Why not: the code of the error and its message').optional(),
    ...ABOUT_OUTPUT,
  });
type Quoted = z.infer<ReturnType<typeof output>>;

const { parse: parseBody } = bodyInput(Question, { operation: 'entity_search', dataset: '…', arguments: { q: '…' } });

function parse(raw: Parameters<typeof parseBody>[0], ctx: Context): Input {
  if (!ctx.by_name) return parseBody(raw, ctx);
  return parseBody({}, { ...ctx, body: parseJsonMember(raw, 'arguments') });
}

/** Operations with a quote: those that answer about data. */
const isQuoted = (candidate: Operation): boolean => !candidate.rest.personal && !isChange(candidate);

function quotedOperation(name: string, operations: readonly Operation[]): Operation {
  const quoted = operations.filter(isQuoted);
  const match = quoted.find((candidate) => candidate.name === name);
  if (match) return match;
  const suggestion = nameSuggestion(
    name,
    quoted.map((candidate) => candidate.name),
  );
  throw validationError('operation', `there is no "${printable(name)}" with a price.${suggestion}`, 'enum');
}

/**
 * @example
 * ```
 * POST /v1/quote {"operation": "entity_batch", "dataset": "airports", "arguments": {"ids": ["ZRH", "GVA"]}}
 * → {"price_eur": 0.004, "price_usd": 0.0044, "possible": true}
 * ```
 */
export const quote = operation<Input, Quoted>({
  name: 'quote',
  title: 'Price of a call',
  description:
    'What a call of another tool costs with these arguments, and whether you can make it now. Runs nothing. Free.',
  rest: { method: 'POST', path: '/v1/quote', reads: true },
  charge: { access: 'free' },
  tool: { account: true },
  docs: { group: 'register', tasks: [{ want: 'the price of a call before you make it' }] },
  formats: ['json', 'markdown'],
  input: (_pack, as) => (as === 'tool' ? ToolQuestion : Question),
  parse,
  output,
  async run({ operation: name, dataset, arguments: args }, ctx) {
    const { register } = ctx;
    const quoted = quotedOperation(name, register.operations);
    const { quote: quoteCall } = serviceOf(ctx);
    if (!quoteCall) throw new ApiError('unavailable', 'There are no quotes here.');
    const ofDataset = dataset !== undefined && quoted.rest.path.includes(':ds');
    const { micros, problem } = await quoteCall(quoted, ofDataset ? { ...args, dataset } : args);
    return {
      body: {
        price_eur: eur(micros),
        price_usd: usd(micros, register.eur_usd),
        possible: problem === null,
        ...(problem === null ? {} : { reason: `${problem.code}: ${problem.message}` }),
        ...about(ctx),
      },
    };
  },
  markdown: (body) => memberList('Price of a call', body),
});
