// The dashboard for Grafana, generated from the list of metrics.
import { METRICS } from './metrics.ts';

/** Size of a panel: a row has 24 columns. */
const FIGURE = { w: 4, h: 4 };
const CHART = { w: 12, h: 8 };
// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana.
const PROMETHEUS = { type: 'prometheus', uid: '${datasource}' };
/** Series of the processes that the dashboard's list selects. */
const SELECTION = 'job="register",instance=~"$instance"';

/** A dashboard of the model that Grafana imports: figures in the first row, two charts in each further one. */
export function grafanaDashboard(): Record<string, unknown> {
  const rows = Object.values(METRICS).flatMap(({ panels }) => panels);
  const figures = rows.filter((panel) => 'figure' in panel);
  const charts = rows.filter((panel) => !('figure' in panel));
  const panels = [...figures, ...charts].map(({ title, unit, queries }, index) => {
    const isFigure = index < figures.length;
    const place = index - figures.length;
    const position = isFigure
      ? { ...FIGURE, x: index * FIGURE.w, y: 0 }
      : { ...CHART, x: (place % 2) * CHART.w, y: FIGURE.h + Math.floor(place / 2) * CHART.h };
    return {
      id: index + 1,
      type: isFigure ? 'stat' : 'timeseries',
      title,
      datasource: PROMETHEUS,
      gridPos: position,
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: queries.map(([query, legendFormat], target) => ({
        refId: 'ABC'[target],
        datasource: PROMETHEUS,
        expr: query.replace(/@\{/g, `{${SELECTION},`).replaceAll('@', `{${SELECTION}}`),
        legendFormat,
      })),
      options: isFigure
        ? { reduceOptions: { calcs: ['lastNotNull'] }, graphMode: 'none' }
        : { legend: { placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    };
  });
  const processes = 'label_values(register_queries{job="register"}, instance)';
  return {
    uid: 'dataset-register',
    title: 'Dataset register',
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'utc',
    templating: {
      list: [
        { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Prometheus' },
        {
          ...{ name: 'instance', type: 'query', label: 'Process', datasource: PROMETHEUS },
          ...{ query: { query: processes, refId: 'instances' }, refresh: 2 },
          ...{ multi: true, includeAll: true, allValue: '.*', current: { text: ['All'], value: ['$__all'] } },
        },
      ],
    },
    panels,
  };
}
