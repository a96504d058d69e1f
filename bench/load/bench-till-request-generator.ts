import { randomUUID } from "node:crypto";

/** The id and the request body of a till. */
export interface BenchTillRequest {
  id: string;
  body: string;
}

/** Returns a function that creates copies of a till. The copies differ only in the ids of the till and its orders. */
export function createBenchTillRequestGenerator(template: string): () => BenchTillRequest {
  const till = JSON.parse(template) as { id: string; orderList: { id: string }[] };
  const ids = [till.id, ...till.orderList.map(({ id }) => id)];
  const parts = template.split(new RegExp(`(${ids.join("|")})`));
  return () => {
    const newIds = new Map(ids.map((id) => [id, randomUUID() as string]));
    const body = parts.map((part) => newIds.get(part) ?? part).join("");
    return { id: newIds.get(till.id) as string, body };
  };
}
