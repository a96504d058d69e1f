/** What is stored as JSON text is sent as it is: here, and only here, texts are put together without being parsed. */

/** Returns the text of an object that has the members of these objects, in their order; no name may be there twice. */
export function mergeJsonObjects(...objects: string[]): string {
  const members = objects.map((object) => object.slice(1, -1)).filter((text) => text !== "");
  return `{${members.join(",")}}`;
}

/** Returns the text of an object with one member, whose value is a JSON text. */
export function wrapInJsonObject(name: string, value: string): string {
  return `{${JSON.stringify(name)}:${value}}`;
}

/** Returns the text of a list of these JSON texts. */
export function joinJsonArray(items: string[]): string {
  return `[${items.join(",")}]`;
}

const comma = Buffer.from(",");

/** Returns the text of an object whose member `data` is the list of these JSON texts; its other members come after it. */
export function buildDataListJson(items: (string | Uint8Array)[], otherMembers: object): Buffer {
  const parts: Uint8Array[] = [Buffer.from('{"data":[')];
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(typeof item === "string" ? Buffer.from(item) : item);
  }
  parts.push(Buffer.from(`],${JSON.stringify(otherMembers).slice(1)}`));
  return Buffer.concat(parts);
}
