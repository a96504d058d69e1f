// Stored JSON text is sent without being parsed. Only the functions of this file join such texts.

/** Returns the JSON of an object with the members of all `objects`, in their order. No name may occur twice. */
export function mergeJsonObjects(...objects: string[]): string {
  const members = objects.map((object) => object.slice(1, -1)).filter((text) => text !== "");
  return `{${members.join(",")}}`;
}

/** Returns the JSON of an object with one member, whose value is JSON text. */
export function wrapInJsonObject(name: string, value: string): string {
  return `{${JSON.stringify(name)}:${value}}`;
}

/** Returns the JSON of an array of these JSON texts. */
export function joinJsonArray(items: string[]): string {
  return `[${items.join(",")}]`;
}

const comma = Buffer.from(",");

/** Returns the JSON of an object whose member `data` is the array of `items`, followed by `otherMembers`. */
export function buildDataListJson(items: (string | Uint8Array)[], otherMembers: object): Buffer {
  const parts: Uint8Array[] = [Buffer.from('{"data":[')];
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(typeof item === "string" ? Buffer.from(item) : item);
  }
  parts.push(Buffer.from(`],${JSON.stringify(otherMembers).slice(1)}`));
  return Buffer.concat(parts);
}
