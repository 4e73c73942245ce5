// Texts of records that an overlay changed, as they are sent: like those of bodies.ts, but made from objects.
import type { Pack } from '../../packs/define/model.ts';
import type { StoredRecord } from '../model/record.ts';
import { minuteOf } from '../model/time.ts';
import type { Ages, RecordPieces, RecordRenderer, RecordText } from '../plan/plan.ts';

/** The text of one changed record; the last one that was rendered is kept for its minute. */
export class ChangedText {
  readonly record: StoredRecord;
  readonly version: string;
  readonly #pack: Pack;
  #pieces: Omit<RecordPieces, 'ages'> | null = null;
  #ages: Ages = { names: [], times: [] };
  #sent: { minute: number; renderer: RecordRenderer; text: RecordText } | null = null;

  /** `version`: the hash of the content, for the ETag. */
  constructor(record: StoredRecord, version: string, pack: Pack) {
    this.record = record;
    this.version = version;
    this.#pack = pack;
  }

  /** The text as `renderer` renders it for a moment, without attributes that the pack does not have. */
  text(now: Date, renderer: RecordRenderer): RecordText {
    const minute = minuteOf(now);
    const sent = this.#sent;
    if (sent !== null && sent.minute === minute && sent.renderer === renderer) return sent.text;
    this.#pieces ??= this.#split();
    const ages = (write: (ages: Ages) => string) => Buffer.from(write(this.#ages));
    const text = { ...renderer.render({ ...this.#pieces, ages }, now), version: this.version };
    this.#sent = { minute, renderer, text };
    return text;
  }

  /** The JSON of the record in the pieces and the order of a stored one; notes its ages. */
  #split(): Omit<RecordPieces, 'ages'> {
    const { id, slug, name, dataset, updated_at, quality_score, completeness, verified_owner, ...of } = this.record;
    const known = this.#pack.attributes.flatMap((attribute) => {
      const [value, provenance] = [of.attributes[attribute.name], of.provenance[attribute.name]];
      return value === undefined || provenance === undefined ? [] : [{ name: attribute.name, value, provenance }];
    });
    const attributes = Object.fromEntries(known.map((each) => [each.name, each.value]));
    const provenance = Object.fromEntries(known.map((each) => [each.name, each.provenance]));
    this.#ages = {
      names: known.map((each) => each.name),
      times: known.map((each) => Date.parse(each.provenance.observed_at)),
    };
    return {
      head: Buffer.from(`${JSON.stringify({ id, slug, name, dataset }).slice(0, -1)},`),
      middle: Buffer.from(`${JSON.stringify({ updated_at, attributes, provenance }).slice(1, -1)},`),
      tail: Buffer.from(JSON.stringify({ quality_score, completeness, verified_owner }).slice(1)),
    };
  }
}
