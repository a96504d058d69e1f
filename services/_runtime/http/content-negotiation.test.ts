import { expect, it } from "vitest";
import { acceptsMediaType, selectMediaType } from "./content-negotiation.ts";

const json = "application/json";
const csv = "text/csv";

it.each([
  [undefined, json],
  ["", json],
  ["*/*", json],
  [csv, csv],
  ["TEXT/CSV; charset=utf-8", csv],
  ["text/*", csv],
  ["text/csv, application/json", json],
  ["text/csv, application/json;q=0.9", csv],
  ["text/csv;q=0.8, */*;q=0.5", csv],
  ["text/csv;q=0, */*", json],
  ["text/csv;q=2", json],
  ["image/png", json],
  [`${"x/y,".repeat(300)}text/csv`, json],
])("selects for the Accept header %j the type %s", (accept, expected) => {
  expect(selectMediaType(accept, [json, csv])).toBe(expected);
});

it.each([
  [undefined, true],
  [" ", true],
  ["*/*", true],
  [json, true],
  ["Application/JSON;charset=utf-8", true],
  ["application/*;q=0.1", true],
  ["text/event-stream, application/json", true],
  ["x/y,".repeat(300), true],
  ["text/event-stream", false],
  ["text/html, application/xhtml+xml", false],
  ["*/*, application/json;q=0", false],
  ["application/jsonl", false],
])("with the Accept header %j, JSON is accepted: %s", (accept, expected) => {
  expect(acceptsMediaType(accept, json)).toBe(expected);
});
