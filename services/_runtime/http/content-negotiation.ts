/** Headers longer than this are ignored, because no client sends them. */
const maxAcceptLength = 1_024;

/** Returns the media type that an Accept header (RFC 9110) prefers; by default, and if it accepts none, the first. */
export function selectMediaType<Type extends string>(
  accept: string | undefined,
  types: readonly [Type, ...Type[]],
): Type {
  const [defaultType] = types;
  if (accept === undefined || accept.length > maxAcceptLength) return defaultType;
  const ranges = accept.split(",").map(parseMediaRange);
  let best = { type: defaultType, quality: 0 };
  for (const type of types) {
    const quality = getQuality(type, ranges);
    if (quality > best.quality) best = { type, quality };
  }
  return best.type;
}

/** Returns whether an Accept header allows a media type. A missing, empty or overlong header allows all types. */
export function acceptsMediaType(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept.trim() === "" || accept.length > maxAcceptLength) return true;
  return getQuality(type, accept.split(",").map(parseMediaRange)) > 0;
}

interface MediaRange {
  type: string;
  quality: number;
}

function parseMediaRange(text: string): MediaRange {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  const isValid = quality === undefined || /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality);
  return { type, quality: isValid ? Number(quality ?? 1) : 0 };
}

/** Returns the quality of the most specific range that matches a type; 0 if none does. */
function getQuality(type: string, ranges: readonly MediaRange[]): number {
  const patterns = [type, `${type.split("/")[0]}/*`, "*/*"];
  for (const pattern of patterns) {
    const range = ranges.find((candidate) => candidate.type === pattern);
    if (range) return range.quality;
  }
  return 0;
}
