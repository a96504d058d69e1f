import { randomUUID } from "node:crypto";

/** A till as it is pushed. */
export interface TillCopy {
  id: string;
  body: string;
}

/** Makes copies of a till that differ in the ids of the till and its orders only. */
export function createTillCopier(template: string): () => TillCopy {
  const till = JSON.parse(template) as { id: string; orderList: { id: string }[] };
  const ids = [till.id, ...till.orderList.map(({ id }) => id)];
  const parts = template.split(new RegExp(`(${ids.join("|")})`));
  return () => {
    const fresh = new Map(ids.map((id) => [id, randomUUID() as string]));
    const body = parts.map((part) => fresh.get(part) ?? part).join("");
    return { id: fresh.get(till.id) as string, body };
  };
}
