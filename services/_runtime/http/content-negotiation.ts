/** Headers longer than this are ignored, because no client sends them. */
const maxAcceptLength = 1_024;

/** Returns the media type that an Accept header (RFC 9110) prefers; by default, and if it accepts none, the first. */
export function selectMediaType<Type extends string>(
  accept: string | undefined,
  types: readonly [Type, ...Type[]],
): Type {
  let [best] = types;
  for (const type of types) if (readQuality(accept, type) > readQuality(accept, best)) best = type;
  return best;
}

/** Returns whether an Accept header allows a media type. A missing, empty or overlong header allows all types. */
export function acceptsMediaType(accept: string | undefined, type: string): boolean {
  return readQuality(accept, type) > 0;
}

/** Returns the quality of the most specific range that matches a type; 0 if none does. */
function readQuality(accept: string | undefined, type: string): number {
  if (accept === undefined || accept.trim() === "" || accept.length > maxAcceptLength) return 1;
  const ranges = accept.split(",").map(parseMediaRange);
  const patterns = [type, `${type.split("/")[0]}/*`, "*/*"];
  const matching = patterns.flatMap((pattern) => ranges.find((range) => range.type === pattern) ?? []);
  return matching[0]?.quality ?? 0;
}

function parseMediaRange(text: string) {
  const [type = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  const isValid = quality === undefined || /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality);
  return { type, quality: isValid ? Number(quality ?? 1) : 0 };
}
