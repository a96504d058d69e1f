import { createHash } from "node:crypto";

const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-([0-9a-f])[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const timePattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
/** A time in the query of a link, in which colons are percent-encoded. */
const encodedTimePattern = /\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\d\.\d{3}Z/g;
const pageTokenPattern = /\beyJ[\w-]{40,}/g;
const keyPattern = /pragma_[A-Za-z0-9]{20,}/g;
const keyPrefixPattern = /"pragma_[A-Za-z0-9]{7}"/g;

const dayMs = 24 * 3_600_000;

/** The time that replaces the times of the run, unless `setTime` was called. Expiry times are one day later. */
const defaultTime = "2026-06-01T09:00:00.000Z";

/**
 * Times are replaced if they differ by less than this number of milliseconds from the time of the run, or from the same
 * time on the next day.
 */
const maxClockDistanceMs = 10 * 60_000;

export interface ExampleNormalizer {
  /** Excludes all ids in this value from later replacements. */
  keepIds(value: unknown): void;
  /**
   * Sets the time that replaces the times of the run from now on, so that an example can show that time passes. Times
   * that were already replaced keep their replacement. Default: the default time.
   */
  setTime(time?: string): void;
  /** Returns a copy of the value in which fixed values replace the ids, times and API keys of the run. */
  normalize<Value>(value: Value): Value;
}

/**
 * Returns a normalizer, which makes the responses of all runs equal. It replaces the generated ids with numbered ids,
 * the times of the run with a fixed time, and the API keys with an invalid key.
 */
export function createExampleNormalizer(now = Date.now()): ExampleNormalizer {
  const keptIds = new Set<string>();
  const ids = new Map<string, string>();
  const times = new Map<string, string>();
  let currentTime = defaultTime;

  function normalizeId(id: string, version: string): string {
    // UUIDs of version 5 are not replaced, because they are derived from the till's id and so are equal in each run.
    if (version === "5" || keptIds.has(id)) return id;
    const normalizedId = ids.get(id) ?? createNumberedUuid(ids.size + 1);
    ids.set(id, normalizedId);
    return normalizedId;
  }

  function normalizeTime(time: string): string {
    const offset = [0, dayMs].find((each) => Math.abs(Date.parse(time) - now - each) < maxClockDistanceMs);
    if (offset === undefined) return time;
    const normalizedTime = times.get(time) ?? new Date(Date.parse(currentTime) + offset).toISOString();
    times.set(time, normalizedTime);
    return normalizedTime;
  }

  function normalizeText(text: string): string {
    return text
      .replace(uuidPattern, normalizeId)
      .replace(timePattern, normalizeTime)
      .replace(encodedTimePattern, (time) => encodeURIComponent(normalizeTime(decodeURIComponent(time))))
      .replace(pageTokenPattern, normalizePageToken)
      .replace(keyPattern, "pragma_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE")
      .replace(keyPrefixPattern, '"pragma_EXAMPLE"');
  }

  return {
    keepIds(value) {
      for (const [id] of JSON.stringify(value ?? null).matchAll(uuidPattern)) keptIds.add(id);
    },
    setTime(time = defaultTime) {
      currentTime = time;
    },
    normalize: (value) => JSON.parse(normalizeText(JSON.stringify(value ?? null))),
  };
}

/** Returns a page token with a fixed hash of the location, whose id is generated. */
function normalizePageToken(token: string): string {
  const { filters, ...position } = JSON.parse(Buffer.from(token, "base64url").toString());
  const fixed = { ...filters, ...(filters.locationId && { locationId: "pLc7Qn" }) };
  return Buffer.from(JSON.stringify({ ...position, filters: fixed })).toString("base64url");
}

function createNumberedUuid(number: number): string {
  const hex = createHash("sha256").update(`documentation ${number}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
