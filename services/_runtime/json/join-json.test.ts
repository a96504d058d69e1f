import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildDataListJson, joinJsonArray, joinJsonObjectTexts, wrapJsonTextInObject } from "./join-json.ts";

const text = fc.json();
const objects = fc
  .uniqueArray(fc.string().filter((name) => name !== "__proto__"))
  .chain((names) => fc.tuple(fc.nat(names.length), fc.constant(names), fc.array(text, { minLength: names.length })))
  .map(([split, names, values]) => {
    const entries = names.map((name, index) => [name, JSON.parse(values[index] ?? "null")] as const);
    return [Object.fromEntries(entries.slice(0, split)), Object.fromEntries(entries.slice(split))] as const;
  });

describe("joined JSON texts", () => {
  it("have the members of all objects", () => {
    fc.assert(
      fc.property(objects, ([one, other]) => {
        const joined = joinJsonObjectTexts(JSON.stringify(one), "{}", JSON.stringify(other));
        expect(JSON.parse(joined)).toEqual({ ...one, ...other });
      }),
    );
  });

  it("keep the order of members and every digit of numbers", () => {
    expect(joinJsonObjectTexts('{"b":1.10,"a":{}}', '{"c":12345678901234567890}')).toBe(
      '{"b":1.10,"a":{},"c":12345678901234567890}',
    );
    expect(joinJsonObjectTexts("{}", "{}")).toBe("{}");
  });

  it("form a member, an array and a page", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(text), objects, (name, items, [others]) => {
        const parsed: unknown[] = items.map((item) => JSON.parse(item));
        expect(JSON.parse(joinJsonArray(items))).toEqual(parsed);
        expect(Object.entries(JSON.parse(wrapJsonTextInObject(name, joinJsonArray(items))))).toEqual([[name, parsed]]);
        const rest = { ...others, data: undefined, meta: 1 };
        for (const data of [items, items.map((item) => Buffer.from(item))]) {
          const page = buildDataListJson(data, rest).toString();
          expect(JSON.parse(page)).toEqual({ ...JSON.parse(JSON.stringify(rest)), data: parsed });
        }
      }),
    );
  });
});
