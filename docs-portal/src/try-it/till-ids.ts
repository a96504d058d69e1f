const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/i;

/**
 * Returns the UUIDs by which the API recognizes the till in a request body, and its orders: of the V2 format, or of the V1
 * format, in which a letter can precede the UUID of the till. Returns none if the body is not a till.
 */
export function listTillIds(body: string): string[] {
  const till = parseObject(body);
  const legacyTill = till.tillJson as { client_id?: unknown; tickets?: unknown } | undefined;
  const ids = legacyTill
    ? [legacyTill.client_id, ...listOf(legacyTill.tickets).map(({ order_id }) => order_id)]
    : [till.id, ...listOf(till.orderList).map(({ id }) => id)];
  return ids.flatMap((id) => uuid.exec(String(id))?.[0] ?? []);
}

/** Returns the text with a new UUID instead of each of the UUIDs. The rest of the text is unchanged. */
export function replaceUuids(text: string, ids: readonly string[]): string {
  return ids.reduce((replaced, id) => replaced.replaceAll(id, createUuid()), text);
}

function parseObject(json: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(json));
  } catch {
    return {};
  }
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(Object) : [];
}

/** Returns a random UUID. `crypto.randomUUID` does not exist on a site that is served over http. */
function createUuid(): string {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  const variant = "89ab"[Number.parseInt(hex.charAt(16), 16) % 4];
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, `$1-$2-4$3-${variant}$4-$5`);
}
