// What the data cannot show: title, licence, attribution and home page, from flags or questions on a terminal.
import { createInterface } from 'node:readline/promises';
import { type Flags, UsageError } from './flags.ts';
import type { PackFacts } from './pack-text.ts';

/** Asks one question and returns the answer; null when the input is not a terminal. */
export type Prompt = ((question: string) => Promise<string>) | null;

/** Questions on the terminal; null when the input is none. */
export function terminalPrompt(): Prompt {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return null;
  return async (question) => {
    const terminal = createInterface({ input: process.stdin, output: process.stdout });
    try {
      return await terminal.question(question);
    } finally {
      terminal.close();
    }
  };
}

const CREATIVE_COMMONS = 'https://creativecommons.org';
const SPDX = 'https://spdx.org/licenses';

/** Texts of licences of open data by SPDX id. */
const LICENSES: Readonly<Record<string, string>> = {
  'CC0-1.0': `${CREATIVE_COMMONS}/publicdomain/zero/1.0/`,
  ...Object.fromEntries(
    ['BY', 'BY-SA', 'BY-NC', 'BY-NC-SA', 'BY-ND'].map((terms) => [
      `CC-${terms}-4.0`,
      `${CREATIVE_COMMONS}/licenses/${terms.toLowerCase()}/4.0/`,
    ]),
  ),
  ...Object.fromEntries(
    ['ODbL-1.0', 'ODC-By-1.0', 'PDDL-1.0', 'DL-DE-BY-2.0', 'DL-DE-ZERO-2.0', 'OGL-UK-3.0', 'MIT', 'Apache-2.0'].map(
      (id) => [id, `${SPDX}/${id}.html`],
    ),
  ),
};

/** Home page of a source when none is given; the check names it until it is replaced. */
const NO_HOMEPAGE = 'https://example.org/';

const isAddress = (text: string): boolean => /^https?:\/\/[^\s]+$/.test(text) && URL.canParse(text);

/** Title, licence, attribution and home page. */
export type Answers = Pick<PackFacts, 'title' | 'license' | 'attribution' | 'homepage'>;

/**
 * Takes answers from the flags and asks for the others. Throws UsageError, with the missing flags, when there is
 * no terminal. `suggested` has the title, and the home page of a source on the web.
 */
export async function askFacts(
  flags: Flags,
  suggested: { title: string; homepage: string | null },
  prompt: Prompt,
): Promise<Answers> {
  const ask = flags.yes ? null : prompt;
  const license = await licenseOf(flags, ask);
  const title = await answer(flags.title, 'Title', suggested.title, ask);
  const attribution = await answer(flags.attribution, 'Attribution: who must be cited', null, ask);
  const homepage = await answer(
    flags.homepage,
    'Home page of the source, where values can be checked',
    suggested.homepage ?? NO_HOMEPAGE,
    ask,
    isAddress,
  );
  const missing = [...(license === null ? ['--license'] : []), ...(attribution === null ? ['--attribution'] : [])];
  if (missing.length > 0) {
    throw new UsageError(
      `The data does not show who may use it: add ${missing.join(' and ')}, such as --license CC-BY-4.0 --attribution "Our company"`,
    );
  }
  if (!isAddress(homepage!)) throw new UsageError(`--homepage: '${homepage}'; expected an http or https address`);
  return { title: title!, license: license!, attribution: attribution!, homepage: homepage! };
}

/** The flag, the answer, or the suggestion; null when there is none of them. */
async function answer(
  flag: string | undefined,
  question: string,
  suggestion: string | null,
  ask: Prompt,
  accepts: (text: string) => boolean = () => true,
): Promise<string | null> {
  if (flag !== undefined && flag.trim() !== '') return flag.trim();
  if (ask === null) return suggestion;
  for (;;) {
    const text = (await ask(`${question}${suggestion === null ? '' : ` [${suggestion}]`}: `)).trim();
    if (text === '' && suggestion !== null) return suggestion;
    if (text !== '' && accepts(text)) return text;
  }
}

async function licenseOf(flags: Flags, ask: Prompt): Promise<PackFacts['license'] | null> {
  const names = Object.keys(LICENSES);
  const question = `Licence of the data, such as ${names.slice(0, 4).join(', ')}, or your own`;
  const reply = await answer(flags.license, question, null, ask);
  if (reply === null) return null;
  const name = names.find((candidate) => candidate.toLowerCase() === reply.toLowerCase()) ?? reply;
  const text = names.includes(name) ? LICENSES[name]! : null;
  const url = await answer(flags['license-url'], 'Address of its text', text, text === null ? ask : null, isAddress);
  if (url === null || !isAddress(url)) {
    throw new UsageError(
      `--license: the text of '${reply}' is not known; add --license-url, or use one of ${names.join(', ')}`,
    );
  }
  return { name, url };
}
