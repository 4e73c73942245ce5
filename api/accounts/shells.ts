// The shells of the pages of keys and accounts.
import { KEYS_ASSET, SCRIPT_ASSET } from '../pages/assets.ts';
import { CHART_STYLE } from '../pages/charts.ts';
import { FORM_STYLE, shellOf } from '../pages/shell.ts';

const STYLE = `${FORM_STYLE}
main section { margin-block: 2.5rem 0; }
h2 { font-size: 1.3rem; }
.secret { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem; margin-bottom: 0.75rem; padding: 0.9rem 1rem; border: 2px solid var(--accent); border-radius: 6px; background: var(--sheet); }
.secret code { flex: 1 1 12rem; overflow-wrap: anywhere; font-size: 0.86rem; }
button.copy { min-height: 0; padding: 0.15rem 0.7rem; font: 400 0.85rem / 1.6 var(--sans); }
.call pre { padding: 0.8rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.code pre { margin: 0 0 0.75rem; padding: 0.8rem 1rem; border: 1px solid var(--rule); border-radius: 6px; background: var(--sheet); white-space: pre-wrap; overflow-wrap: anywhere; }
pre.answer { max-height: 24rem; margin: 0 0 1rem; padding: 0.8rem 1rem; border: 1px solid var(--rule); border-radius: 6px; background: var(--sheet); overflow: auto; }
select { min-height: 2.9rem; max-width: 100%; padding: 0.5rem 0.75rem; border: 1px solid var(--quiet); border-radius: 4px; background: var(--sheet); color: inherit; font: inherit; }
.account-head { display: flex; flex-wrap: wrap; align-items: end; justify-content: space-between; gap: 1rem 2.5rem; padding: 1.2rem 0; border-block: 3px double var(--rule); }
.account-head dl { display: flex; flex-wrap: wrap; gap: 0.75rem 3rem; }
.account-head dt { color: var(--quiet); font-size: 0.9rem; }
.account-head dd { font-weight: 600; overflow-wrap: anywhere; }
.account-head .amount { font: 600 1.7rem / 1.2 var(--serif); font-variant-numeric: lining-nums tabular-nums; }
.account-head form, .key-actions form, .apps form { margin: 0; }
.amounts { margin-bottom: 1rem; }
.amounts button { flex: 0 1 auto; min-width: 5rem; }
.periods { display: flex; gap: 1.25rem; }
.share { width: 30%; }
.length { display: block; width: 100%; height: 0.6rem; }
.key-actions > div { padding: 1rem 1.5rem; border: 1px solid var(--rule); border-radius: 6px; background: var(--sheet); }
.key-actions summary { margin-bottom: 0.75rem; color: var(--accent); }
.plans button { margin-top: 0.75rem; }
.current { margin: 0.9rem 0 0; color: var(--accent); font-weight: 600; }
form:has(> .plans) { display: block; }
button.danger { border-color: var(--wrong); color: var(--wrong); }
form.ask label.inline { display: inline; font-weight: 400; }
.apps li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 2rem; padding-block: 0.9rem; border-top: 1px solid var(--rule); }
.apps h3 { margin: 0; font-size: 1.05rem; }
@media (width < 30rem) { .amounts button { flex: 1 1 40%; } .share { display: none; } }
`;

/** Pages of accounts. Their forms lead to the checkout, which may be at another site. */
export const ACCOUNT_SHELL = shellOf({
  style: CHART_STYLE + STYLE,
  external_forms: true,
  scripts: [SCRIPT_ASSET.path],
});

/** Pages that create keys. */
export const KEYS_SHELL = shellOf({ style: STYLE, scripts: [SCRIPT_ASSET.path, KEYS_ASSET.path] });
