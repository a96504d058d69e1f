import { randomUUID } from "node:crypto";

/** The id and the request body of a till. */
export interface BenchTillRequest {
  id: string;
  body: string;
}

/** Restaurants close a few shifts a day. The cost of a till depends on the other tills of its day. */
const tillsPerDay = 3;
const dayMs = 24 * 60 * 60 * 1_000;
/** The number of copies that this process has created, so that those of several generators are not of the same days. */
let copies = 0;

/**
 * Returns a function that creates copies of a till. The copies differ only in the ids of the till and its orders, and in
 * their dates: every three copies are a day earlier.
 */
export function createBenchTillRequestGenerator(template: string): () => BenchTillRequest {
  const till = JSON.parse(template) as { id: string; orderList: { id: string }[] };
  const ids = [till.id, ...till.orderList.map(({ id }) => id)];
  const dates = [...new Set(template.match(/\b\d{4}-\d{2}-\d{2}(?=T)/g))];
  const parts = template.split(new RegExp(`(${[...ids, ...dates].join("|")})`));
  return () => {
    const daysEarlier = Math.floor(copies / tillsPerDay);
    copies += 1;
    const replacements = new Map(ids.map((id) => [id, randomUUID() as string]));
    for (const date of dates)
      replacements.set(date, new Date(Date.parse(date) - daysEarlier * dayMs).toISOString().slice(0, 10));
    const body = parts.map((part) => replacements.get(part) ?? part).join("");
    return { id: replacements.get(till.id) as string, body };
  };
}
