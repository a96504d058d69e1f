import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { expect, it } from "vitest";
import { sample } from "./testing/sample.ts";
import { withoutChecks } from "./without-checks.ts";

type Change = (name: string, value: unknown) => [string, unknown][];

/** What clients may write in another way, to the same effect. */
const spellings: Record<string, Change> = {
  "as it is": (name, value) => [[name, value]],
  "without the fields that are null": (name, value) => (value === null ? [] : [[name, value]]),
  "with fields that are not known": (name, value) => [
    [name, value],
    [`${name}Unknown`, { of: value }],
  ],
  "with ids in capitals and dates with an offset": (name, value) => [[name, respelled(value)]],
};

function respelled(value: unknown): unknown {
  if (typeof value !== "string") return value;
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(value)) return value.toUpperCase();
  return value.replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?)Z$/, "$1+02:00");
}

function changed(value: unknown, change: Change): unknown {
  if (Array.isArray(value)) return value.map((item) => changed(item, change));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).flatMap(([name, field]) => change(name, changed(field, change)));
  return Object.fromEntries(fields);
}

const tills = ["small-v1", "shift-v1", "small-v2", "shift-v2", "training-v2"];

it.each(tills.flatMap((name) => Object.keys(spellings).map((spelling) => [name, spelling] as const)))(
  "%s, %s, gets the form that the schema with its checks gives it",
  (name, spelling) => {
    const schema = name.endsWith("v1") ? TillV1 : TillV2;
    const till = changed(sample(`${name}.till`), spellings[spelling] as Change);
    expect(withoutChecks<typeof TillV1 | typeof TillV2>(schema).parse(till)).toEqual(schema.parse(till));
  },
);

it("checks nothing", () => {
  const till = { ...(sample("small-v2.till") as TillV2), reportNumber: -1 };
  expect(TillV2.safeParse(till).success).toBe(false);
  expect(withoutChecks(TillV2).parse(till).reportNumber).toBe(-1);
});
