// Marks of held or contested values: one mark with one legend in Markdown, words in pages.
import type { Provenance, ProvenanceStatus } from '../../data/model/record.ts';
import { Markup, markdown } from './markdown.ts';

/** Printed after a value whose provenance has a status. */
export const STATUS_MARK = '†';

/** What a status means, in a few words. */
export const STATUS_MEANING: Record<ProvenanceStatus, string> = {
  held: 'a newer value waits for confirmation',
  contested: 'another source says otherwise',
};

/** Printed below a table or record that contains a marked value. */
export const STATUS_LEGEND = `${STATUS_MARK} ${STATUS_MEANING.held}, or ${STATUS_MEANING.contested}.`;

/** A cell with the mark where the value has a status. */
export function markedCell(cell: string | number | Markup, provenance: Pick<Provenance, 'status'> | undefined) {
  return provenance?.status === undefined ? cell : new Markup(`${markdown(cell)} ${STATUS_MARK}`);
}

/** The legend, when one of the values has a status. */
export function statusLegend(provenances: Iterable<Pick<Provenance, 'status'> | undefined>): string | null {
  for (const provenance of provenances) if (provenance?.status !== undefined) return STATUS_LEGEND;
  return null;
}
