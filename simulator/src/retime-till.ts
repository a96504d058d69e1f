import type { GeneratedTill } from "./generate-till.ts";

/**
 * The same till at other times: every date-time in it is moved as `move` says (milliseconds to milliseconds), which
 * must keep their order.
 */
export function retimeTill(till: GeneratedTill, move: (instant: number) => number): GeneratedTill {
  return moved(till, (dateTime) => new Date(Math.round(move(Date.parse(dateTime)))).toISOString()) as GeneratedTill;
}

const dateTimeInUtc = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

function moved(value: unknown, move: (dateTime: string) => string): unknown {
  if (typeof value === "string") return dateTimeInUtc.test(value) ? move(value) : value;
  if (Array.isArray(value)) return value.map((item) => moved(item, move));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, moved(field, move)]));
}
