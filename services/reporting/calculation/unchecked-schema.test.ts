import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { expect, it } from "vitest";
import { readSample } from "../testing/read-sample.ts";
import { toUncheckedSchema } from "./unchecked-schema.ts";

type FieldChange = (name: string, value: unknown) => [string, unknown][];

/** What clients may write in another way, to the same effect. */
const spellings: Record<string, FieldChange> = {
  "as it is": (name, value) => [[name, value]],
  "without the fields that are null": (name, value) => (value === null ? [] : [[name, value]]),
  "with fields that are not known": (name, value) => [
    [name, value],
    [`${name}Unknown`, { of: value }],
  ],
  "with ids in capitals and dates with an offset": (name, value) => [[name, respell(value)]],
};

function respell(value: unknown): unknown {
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

const tills = ["small-v1", "shift-v1", "small-v2", "shift-v2", "training-v2"];

it.each(tills.flatMap((name) => Object.keys(spellings).map((spelling) => [name, spelling] as const)))(
  "%s, %s, gets the form that the schema with its checks gives it",
  (name, spelling) => {
    const schema = name.endsWith("v1") ? TillV1 : TillV2;
    const till = changeFields(readSample(`${name}.till`), spellings[spelling] as FieldChange);
    expect(toUncheckedSchema<typeof TillV1 | typeof TillV2>(schema).parse(till)).toEqual(schema.parse(till));
  },
);

it("checks nothing", () => {
  const till = { ...(readSample("small-v2.till") as TillV2), reportNumber: -1 };
  expect(TillV2.safeParse(till).success).toBe(false);
  expect(toUncheckedSchema(TillV2).parse(till).reportNumber).toBe(-1);
});
