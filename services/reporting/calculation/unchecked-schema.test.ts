import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { expect, it } from "vitest";
import { readReportingSampleFile } from "../testing/read-sample.ts";
import { toConversionOnlySchema } from "./unchecked-schema.ts";

type FieldChange = (name: string, value: unknown) => [string, unknown][];

/**
 * Changes to the fields of a till. The changed till must still be valid, and the schemas with and without checks must
 * return the same output for it.
 */
const notations: Record<string, FieldChange> = {
  unchanged: (name, value) => [[name, value]],
  "without null fields": (name, value) => (value === null ? [] : [[name, value]]),
  "with unknown fields": (name, value) => [
    [name, value],
    [`${name}Unknown`, { of: value }],
  ],
  "with upper-case ids and dates with an offset": (name, value) => [[name, changeNotation(value)]],
};

function changeNotation(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) return value.toUpperCase();
  return value.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?)Z$/, "$1+02:00");
}

function changeFields(value: unknown, change: FieldChange): unknown {
  if (Array.isArray(value)) return value.map((item) => changeFields(item, change));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).flatMap(([name, field]) => change(name, changeFields(field, change)));
  return Object.fromEntries(fields);
}

const sampleTills = ["small-v1", "shift-v1", "small-v2", "shift-v2", "training-v2"];

it.each(sampleTills.flatMap((name) => Object.keys(notations).map((notation) => [name, notation] as const)))(
  "converts %s, %s, as the schema with checks does",
  (name, notation) => {
    const schema = name.endsWith("v1") ? TillV1 : TillV2;
    const till = changeFields(readReportingSampleFile(`${name}.till`), notations[notation] as FieldChange);
    expect(toConversionOnlySchema<typeof TillV1 | typeof TillV2>(schema).parse(till)).toEqual(schema.parse(till));
  },
);

it("accepts values that the schema rejects", () => {
  const till = { ...(readReportingSampleFile("small-v2.till") as TillV2), reportNumber: -1 };
  expect(TillV2.safeParse(till).success).toBe(false);
  expect(toConversionOnlySchema(TillV2).parse(till).reportNumber).toBe(-1);
});
