// The environment of programs that tests start: only the search path and the run's cache of compiled modules.

export const CHILD_ENV: Readonly<Record<string, string>> = Object.fromEntries(
  ['PATH', 'NODE_COMPILE_CACHE'].flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  ),
);
