// Requests without a route: the 404 error of an unknown path, with a suggestion where to continue, and the 405 error
// of a path that has other methods.
import { ApiError } from '../contract/errors.ts';
import type { CallDeps } from '../gate/execute.ts';

/** Maximum length of the path in a message. */
const SHOWN = 200;

/** The error of a path, which names the guide of the dataset in it. */
export async function notFound(gate: CallDeps, path: string): Promise<ApiError> {
  const { base_url } = gate;
  const [, , first = ''] = path.startsWith('/v1/') ? path.split('/') : [];
  const dataset = first !== '' && (await isDataset(gate, first)) ? first : undefined;
  const plain = path.replace(/\/+$/, '');
  const ways = [
    path !== plain && plain !== '' ? `Paths have no slash at the end: ${base_url}${shown(plain)}.` : '',
    dataset === undefined ? '' : `GET ${base_url}/v1/${dataset}/llms.txt is the guide of ${dataset}.`,
    `GET ${base_url}/v1/datasets lists the datasets; ${base_url}/llms.txt names every path.`,
  ];
  const alternative_action = ways.filter(Boolean).join(' ');
  return new ApiError('not_found', `Not found: ${shown(path)}`, { alternative_action, dataset });
}

const shown = (path: string) => (path.length > SHOWN ? `${path.slice(0, SHOWN)}…` : path);

async function isDataset(gate: CallDeps, name: string): Promise<boolean> {
  try {
    (await gate.lease(name)).done();
    return true;
  } catch {
    return false;
  }
}

/** The 405 error of a path with these methods. */
export function methodNotAllowed(methods: readonly string[]): ApiError {
  const allow = [...methods.map((method) => (method === 'GET' ? 'GET, HEAD' : method)), 'OPTIONS'].join(', ');
  return new ApiError('method_not_allowed', `This path allows ${allow}.`, { headers: { Allow: allow } });
}
