// The environment of programs that tests start: the search path, the run's cache of compiled modules, and no wait
// for a load balancer when they stop.

export const CHILD_ENV: Readonly<Record<string, string>> = {
  DRAIN_SECONDS: '0',
  ...Object.fromEntries(
    ['PATH', 'NODE_COMPILE_CACHE'].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]],
    ),
  ),
};
