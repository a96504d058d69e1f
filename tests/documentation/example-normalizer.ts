import { createHash } from "node:crypto";

const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const keyPattern = /pragma_[A-Za-z0-9]{20,}/g;

const dayMs = 24 * 3_600_000;

/** When everything happens, and ends a day later, as far as readers of the documentation are told. */
const normalizedTimeMs = Date.parse("2026-06-01T09:00:00.000Z");

/** Around the run, in milliseconds, a time is one of the run's own. */
const maxClockDistanceMs = 10 * 60_000;

export interface ExampleNormalizer {
  /** Ids that are of the examples themselves: they stay. */
  keepIds(value: unknown): void;
  /** The value with what differs from run to run in the place of which stands what does not. */
  normalize<Value>(value: Value): Value;
}

/**
 * Makes replies the same in each run: ids that the product made up become others, always the same in the same order,
 * the time of the run becomes a settled one, and a key becomes one that opens nothing.
 */
export function createExampleNormalizer(now = Date.now()): ExampleNormalizer {
  const kept = new Set<string>();
  const ids = new Map<string, string>();

  function normalizeId(id: string, version: string): string {
    // A version 5 follows from the till's id.
    if (version === "5" || kept.has(id)) return id;
    const known = ids.get(id) ?? createNumberedUuid(ids.size + 1);
    ids.set(id, known);
    return known;
  }

  function normalizeTime(time: string): string {
    const later = [0, dayMs].find((offset) => Math.abs(Date.parse(time) - now - offset) < maxClockDistanceMs);
    return later === undefined ? time : new Date(normalizedTimeMs + later).toISOString();
  }

  function normalizeText(text: string): string {
    return text
      .replace(uuidPattern, normalizeId)
      .replace(timePattern, normalizeTime)
      .replace(keyPattern, "pragma_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE");
  }

  return {
    keepIds(value) {
      for (const [id] of JSON.stringify(value ?? null).matchAll(uuidPattern)) kept.add(id);
    },
    normalize: (value) => JSON.parse(normalizeText(JSON.stringify(value ?? null))),
  };
}

function createNumberedUuid(number: number): string {
  const hex = createHash("sha256").update(`documentation ${number}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
