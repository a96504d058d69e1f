import { describe, expect, it } from "vitest";
import { tillV1Example } from "../../../contracts/examples/till-v1.ts";
import { tillV2Example } from "../../../contracts/examples/till-v2.ts";
import { listTillIds, replaceUuids } from "./till-ids.ts";

describe.each([
  ["V2", tillV2Example, 1 + tillV2Example.orderList.length],
  ["V1", tillV1Example, 1 + tillV1Example.tillJson.tickets.length],
])("the example till in the %s format", (_, example, count) => {
  const body = JSON.stringify(example, null, 2);

  it("gets new UUIDs for the till and its orders, and is otherwise unchanged", () => {
    const ids = listTillIds(body);
    expect(ids).toHaveLength(count);
    const changed = replaceUuids(body, ids);
    const newIds = listTillIds(changed);
    expect(newIds).toHaveLength(count);
    expect(new Set([...ids, ...newIds]).size).toBe(2 * count);
    for (const id of newIds) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(newIds.reduce((text, id, index) => text.replaceAll(id, ids[index] ?? ""), changed)).toBe(body);
  });
});

it.each(["", "{", "null", "[]", '{"id":7,"orderList":[null,{}]}'])("%s has no ids", (body) => {
  expect(listTillIds(body)).toEqual([]);
});
