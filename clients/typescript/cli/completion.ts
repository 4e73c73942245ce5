// Completion of shells: commands, options, datasets.

/** What is completed: options by command. */
export type CompletionWords = Readonly<Record<string, readonly string[]>>;

/** Shells that have a completion. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;

/**
 * The completion of a shell, to be loaded by it. Datasets are read from the service, in at most two seconds.
 *
 * @example
 * ```sh
 * source <(register completion bash)
 * ```
 */
export function completionScript(shell: (typeof SHELLS)[number], words: CompletionWords): string {
  const commands = Object.keys(words);
  const ids = 'register datasets 2>/dev/null | sed -n \'s/^ *"id": "\\([a-z0-9-]*\\)".*/\\1/p\'';
  const takesDataset = ['search', 'get', 'facts', 'compare', 'stats', 'export', 'types'].filter(
    (name) => name in words,
  );
  if (shell === 'fish')
    return [
      `function __register_datasets; timeout 2 sh -c ${quoted(ids)}; end`,
      `complete -c register -f -n __fish_use_subcommand -a ${quoted(commands.join(' '))}`,
      ...Object.entries(words).flatMap(([command, options]) =>
        options.map((option) => `complete -c register -n '__fish_seen_subcommand_from ${command}' -l ${option}`),
      ),
      `complete -c register -f -n '__fish_seen_subcommand_from ${takesDataset.join(' ')}' -a '(__register_datasets)'`,
      '',
    ].join('\n');
  const cases = Object.entries(words).map(
    ([command, options]) => `    ${command}) words="${options.map((option) => `--${option}`).join(' ')}" ;;`,
  );
  const bash = [
    '_register() {',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text of a shell
    '  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=""',
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    COMPREPLY=($(compgen -W "${commands.join(' ')}" -- "$word"))`,
    '    return',
    '  fi',
    '  case $command in',
    ...cases,
    '  esac',
    `  case "$COMP_CWORD $command" in`,
    `    ${takesDataset.map((name) => `"2 ${name}"`).join(' | ')}) words="$words $(timeout 2 sh -c ${quoted(ids)})" ;;`,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    '}',
    'complete -o default -F _register register',
    '',
  ].join('\n');
  return shell === 'bash' ? bash : `autoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
