// These functions combine stored JSON texts without parsing them, because parsing would take much longer.

/** Returns the JSON of an object with the members of all `objects`, in sequence. Member names must be unique. */
export function joinJsonObjectTexts(...objects: string[]): string {
  const members = objects.map((object) => object.slice(1, -1)).filter((text) => text !== "");
  return `{${members.join(",")}}`;
}

export function wrapJsonTextInObject(name: string, value: string): string {
  return `{${JSON.stringify(name)}:${value}}`;
}

export function joinJsonArray(items: string[]): string {
  return `[${items.join(",")}]`;
}

const comma = Buffer.from(",");

/** Returns the JSON of an object with the member `data`, an array of `items`, and then at least one other member. */
export function buildDataListJson(items: (string | Uint8Array)[], otherMembers: object): Buffer {
  const parts: Uint8Array[] = [Buffer.from('{"data":[')];
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(typeof item === "string" ? Buffer.from(item) : item);
  }
  parts.push(Buffer.from(`],${JSON.stringify(otherMembers).slice(1)}`));
  return Buffer.concat(parts);
}
